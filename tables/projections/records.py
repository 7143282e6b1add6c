"""Reading what the log says of rows: the entries of few subjects, and what waits at the house's door."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q

from ledger.models import HOUSE, LogEntry, Notice
from ledger.proof import spelling
from tables.log.catalog import read
from tables.log.entries.carried_rows import RowsTakenOver
from tables.log.event import Event

Columns = Mapping[str, Any]
"""What a row says, column by column."""
Rows = Mapping[str, Columns]
"""Rows by their names."""


@dataclass(frozen=True, slots=True)
class LoggedRow:
    """An entry, as far as rows go by it."""

    book: str
    subject: str
    kind: str
    by: str
    event: Event
    seq: int | None = None
    """The entry's number; None of what waits at the door."""
    at: datetime | None = None


def of_the_house(rows: str, /, **kinds: Collection[str]) -> Iterator[LoggedRow]:
    """The house's entries of some kinds, by subject, in order; and after them what is left at its door.

    Among them is the one by which rows from before were taken over, if there is one: what was told of them earlier
    counts no more. The first counts: a further one would make of anything what was always so.
    """
    asked = reduce(or_, [Q(subject=subject, kind__in=among) for subject, among in kinds.items()])
    asked |= Q(subject=RowsTakenOver.subject, kind=RowsTakenOver.kinds[0])
    taken = False
    for entry in _entries(LogEntry.objects.of_site().filter(asked)):
        if not isinstance(entry.event, RowsTakenOver):
            yield entry
        elif entry.event.rows == rows and not taken:
            taken = True
            yield entry
    waiting = Notice.objects.filter(asked, seq=None).order_by("pk")
    for notice in waiting:
        body = spelling.spell(notice.subject, notice.content, ())
        event = read(notice.subject, notice.kind, body, house=True)
        yield LoggedRow(HOUSE, notice.subject, notice.kind, notice.by, event)


def of_the_tables(subject: str, kinds: Collection[str]) -> Iterator[LoggedRow]:
    """Every table's entries of some kinds, in the order of each."""
    yield from _entries(LogEntry.objects.filter(subject=subject, kind__in=kinds).exclude(book__name=HOUSE))


def taken_over(rows: str) -> RowsTakenOver:
    """What that entry says of these rows; of a house that was never upgraded, nothing."""
    events = (entry.event for entry in of_the_house(rows, rows=[]))
    return next((event for event in events if isinstance(event, RowsTakenOver)), RowsTakenOver(rows=rows))


def named(event: RowsTakenOver) -> dict[str, dict[str, Any]]:
    """The rows that were taken over, by their names."""
    if not isinstance(event.kept, dict):
        return {}
    return {name: dict(columns) for name, columns in event.kept.items()}


def _entries(asked: Any) -> Iterator[LoggedRow]:
    rows = asked.order_by("book_id", "seq").values_list("book__name", "subject", "kind", "by", "body", "seq", "at")
    for book, subject, kind, by, body, seq, at in rows.iterator():
        yield LoggedRow(book, subject, kind, by, read(subject, kind, body, house=book == HOUSE), seq, at)
