"""The time of dealers at tables, read from the taps in the logs of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from ledger.models import LogEntry
from tables.log.catalog import read
from tables.log.entries.tables import DealerSignedIn, DealerSignedOut
from tables.log.rotation import Session, Tap
from tables.models import Table

LONGEST: Final = timedelta(hours=24)
"""No dealer deals longer at one table. It bounds the search for the tap that began a session."""


def sessions(start: datetime, end: datetime, now: datetime) -> list[Session]:
    """The sessions of all dealers that overlap a span, cut to it. A session that lasts ends at ``now`` or at the end
    of the span. The cost depends on the span alone."""
    names = dict(Table.objects.values_list("book_id", "name"))
    by_table: dict[int, list[tuple[datetime, DealerSignedIn | DealerSignedOut]]] = {}
    for book_id, at, event in _taps(list(names), start - LONGEST, end):
        by_table.setdefault(book_id, []).append((at, event))
    until = min(end, now)
    every = (session for book_id, taps in by_table.items() for session in _of_table(names[book_id], taps, until))
    return [
        session._replace(start=max(session.start, start), end=min(session.end, until))
        for session in every
        if session.end > start and session.start < until
    ]


def taps(tables: Iterable[str], start: datetime, end: datetime) -> list[Tap]:
    """The taps at tables, by name, within a span."""
    names = dict(Table.objects.filter(name__in=list(tables)).values_list("book_id", "name"))
    return [
        Tap(names[book_id], event.username, at)
        for book_id, at, event in _taps(list(names), start, end)
        if isinstance(event, DealerSignedIn)
    ]


def _taps(
    books: list[int], start: datetime, end: datetime
) -> Iterator[tuple[int, datetime, DealerSignedIn | DealerSignedOut]]:
    rows = LogEntry.objects.filter(book_id__in=books, subject=DealerSignedIn.subject, at__gte=start, at__lt=end)
    for book_id, kind, body, at in rows.order_by("book_id", "seq").values_list("book_id", "kind", "body", "at"):
        event = read(DealerSignedIn.subject, kind, body)
        if isinstance(event, DealerSignedIn | DealerSignedOut) and event.refused is None:
            yield book_id, at, event


def _of_table(
    table: str, taps: Iterable[tuple[datetime, DealerSignedIn | DealerSignedOut]], until: datetime
) -> Iterator[Session]:
    began: tuple[datetime, DealerSignedIn] | None = None
    for at, event in taps:
        if began is not None:
            yield Session(began[1].username, began[1].name, table, began[0], at)
        began = (at, event) if isinstance(event, DealerSignedIn) else None
    if began is not None:
        yield Session(began[1].username, began[1].name, table, began[0], until)
