"""What slips of the house may name: keys in the cabinet and keys that are out, and envelopes with notes put apart.

All of it is read from the log, through one entry of the house's book, so that the floor and a proof ask the same.
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
    """A key that somebody has."""

    name: str
    slip: Slip
    holders: tuple[str, ...]
    """Who signed for it, by name."""
    since: datetime


@dataclass(frozen=True, slots=True)
class Envelope:
    """A note that a count put apart, and that nobody accepted since."""

    name: str
    """The slip of the count, and the mark on the envelope."""
    slip: str
    note: QuestionedNote

    @property
    def says(self) -> str:
        """As a form lists it."""
        return f"{self.name}: {APART[self.note.kind]}, {money(self.note.claimed_cents)}"


# --- Keys ------------------------------------------------------------------------------------------------------


_TAKES: Final = [series for series in SLIPS.values() if series.field_of_kind(KEYS) or series.field_of_kind(DUAL_KEYS)]
_ENDS: Final = [
    series for series in SLIPS.values() if series.field_of_kind(KEYS_OUT) or series.field_of_kind(EVERY_KEY)
]
"""With these a key is out no longer: it came back, or it is lost."""


def _last_kinds(series: list[SlipType]) -> list[str]:
    return [f"{record.name}_{record.stages[-1].name}" for record in series]


def keys_out(through_seq: int | None = None) -> dict[str, KeyOut]:
    """The keys that left the cabinet and did not come back, by name.

    Read backwards: of each key the newest slip that is signed to its end decides.
    """
    names = set(key_register.keys(through_seq))
    rows = LogEntry.objects.filter(
        book__name=HOUSE, subject=SlipSigned.subject, kind__in=_last_kinds(_TAKES) + _last_kinds(_ENDS)
    )
    rows = rows if through_seq is None else rows.filter(seq__lte=through_seq)
    newest: dict[str, KeyOut | None] = {}
    for moment, body in rows.order_by("-seq").values_list("at", "body").iterator(chunk_size=100):
        slip = read_as(HouseSlipSigned, body).after
        name = _key_of(slip)
        if name not in newest:
            holders = tuple(signed.name for signed in slip.signed[:-1])
            newest[name] = KeyOut(name, slip, holders, moment) if slip.series in _TAKES else None
        if names <= newest.keys():
            break
    return {name: out for name, out in sorted(newest.items()) if out is not None}


def _key_of(slip: Slip) -> str:
    names = (slip.series.field_of_kind(kind) for kind in (KEYS, DUAL_KEYS, KEYS_OUT, EVERY_KEY))
    return next((slip.facts[name] for name in names if name), "")


# --- Notes -----------------------------------------------------------------------------------------------------


def envelopes(through_seq: int | None = None) -> dict[str, Envelope]:
    """The envelopes with notes that counts put apart, without those that were accepted since."""
    accepted = set(_accepted(through_seq))
    return {envelope.name: envelope for envelope in _put_apart() if envelope.name not in accepted}


def _accepted(through_seq: int | None) -> Iterator[str]:
    series = [record for record in SLIPS.values() if record.field_of_kind(ENVELOPES)]
    rows = LogEntry.objects.filter(book__name=HOUSE, subject=SlipSigned.subject, kind__in=_last_kinds(series))
    rows = rows if through_seq is None else rows.filter(seq__lte=through_seq)
    for body in rows.values_list("body", flat=True):
        slip = read_as(HouseSlipSigned, body).after
        yield slip.facts[slip.series.field_of_kind(ENVELOPES)]


def _put_apart() -> Iterator[Envelope]:
    """Of counts that were agreed upon, in every book: found by their signatures, and those by the bytes of their
    entries, so that only counts with such a note are read."""
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
    """What a fact may be one of, with the cents that it stands for; without what another slip in progress names."""
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
    named = {text for slip in in_progress for text in slip.facts.values()}
    return {name: cents for name, cents in choices.items() if name not in named}


def fault(slip: Slip) -> str:
    """Why what a slip accepts is not what lies in its envelope; empty where it is, or where it is about none."""
    name = slip.series.field_of_kind(ENVELOPES)
    if not name:
        return ""
    envelope = envelopes().get(slip.facts[name])
    if envelope is None or 0 < slip.total_cents <= envelope.note.claimed_cents:
        return ""
    most = money(envelope.note.claimed_cents)
    return f"The note in {envelope.name} was said to be worth {most}: no more than that is accepted."


def entry_fault(event: SlipSigned, entry: Entry) -> str:
    """Why a step could not say what it says, as the log stood before it; empty where it could."""
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
