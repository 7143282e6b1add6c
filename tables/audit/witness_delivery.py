"""Sends each checkpoint of the tree of heads to all witnesses, and stores their cosignatures.

A witness that does not answer delays only the witnesses after it. One that refuses raises an alert at once; one that is
silent raises it after the grace period in the policies.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.db.models import Max

from ledger import alerts, clock
from ledger.clock import WrongClock
from ledger.models import HOUSE, Book, Cosignature, HeadsRow
from ledger.proof.checkpoint import Submission, number
from ledger.proof.note import BadNote, Note, VerifierKey, encoded, read_signatures
from ledger.proof.seals import BadKey
from tables.alerts import outbound
from tables.audit import checkpoints
from tables.audit.checkpoints import Lost
from tables.log.policies import WITNESS_PLACES
from tables.log.witnesses import Witness
from tables.setup import policies

log = logging.getLogger(__name__)

PATIENCE_SECONDS: Final = 5.0
MOST_BYTES: Final = 20_000
"""A size that no witness's answer to a checkpoint reaches."""
QUOTED: Final = 200
"""The characters of an answer that messages quote."""


class Silent(Exception):
    """A witness did not answer, or gave an unusable answer. The message says which."""


class Refusing(Exception):
    """A witness says that the tree does not extend what it saw. The message quotes it."""


@dataclass(frozen=True, slots=True)
class WitnessStatus:
    """The state of one of the site's witnesses."""

    witness: Witness
    size: int
    """The leaves of the last checkpoint that it cosigned; 0 before the first."""
    since: datetime | None
    """When it last cosigned, by the site's clock; before the first time, when it should have started to."""
    is_silent: bool
    """Whether that is longer ago than the grace period."""


def witnesses(moment: datetime | None = None) -> list[Witness]:
    """The witnesses in the policies in force."""
    values = policies.all_in_force(moment)
    texts = [str(values[f"witness_{place}"]) for place in WITNESS_PLACES]
    return list({witness.key: witness for witness in map(Witness.parse, filter(None, texts))}.values())


def keys() -> tuple[VerifierKey, ...]:
    """The keys of all witnesses that the policies ever named, because old cosignatures stay valid."""
    every = [change.values.get(f"witness_{place}") for change in policies.changes() for place in WITNESS_PLACES]
    return tuple(dict.fromkeys(Witness.parse(str(text)).key for text in every if text))


def statuses(moment: datetime) -> list[WitnessStatus]:
    """The state of each witness; empty if the site has no tree."""
    if (tree := checkpoints.current_tree()) is None:
        return []
    grace = timedelta(minutes=policies.number("witness_grace_minutes"))
    return [_status_of(tree.origin, witness, moment, grace) for witness in witnesses()]


def _status_of(origin: str, witness: Witness, moment: datetime, grace: timedelta) -> WitnessStatus:
    rows = Cosignature.objects.filter(origin=origin, witness=str(witness.key)).order_by("-size")
    size, since = rows.values_list("size", "at").first() or (0, _named_since(witness, origin))
    return WitnessStatus(witness, size, since, since is not None and moment - since > grace)


def _named_since(witness: Witness, origin: str) -> datetime | None:
    """When a witness without cosignatures should have started: when it was named, or when the tree began."""
    first = HeadsRow.objects.filter(origin=origin, number=0).values_list("at", flat=True).first()
    named = [change.effective for change in policies.changes() if _names(change.values.values(), witness)]
    return None if first is None else max([first, *named[-1:]])


def _names(values: object, witness: Witness) -> bool:
    return any(str(value).startswith(str(witness.key)) for value in values)  # type: ignore[attr-defined]


# --- Each minute ------------------------------------------------------------------------------------------------


def have_witnessed() -> int:
    """Add this minute's leaf and submit it to the witnesses. Returns the number of witnesses that cosigned it."""
    row = _grown()
    cosigned = sum(_hand_over(witness, row) for witness in witnesses()) if row is not None else 0
    _report_silence(clock.read().database)
    return cosigned


def _grown() -> HeadsRow | None:
    """Add this minute's leaf, or raise an alert if that fails."""
    try:
        return checkpoints.grow()
    except WrongClock as wrong:
        alerts.about_the_clock(wrong)
    except Lost as lost:
        alerts.raise_lasting(_house(), "log_broken", "checkpoint", f"No checkpoint is made: {lost}", {})
    except (BadKey, BadNote) as wrong:
        # Another worker may have the key. If none has it, the witnesses' silence shows that.
        if settings.CHECKPOINT_KEY_FILE:
            alerts.raise_alert(_house(), "not_witnessed", f"No checkpoint is made: {wrong}")
    return None


