"""Mending a book that a wrong clock poisoned: a further entry says in which true time its last entries were written.

The entries stay as they are and keep their false times; every report, seal and proof counts them by the true ones.
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
    """The book cannot be mended so; the message is one sentence that says what would be right."""


@dataclass(frozen=True, slots=True)
class CorrectionRequest:
    """What is to be mended, where somebody knows better than the book."""

    first: int | None = None
    """The first false entry; else the first one that is still to come."""
    since: datetime | None = None
    """When the first of them was written at the earliest; else the time of the entry before it."""
    until: datetime | None = None
    """When the last of them was written at the latest; else now."""
    through: Sequence[tuple[int, datetime]] = ()
    """(entry, moment): so far the book had been written by then. A span over the end of a day is parted so."""


def mend(book: Book, request: CorrectionRequest, *, by: Sequence[Staff], reason: str) -> Sequence[Mend]:
    """Say in the book in which true time its last entries were written. Raises NoMend, BadKey, WrongClock."""
    if document_fault(person.signature for person in by) or not reason.strip():
        raise NoMend("Two people stand for the true times, and say how they know them.")
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
    """The first entry of a moment to come, but for those that were mended before."""
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
    """An entry belongs to one day: somebody has to say where in the book the day ended."""
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
