"""Having the tree of the books' heads witnessed: each checkpoint to each witness, and what they said of it.

A witness that does not answer holds up nobody but the others' turn; one that refuses is an alert at once, one that is
silent for longer than the house's terms let it is one then.
"""

from __future__ import annotations

import http.client
import json
import logging
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Timer
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Max

from ledger import alerts, clock
from ledger.clock import WrongClock
from ledger.models import HOUSE, Book, Cosignature, HeadsRow
from ledger.proof.checkpoint import Submission, number
from ledger.proof.note import BadNote, Note, VerifierKey, encoded, read_signatures
from ledger.proof.seals import BadKey
from tables.audit import checkpoints
from tables.audit.checkpoints import Lost
from tables.log.house_terms import WITNESS_PLACES
from tables.log.witnesses import Witness
from tables.setup import house_terms

log = logging.getLogger(__name__)

PATIENCE_SECONDS: Final = 5.0
MOST_BYTES: Final = 20_000
"""More than any witness answers to a checkpoint."""
SAID: Final = 200
"""So many letters of an answer are told."""


class Silent(Exception):
    """A witness did not answer, or not as one does; the message says how."""


class Refusing(Exception):
    """A witness says that the tree does not extend what it saw; the message says what it said."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How the house stands with one of its witnesses."""

    witness: Witness
    size: int
    """The leaves of the last checkpoint that it cosigned; 0 before the first."""
    since: datetime | None
    """When it did, by the house's clock; before the first, since when it is the house's witness."""
    is_silent: bool
    """Whether that is longer ago than the house lets it."""


def witnesses(moment: datetime | None = None) -> list[Witness]:
    """Those that the house names in its terms."""
    values = house_terms.all_in_force(moment)
    texts = [str(values[f"witness_{place}"]) for place in WITNESS_PLACES]
    return list({witness.key: witness for witness in map(Witness.parse, filter(None, texts))}.values())


def keys() -> tuple[VerifierKey, ...]:
    """Of all witnesses that the house ever named: what one of them said long ago is as good."""
    every = [change.values.get(f"witness_{place}") for change in house_terms.changes() for place in WITNESS_PLACES]
    return tuple(dict.fromkeys(Witness.parse(str(text)).key for text in every if text))


def standings(moment: datetime) -> list[Standing]:
    """How it stands with each of them; none while the house has no tree."""
    if (tree := checkpoints.current_tree()) is None:
        return []
    grace = timedelta(minutes=house_terms.number("witness_grace_minutes"))
    return [_standing(tree.origin, witness, moment, grace) for witness in witnesses()]


def _standing(origin: str, witness: Witness, moment: datetime, grace: timedelta) -> Standing:
    rows = Cosignature.objects.filter(origin=origin, witness=str(witness.key)).order_by("-size")
    size, since = rows.values_list("size", "at").first() or (0, _named_since(witness, origin))
    return Standing(witness, size, since, since is not None and moment - since > grace)


def _named_since(witness: Witness, origin: str) -> datetime | None:
    """Since when a witness that has cosigned nothing of a tree should have."""
    first = HeadsRow.objects.filter(origin=origin, number=0).values_list("at", flat=True).first()
    named = [change.effective for change in house_terms.changes() if _names(change.values.values(), witness)]
    return None if first is None else max([first, *named[-1:]])


def _names(values: object, witness: Witness) -> bool:
    return any(str(value).startswith(str(witness.key)) for value in values)  # type: ignore[attr-defined]


# --- Each minute ------------------------------------------------------------------------------------------------


def have_witnessed() -> int:
    """Make this minute's leaf and have it witnessed; how many witnesses cosigned it."""
    row = _grown()
    cosigned = sum(_hand_over(witness, row) for witness in witnesses()) if row is not None else 0
    _report_silence(clock.read().database)
    return cosigned


def _grown() -> HeadsRow | None:
    """This minute's leaf; an alert where there can be none."""
    try:
        return checkpoints.grow()
    except WrongClock as wrong:
        alerts.about_the_clock(wrong)
    except Lost as lost:
        alerts.raise_alert(_house(), "log_broken", f"No checkpoint is made: {lost}")
    except (BadKey, BadNote) as wrong:
        # A worker beside the one that has the key: whether nobody has it shows in the silence of the witnesses.
        if settings.CHECKPOINT_KEY_FILE:
            alerts.raise_alert(_house(), "not_witnessed", f"No checkpoint is made: {wrong}")
    return None


def _hand_over(witness: Witness, row: HeadsRow) -> bool:
    """Whether a witness cosigned a checkpoint."""
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
        says = f"The witness {witness.name} does not cosign: {refusal}. docs/witness.md says what to do."
        alerts.raise_alert(_house(), "witness_refuses", says, {"witness": witness.name, "says": str(refusal)})
        return False
    except (Silent, BadNote) as silence:
        log.warning("the witness %s: %s", witness.name, silence)
        return False
    return True