def _hand_over(witness: Witness, row: HeadsRow) -> bool:
    """Submit a checkpoint to a witness. Returns whether it cosigned."""
    try:
        line = submit(witness, row)
        Cosignature.objects.bulk_create(
            [
                Cosignature(
                    origin=row.origin, size=row.number + 1, witness=str(witness.key), line=line,
                    at=clock.read().database,
                )
            ],
            ignore_conflicts=True,
        )  # fmt: skip
        if witness.shows_heads:
            show_heads(witness, row)
    except Refusing as refusal:
        message = f"The witness {witness.name} does not cosign: {refusal}. docs/witness.md says what to do."
        facts = {"witness": witness.name, "says": str(refusal)}
        alerts.raise_lasting(_house(), "witness_refuses", witness.name, message, facts)
        return False
    except (Silent, BadNote) as silence:
        log.warning("the witness %s: %s", witness.name, silence)
        return False
    return True


def _report_silence(moment: datetime) -> None:
    for status in statuses(moment):
        if status.is_silent:
            name, since = status.witness.name, status.since.isoformat() if status.since else None
            message = f"The witness {name} is silent: nobody would notice if the end of a log were cut off now."
            alerts.raise_alert(_house(), "witness_silent", message, {"witness": name, "since": since})


def _house() -> Book | None:
    return Book.objects.filter(name=HOUSE).first()


# --- The protocol -----------------------------------------------------------------------------------------------


def submit(witness: Witness, row: HeadsRow) -> str:
    """Submit the checkpoint that ends with a leaf. Returns the witness's cosignature line. Raises Silent and
    Refusing."""
    checkpoint, size = checkpoints.checkpoint_of(row), row.number + 1
    rows = Cosignature.objects.filter(origin=row.origin, witness=str(witness.key))
    # The witness accepts growth only from the size that it saw last.
    old = min(rows.aggregate(size=Max("size"))["size"] or 0, size)
    status, body = _post(witness, "add-checkpoint", bytes(_submission(row.origin, old, size, checkpoint)))
    if status == HTTPStatus.CONFLICT and (known_size := _size(body)) != old:
        # It cosigned more than is stored here: its answer was lost, or this database was restored.
        if known_size > size:
            raise Refusing(
                f"it saw {known_size:,} leaves, the house has {size:,}: the tail was cut off, or an older log put back"
            )
        status, body = _post(witness, "add-checkpoint", bytes(_submission(row.origin, known_size, size, checkpoint)))
    if status == HTTPStatus.OK:
        return _line(witness, checkpoint, body)
    if status in (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY):
        raise Refusing(f"the tree is not the one that it saw grow ({status} {body[:QUOTED].strip()})")
    raise Silent(f"it answered {status} {body[:QUOTED].strip()}")


def _submission(origin: str, old: int, size: int, checkpoint: Note) -> Submission:
    proof: Sequence[bytes] = ()
    if old:
        proof = checkpoints.make_proof(origin, size, lambda proofs: proofs.consistency(old))
    return Submission(old, tuple(proof), checkpoint)


def _size(body: str) -> int:
    try:
        return number(body.removesuffix("\n"))
    except BadNote:
        raise Silent("it answered with a conflict, but without the size that it saw") from None


def _line(witness: Witness, checkpoint: Note, body: str) -> str:
    """The witness's own signature line in its answer. Raises Silent."""
    try:
        signatures = read_signatures(body)
        if Note(checkpoint.text, signatures).signers([witness.key]):
            return next(signature.line for signature in signatures if signature.is_by(witness.key))
    except BadNote as bad:
        raise Silent(f"its answer is not a cosignature: {bad}") from None
    raise Silent("its answer is not signed with its key")


def show_heads(witness: Witness, row: HeadsRow) -> None:
    """Send a witness the heads of all logs at the leaf that it has just cosigned. Raises Silent and Refusing."""
    size = row.number + 1
    path = checkpoints.make_proof(row.origin, size, lambda proofs: proofs.inclusion(row.number))
    document = {
        "origin": row.origin,
        "size": size,
        "leaf": bytes(row.leaf).decode(),
        "path": list(map(encoded, path)),
        "heads": [[name, *head] for name, head in sorted(checkpoints.heads_at(row).items())],
    }
    status, body = _post(witness, "add-heads", json.dumps(document).encode())
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        raise Refusing(body[:QUOTED].strip())
    if status != HTTPStatus.OK:
        raise Silent(f"it did not take the heads: {status} {body[:QUOTED].strip()}")


def _post(witness: Witness, endpoint: str, body: bytes) -> tuple[int, str]:
    """Send one request. Returns status and body. Raises Silent if there is no answer in time.

    This host is permitted as a target, because a tunnel to the witness may end here.
    """
    try:
        answer = outbound.post(
            f"{witness.address}/{endpoint}", body, {"Content-Type": "text/plain; charset=utf-8"},
            to_own_host=True, seconds=PATIENCE_SECONDS, most=MOST_BYTES,
        )  # fmt: skip
    except outbound.NotSent as failure:
        raise Silent(f"it does not answer: {failure}") from None
    return answer.status, answer.body.decode(errors="replace")
