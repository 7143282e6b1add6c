"""The time of dealers at tables, and the openings and closings of tables, read from the logs of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from django.db import connection

from ledger import clock_corrections
from tables.log.catalog import read
from tables.log.entries.tables import DealerSignedIn, DealerSignedOut, TableClosed, TableOpened
from tables.log.event import Event
from tables.log.rotation import Session, TableStatus, Tap
from tables.models import Table

Taps = DealerSignedIn | DealerSignedOut
# The taps, openings and closings at each table within a span, and the last ones before it: its dealer may still be
# there. Entries are bounded by number first, so the cost depends on the span and not on the age of the log.
_EVENTS: Final = f"""
    SELECT b.book, {clock_corrections.TRUE_TIME.format(book="b.book", entry="e")} AS moment, e.subject, e.kind, e.body
    FROM (SELECT s.book, coalesce(bound.seq, 0) AS low FROM unnest(%(books)s::bigint[], %(heads)s::bigint[])
        AS s (book, head) LEFT JOIN LATERAL ({
    clock_corrections.LAST_BEFORE.format(book="s.book", head="s.head", moment="%(start)s")
}) AS bound ON true) AS b
    CROSS JOIN LATERAL (
        (SELECT seq, at, subject, kind, body FROM ledger_logentry WHERE book_id = b.book AND subject = 'dealer'
            AND seq <= b.low ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, at, subject, kind, body FROM ledger_logentry WHERE book_id = b.book AND subject = 'table'
            AND kind IN ('opened', 'closed') AND seq <= b.low ORDER BY seq DESC LIMIT 1)
        UNION ALL
        SELECT seq, at, subject, kind, body FROM ledger_logentry WHERE book_id = b.book AND subject = 'dealer'
            AND seq > b.low
        UNION ALL
        SELECT seq, at, subject, kind, body FROM ledger_logentry WHERE book_id = b.book AND subject = 'table'
            AND kind IN ('opened', 'closed') AND seq > b.low) AS e
    ORDER BY b.book, e.seq
"""  # noqa: S608


def sessions(start: datetime, end: datetime, now: datetime) -> list[Session]:
    """The sessions of all dealers that overlap a span, cut to it. A session that lasts ends at ``now`` or at the end
    of the span. The cost depends on the span alone."""
    tables = {table.book_id: table for table in Table.objects.select_related("book")}
    by_table: dict[int, list[tuple[datetime, Taps]]] = {}
    for book_id, at, event in _read(tables.values(), start):
        if at < end and isinstance(event, Taps):
            by_table.setdefault(book_id, []).append((at, event))
    until = min(end, now)
    every = (session for book_id, taps in by_table.items() for session in _of_table(tables[book_id].name, taps, until))
    return [
        session._replace(start=max(session.start, start), end=min(session.end, until))
        for session in every
        if session.end > start and session.start < until
    ]


def events(tables: Iterable[Table], since: datetime, through: datetime) -> Iterator[Tap | TableStatus]:
    """The taps at tables, read with their books, after a moment and up to another; and the openings and closings up to
    then, with the last one before."""
    names = {table.book_id: table.name for table in tables}
    for book_id, at, event in _read(tables, since):
        if isinstance(event, TableOpened | TableClosed) and at <= through:
            yield TableStatus(names[book_id], isinstance(event, TableOpened), at)
        elif isinstance(event, DealerSignedIn) and since < at <= through:
            yield Tap(names[book_id], event.username, at)


def _read(tables: Iterable[Table], start: datetime) -> Iterator[tuple[int, datetime, Event]]:
    heads = {table.book_id: table.book.head_seq for table in tables}
    asked: dict[str, Any] = {"books": list(heads), "heads": list(heads.values()), "start": start}
    with connection.cursor() as cursor:
        cursor.execute(_EVENTS, asked)
        for book_id, at, subject, kind, body in cursor.fetchall():
            event = read(subject, kind, body)
            if event.refused is None:
                yield book_id, at, event


def _of_table(table: str, taps: Iterable[tuple[datetime, Taps]], until: datetime) -> Iterator[Session]:
    began: tuple[datetime, DealerSignedIn] | None = None
    for at, event in taps:
        if began is not None:
            yield Session(began[1].username, began[1].name, table, began[0], at)
        began = (at, event) if isinstance(event, DealerSignedIn) else None
    if began is not None:
        yield Session(began[1].username, began[1].name, table, began[0], until)