def _report_silence(moment: datetime) -> None:
    for standing in standings(moment):
        if standing.is_silent:
            says = f"The witness {standing.witness.name} is silent: a log that is cut off now would be found by nobody."
            since = standing.since.isoformat() if standing.since else None
            alerts.raise_alert(_house(), "witness_silent", says, {"witness": standing.witness.name, "since": since})


def _house() -> Book | None:
    return Book.objects.filter(name=HOUSE).first()


# --- The protocol -----------------------------------------------------------------------------------------------


def submit(witness: Witness, row: HeadsRow) -> str:
    """The line by which a witness cosigned the checkpoint that ends with a leaf. Raises Silent, Refusing."""
    checkpoint, size = checkpoints.checkpoint_of(row), row.number + 1
    rows = Cosignature.objects.filter(origin=row.origin, witness=str(witness.key))
    old = min(rows.aggregate(size=Max("size"))["size"] or 0, size)
    status, body = _post(witness, "add-checkpoint", bytes(_submission(row.origin, old, size, checkpoint)))
    if status == http.client.CONFLICT and (seen := _size(body)) != old:
        # It cosigned more than was noted here: its answer was lost, or this database is an older one.
        if seen > size:
            raise Refusing(
                f"it saw {seen:,} leaves, the house has {size:,}: the tail was cut off, or an older log put back"
            )
        status, body = _post(witness, "add-checkpoint", bytes(_submission(row.origin, seen, size, checkpoint)))
    if status == http.client.OK:
        return _line(witness, checkpoint, body)
    if status in (http.client.CONFLICT, http.client.UNPROCESSABLE_ENTITY):
        raise Refusing(f"the tree is not the one that it saw grow ({status} {body[:SAID].strip()})")
    raise Silent(f"it answered {status} {body[:SAID].strip()}")


def _submission(origin: str, old: int, size: int, checkpoint: Note) -> Submission:
    proof: Sequence[bytes] = ()
    if old:
        proof = checkpoints.ask(origin, size, lambda proofs: proofs.consistency(old))
    return Submission(old, tuple(proof), checkpoint)


def _size(body: str) -> int:
    try:
        return number(body.removesuffix("\n"))
    except BadNote:
        raise Silent("it answered a conflict without the size that it saw") from None


def _line(witness: Witness, checkpoint: Note, body: str) -> str:
    """The witness's own line of its answer. Raises Silent."""
    try:
        signatures = read_signatures(body)
        if Note(checkpoint.text, signatures).signers([witness.key]):
            return next(signature.line for signature in signatures if signature.is_by(witness.key))
    except BadNote as bad:
        raise Silent(f"its answer is no cosignature: {bad}") from None
    raise Silent("its answer is not signed by its key")


def show_heads(witness: Witness, row: HeadsRow) -> None:
    """Tell a witness where the books stood at a leaf that it just cosigned. Raises Silent, Refusing."""
    size = row.number + 1
    path = checkpoints.ask(row.origin, size, lambda proofs: proofs.inclusion(row.number))
    document = {
        "origin": row.origin,
        "size": size,
        "leaf": bytes(row.leaf).decode(),
        "path": list(map(encoded, path)),
        "heads": [[name, *head] for name, head in sorted(checkpoints.heads_at(row).items())],
    }
    status, body = _post(witness, "add-heads", json.dumps(document).encode())
    if status == http.client.UNPROCESSABLE_ENTITY:
        raise Refusing(body[:SAID].strip())
    if status != http.client.OK:
        raise Silent(f"it did not take the heads: {status} {body[:SAID].strip()}")


def _post(witness: Witness, deed: str, body: bytes) -> tuple[int, str]:
    """One request. Raises Silent for whatever is no answer in time."""
    address = urlsplit(witness.address)
    host, port = str(address.hostname), address.port
    connection: http.client.HTTPConnection
    if address.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, port, timeout=PATIENCE_SECONDS, context=context)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=PATIENCE_SECONDS)
    # A witness that sends a byte now and then would be in time with each of them.
    hang_up = Timer(PATIENCE_SECONDS * 2, _hang_up, [connection])
    hang_up.start()
    try:
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        connection.request("POST", f"{address.path}/{deed}", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read(MOST_BYTES).decode(errors="replace")
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        raise Silent(f"it does not answer: {str(error) or type(error).__name__}") from None
    finally:
        hang_up.cancel()
        connection.close()


def _hang_up(connection: http.client.HTTPConnection) -> None:
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)
