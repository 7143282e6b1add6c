"""Corrects a log whose last entries have a false time: a further entry records the true time span.

The entries stay as they are and keep their false times; all reports, seals and verifications use the true ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

import msgspec
from django.db import transaction
from django.db.models import Min

from ledger import clock_corrections, log
from ledger.log import Draft
from ledger.models import HOUSE, Book, BookRoot, LogEntry, Recount
from ledger.proof import seals
from ledger.proof.chain import Head, Mend
from ledger.proof.spelling import timestamp
from tables.audit import keys
from tables.log.entries.clocks import ClockMended, HouseClockMended, MendDocument
from tables.log.signatory import document_fault
from tables.models import Staff
from tables.reports import gaming_hours

MEND: Final = "clock-mend/1"


class NoMend(Exception):
    """The requested correction is impossible; the message says in one sentence what would be right."""


@dataclass(frozen=True, slots=True)
class CorrectionRequest:
    """The parts of a correction that the user knows better than the log."""

    first: int | None = None
    """The first false entry; by default the first one dated in the future."""
    since: datetime | None = None
    """The earliest true time of the first false entry; by default the time of the entry before it."""
    until: datetime | None = None
    """The latest true time of the last false entry; by default now."""
    through: Sequence[tuple[int, datetime]] = ()
    """(entry, time) pairs that divide the span: entries up to this one were written by this time. A span over the end
    of a gaming day must be divided there."""


def mend(book: Book, request: CorrectionRequest, *, by: Sequence[Staff], reason: str) -> Sequence[Mend]:
    """Record in a log the true time span of its last entries, signed by two users. Raises NoMend, BadKey,
    WrongClock."""
    if document_fault(person.signature for person in by) or not reason.strip():
        raise NoMend("Two people stand for the true times, and say how they know them.")
    # Publishing the key takes the lock of the site log, so it happens before this log is locked.
    key = keys.signing_key()
    with transaction.atomic():
        head = log.lock(book.pk, to_mend=True)
        spans = _spans(head, request)
        document = MendDocument(
            format=MEND,
            book=book.name,
            head=(head.hash or b"").hex(),
            spans=tuple((span.first, span.last, span.since, span.until) for span in spans),
            by=tuple(person.signature for person in by),
            reason=reason.strip(),
            key=seals.public_of(key),
        )
        signature = seals.sign(key, msgspec.to_builtins(document)).hex()
        event = HouseClockMended if book.name == HOUSE else ClockMended
        log.append(head, Draft.of(event(document=document, signature=signature), by[0].signature))
    return spans


def _spans(head: Head, request: CorrectionRequest) -> list[Mend]:
    present = head.clock
    assert present is not None  # noqa: S101 -- the head is locked
    first = request.first or _first_to_come(head, present)
    if first is None or not 1 <= first <= head.seq:
        raise NoMend(f"No entry of {head.name} is of a moment to come: name the first one that is false (--first).")
    # A signed day cannot follow a later correction: its document has the hash and time span of its entries.
    _refuse_sealed(head, first)
    if spans := clock_corrections.of(head.book_id, first):
        raise NoMend(
            f"Entry {spans[0].entry} mended times up to entry {spans[-1].last}: name a later one as the first."
        )
    time_before = _time_before(head, first)
    edges = [
        (first - 1, request.since or time_before or present),
        *request.through,
        (head.seq, request.until or present),
    ]
    numbers, moments = [seq for seq, _ in edges], [moment for _, moment in edges]
    if numbers != sorted(set(numbers)) or moments != sorted(moments) or moments[-1] > present:
        raise NoMend("Entries and moments are named in their order, and none of a moment to come.")
    # Timestamps never decrease, corrected ones included.
    if time_before and moments[0] < time_before:
        raise NoMend(
            f"The entry before the first false one is of {time_before:%Y-%m-%d %H:%M:%S} UTC: they came after it."
        )
    pieces = list(pairwise(edges))
    for (_, start), (last, end) in pieces:
        _refuse_two_days(head, last, start, end)
    return [
        Mend(head.seq + 1, before + 1, last, timestamp(start), timestamp(end))
        for (before, start), (last, end) in pieces
    ]


def _first_to_come(head: Head, present: datetime) -> int | None:
    """The first entry dated in the future, apart from those that were corrected before; None for none."""
    last_mend = max((span.entry for span in clock_corrections.of(head.book_id)), default=0)
    to_come = LogEntry.objects.filter(book_id=head.book_id, at__gt=present, seq__gt=last_mend)
    first: int | None = to_come.aggregate(seq=Min("seq"))["seq"]
    return first


def _refuse_sealed(head: Head, first: int) -> None:
    root = BookRoot.objects.filter(book_id=head.book_id, last_seq__gte=first).order_by("day").first()
    if root is not None:
        raise NoMend(f"The entries up to {root.last_seq} are sealed with {root.day}: what is sealed stays as it is.")


def _time_before(head: Head, first: int) -> datetime | None:
    moment: datetime | None = (
        LogEntry.objects.filter(book_id=head.book_id, seq=first - 1)
        .order_by("seq")
        .values_list("at", flat=True)
        .first()
    )
    return moment


def _refuse_two_days(head: Head, last: int, start: datetime, end: datetime) -> None:
    """Raise NoMend for a span over the end of a gaming day: an entry belongs to one day, and only a user can say where
    the day ended."""
    over = gaming_hours.span(gaming_hours.day_of(start)).end
    if end <= over:
        return
    recount = Recount.objects.filter(book_id=head.book_id, at__lt=over).order_by("-through_seq").first()
    hint = (
        f" (a recount read through entry {recount.through_seq} at {recount.at:%Y-%m-%d %H:%M} UTC)" if recount else ""
    )
    raise NoMend(
        f"The gaming day ended at {over:%Y-%m-%dT%H:%M:%SZ}, within this span: say through which entry the book had"
        f" been written by then, as --through SEQ={over:%Y-%m-%dT%H:%M:%SZ}{hint}."
    )
