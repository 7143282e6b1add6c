"""Items in custody that site slips may name: keys in the cabinet, keys issued, and envelopes with notes in question.

All are derived from the site's log up to one entry, so that signing and verification get equal answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Q

from ledger.models import HOUSE, LogEntry, SlipSignature
from ledger.proof.chain import Entry
from ledger.proof.chips import money
from tables.cage import key_register
from tables.log.catalog import read_as
from tables.log.entries.slips import HouseSlipSigned, SlipSigned
from tables.log.slip_types import DUAL_KEYS, ENVELOPES, EVERY_KEY, KEPT_APART, KEYS, KEYS_OUT, SLIPS, SlipType
from tables.log.slip_workflow import APART, QuestionedNote, Slip


@dataclass(frozen=True, slots=True)
class KeyOut:
    """A key that has been issued and not returned."""

    name: str
    slip: Slip
    holders: tuple[str, ...]
    """The names of those who signed for it."""
    since: datetime


@dataclass(frozen=True, slots=True)
class Envelope:
    """A note in question that a count set aside and that has not been accepted since."""

    name: str
    """The count's slip and the mark on the envelope."""
    slip: str
    note: QuestionedNote

    @property
    def says(self) -> str:
        """The label in a form's list."""
        return f"{self.name}: {APART[self.note.kind]}, {money(self.note.claimed_cents)}"


# --- Keys ------------------------------------------------------------------------------------------------------


_TAKES: Final = [series for series in SLIPS.values() if series.field_of_kind(KEYS) or series.field_of_kind(DUAL_KEYS)]
_ENDS: Final = [
    series for series in SLIPS.values() if series.field_of_kind(KEYS_OUT) or series.field_of_kind(EVERY_KEY)
]
"""Slip types that end a key's issue: it was returned or lost."""


def _last_kinds(series: list[SlipType]) -> list[str]:
    return [f"{record.name}_{record.stages[-1].name}" for record in series]


def keys_out(through_seq: int | None = None) -> dict[str, KeyOut]:
    """The keys issued and not returned, by name, as of an entry of the site's log.

    Read backwards: the newest completed slip about a key determines its state.
    """
    names = set(key_register.keys(through_seq))
    rows = LogEntry.objects.of_site().filter(
        subject=SlipSigned.subject, kind__in=_last_kinds(_TAKES) + _last_kinds(_ENDS)
    )
    rows = rows if through_seq is None else rows.filter(seq__lte=through_seq)
    newest: dict[str, KeyOut | None] = {}
    for moment, body in rows.order_by("-seq").values_list("at", "body").iterator(chunk_size=100):
        slip = read_as(HouseSlipSigned, body).after
        name = _key_of(slip)
        if name not in newest:
            holders = tuple(signed.name for signed in slip.signed[:-1])
            newest[name] = KeyOut(name, slip, holders, moment) if slip.series in _TAKES else None
        # Stop once each key on the register is settled: the log of a busy site has years of key slips.
        if names <= newest.keys():
            break
    return {name: out for name, out in sorted(newest.items()) if out is not None}


def _key_of(slip: Slip) -> str:
    names = (slip.series.field_of_kind(kind) for kind in (KEYS, DUAL_KEYS, KEYS_OUT, EVERY_KEY))
    return next((slip.facts[name] for name in names if name), "")


# --- Notes -----------------------------------------------------------------------------------------------------


def envelopes(through_seq: int | None = None) -> dict[str, Envelope]:
    """Envelopes with notes in question that have not been accepted, by name, as of an entry of the site's log."""
    accepted = set(_accepted(through_seq))
    return {envelope.name: envelope for envelope in _put_apart() if envelope.name not in accepted}


def _accepted(through_seq: int | None) -> Iterator[str]:
    series = [record for record in SLIPS.values() if record.field_of_kind(ENVELOPES)]
    rows = LogEntry.objects.of_site().filter(subject=SlipSigned.subject, kind__in=_last_kinds(series))
    rows = rows if through_seq is None else rows.filter(seq__lte=through_seq)
    for body in rows.values_list("body", flat=True):
        slip = read_as(HouseSlipSigned, body).after
        yield slip.facts[slip.series.field_of_kind(ENVELOPES)]


def _put_apart() -> Iterator[Envelope]:
    """The envelopes of agreed counts in all logs.

    Only entries with the ``"apart"`` field in their bytes are decoded: few counts have such a note.
    """
    counting = [record.name for record in SLIPS.values() if record.count is not None and record.cash]
    signatures = SlipSignature.objects.filter(Q(stage__startswith="recounted"), slip__series__in=counting)
    for book_id, seq in signatures.order_by("pk").values_list("book_id", "seq"):
        row = LogEntry.objects.filter(book_id=book_id, seq=seq).values_list("book__name", "body").first()
        if row is None or b'"apart"' not in bytes(row[1]):
            continue
        slip = read_as(HouseSlipSigned if row[0] == HOUSE else SlipSigned, row[1]).after
        for note in slip.apart_agreed:
            yield Envelope(f"{slip.name} {note.envelope}", slip.name, note)


# --- What a fact may be ----------------------------------------------------------------------------------------


def among(kind: str, in_progress: tuple[Slip, ...], through_seq: int | None = None) -> Mapping[str, int]:
    """The items of a kind that a field may name, with their value in cents, less those in other slips in progress."""
    if kind == ENVELOPES:
        choices = {name: envelope.note.claimed_cents for name, envelope in envelopes(through_seq).items()}
    elif kind == KEYS_OUT:
        choices = dict.fromkeys(keys_out(through_seq), 0)
    else:
        out, lost = keys_out(through_seq), key_register.lost(through_seq)
        register = {name: key for name, key in key_register.keys(through_seq).items() if name not in lost}
        choices = {name: 0 for name, key in register.items() if name not in out and key.dual is (kind == DUAL_KEYS)}
        if kind == EVERY_KEY:
            choices = dict.fromkeys([*register, *out], 0)
    # An item named by a slip in progress is taken: two slips must not issue one key or accept one note.
    named = {text for slip in in_progress for text in slip.facts.values()}
    return {name: cents for name, cents in choices.items() if name not in named}


def fault(slip: Slip) -> str:
    """The message if a slip accepts a note for more than its claimed value; empty if it is in order."""
    name = slip.series.field_of_kind(ENVELOPES)
    if not name:
        return ""
    envelope = envelopes().get(slip.facts[name])
    if envelope is None or 0 < slip.total_cents <= envelope.note.claimed_cents:
        return ""
    most = money(envelope.note.claimed_cents)
    return f"The note in {envelope.name} was said to be worth {most}: no more than that is accepted."


def entry_fault(event: SlipSigned, entry: Entry) -> str:
    """The message if a step names an item that was not in custody before its entry; empty if it is in order."""
    slip = event.after
    stage = slip.latest
    for fact in stage.fields if stage else ():
        if fact.kind not in KEPT_APART:
            continue
        waiting = tuple(paper for paper in event.waiting if paper.name != slip.name)
        name = slip.facts.get(fact.name, "")
        if name not in among(fact.kind, waiting, entry.seq - 1):
            return f"{name} is none of the {fact.kind} that there were then"
    return ""
