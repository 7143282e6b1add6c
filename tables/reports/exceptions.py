"""What was out of the ordinary on a gaming day, from the log: one report for the whole floor, and its dealers.

Which kinds of entry are exceptions stands in ``tables/log/exceptions.py``. Everything is read between a day's first and
last entry of each book, which an index of times finds, so a day of last year costs no more than yesterday.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final

import msgspec
from django.db.models import BigIntegerField, OuterRef, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.utils import timezone

from ledger import clock_corrections
from ledger.log import COLUMNS
from ledger.models import HOUSE, Acknowledgement, Alert, Book, Discrepancy, Finding, LogEntry, Notice
from ledger.proof.chain import Entry
from ledger.raw_rows import fetch_rows
from tables.log import back_entry
from tables.log.catalog import IN_THE_HOUSE, event_of, read_as
from tables.log.entries.back_entry import EnteredFromPaper, RoundFromPaper
from tables.log.entries.journal import AlertRaised, DiscrepancyOpened
from tables.log.entries.rounds import Played
from tables.log.entries.slips import HouseSlipSigned, SlipSigned
from tables.log.event import Event
from tables.log.exception_categories import (
    ALERTS,
    DISCREPANCIES,
    FROM_PAPER,
    LATE,
    MATTERS,
    OVER_LIMIT,
    REFUSED,
    TAKE_BACKS,
    ExceptionCategory,
)
from tables.log.exceptions import KINDS
from tables.log.message import text_of
from tables.log.slip_workflow import Slip
from tables.log.state import UNREADABLE
from tables.models import Table
from tables.reports import entry_list, figure_records, gaming_hours
from tables.reports.dealer_figures import DealerLine, dealer_lines
from tables.reports.figure_records import BookSpan
from tables.reports.gaming_hours import Span
from tables.setup import policies

COUNT_ROOM: Final = frozenset({"drop"})
"""Series whose counts wait for the count room, and are not late for it: closing a day names boxes not counted yet."""


def late_after(span: Span) -> timedelta:
    """A step of a slip that comes longer than this after the step before is late, by the terms of that day."""
    return timedelta(minutes=policies.number("late_signature_minutes", min(span.end, timezone.now())))


@dataclass(frozen=True, slots=True)
class ExceptionRow:
    """One line of the report."""

    matter: ExceptionCategory
    book_id: int
    seq: int
    """Its entry; 0 for what has none yet."""
    moment: datetime
    place: str
    """The table, or the house."""
    by: str
    says: str
    subject: str
    kind: str
    round: int | None = None
    table: int | None = None
    """The table's own number; None in the house's book."""
    note: str = ""
    """What the entry does not say itself: how late it was, that it waits still."""


@dataclass(frozen=True, slots=True)
class Heading:
    """One matter of the report with what there is of it."""

    matter: ExceptionCategory
    lines: Sequence[ExceptionRow]


@dataclass(frozen=True, slots=True)
class DayExceptions:
    """A day's exceptions."""

    day: date
    span: Span
    headings: Sequence[Heading]
    dealers: Sequence[DealerLine]
    earlier_open: int = 0
    """Discrepancies of earlier days that are still open."""
    is_of_the_floor: bool = False
    """Whether the house's own matters were left out."""

    @property
    def lines(self) -> list[ExceptionRow]:
        """All of them, matter by matter."""
        return [line for heading in self.headings for line in heading.lines]


@dataclass(frozen=True, slots=True)
class _Books:
    """The books of the floor: which is whose."""

    house: int
    tables: Mapping[int, Table]
    spans: Mapping[int, BookSpan]

    def place(self, book_id: int) -> str:
        table = self.tables.get(book_id)
        return table.name if table else "The house"


def of_day(day: date, *, whole: bool = True) -> DayExceptions:
    """The exceptions of a gaming day; without ``whole``, those of the floor alone."""
    span = gaming_hours.span(day)
    books = _books(span)
    matters = [matter for matter in MATTERS if whole or matter.is_of_the_floor]
    entries = _entries(books)
    lines: dict[str, list[ExceptionRow]] = defaultdict(list)
    candidates = [*_told(entries, books), *_at_the_door(books, span)]
    for line in (*_settled_out(candidates), *_over_limit(books, span), *_late(books, span)):
        lines[line.matter.name].append(line)
    lines[REFUSED.name].sort(key=lambda line: (line.by, line.moment))  # by dealer or terminal
    dealers = dealer_lines(
        books.spans, books.tables, span, [(book, entry.seq) for book, entry in entries if _is_back(entry)]
    )
    return DayExceptions(
        day=day,
        span=span,
        headings=[Heading(matter, lines[matter.name]) for matter in matters],
        dealers=dealers,
        earlier_open=Discrepancy.objects.filter(finding=None, at__lt=span.start).count(),
        is_of_the_floor=not whole,
    )


def _books(span: Span) -> _Books:
    heads = dict(Book.objects.values_list("pk", "head_seq"))
    house: int = Book.objects.values_list("pk", flat=True).get(name=HOUSE)
    tables = {table.book_id: table for table in Table.objects.all()}
    wanted = {book: seq for book, seq in heads.items() if book in tables or book == house}
    return _Books(house, tables, figure_records.bounds(wanted, span.start, span.end))


def _is_back(entry: Entry) -> bool:
    return KINDS.get((False, entry.subject, entry.kind)) is TAKE_BACKS


# --- Entries ---------------------------------------------------------------------------------------------------

# Take-backs and void rounds have an index each; everything else is rare beside rounds, and has another.
_ENTRIES: Final = f"""
    SELECT e.*, {clock_corrections.TRUE_TIME.format(book="s.book", entry="e")}
    FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[], %(house)s::boolean[])
        AS s (book, low, high, house)
    CROSS JOIN LATERAL (
        SELECT {COLUMNS} FROM ledger_logentry WHERE book_id = s.book AND seq > s.low AND seq <= s.high
            AND NOT subject = 'round' AND subject = ANY(%(subjects)s)
            AND subject || ' ' || kind
                = ANY(CASE WHEN s.house THEN %(of_house)s::text[] ELSE %(of_tables)s::text[] END)
        UNION ALL
        SELECT {COLUMNS} FROM ledger_logentry WHERE book_id = s.book AND seq > s.low AND seq <= s.high
            AND subject = 'round' AND kind = 'take_back'
        UNION ALL
        SELECT {COLUMNS} FROM ledger_logentry WHERE book_id = s.book AND seq > s.low AND seq <= s.high
            AND subject = 'round' AND kind = 'voided') AS e
        (book_id, name, seq, at, subject, kind, round, by, key, legs, body, hash, previous)
    ORDER BY 14, e.book_id, e.seq
"""  # noqa: S608


def _entries(books: _Books) -> list[tuple[int, Entry]]:
    """What the day's books hold of the kinds that are exceptions, in order of time."""
    spans = books.spans
    parameters = figure_records.bounds_by_column(spans) | {
        "house": [book == books.house for book in spans],
        "subjects": sorted({subject for _, subject, _ in KINDS}),
        "of_house": [f"{subject} {kind}" for house, subject, kind in KINDS if house],
        "of_tables": [f"{subject} {kind}" for house, subject, kind in KINDS if not house],
    }
    return [(row[0], _mended(Entry(*row[:-1]), row[-1])) for row in fetch_rows(_ENTRIES, parameters)]


def _mended(entry: Entry, moment: datetime) -> Entry:
    """An entry with the time at which it was truly written, to be shown and not to be hashed."""
    return entry if entry.at == moment else replace(entry, at=moment)


def _told(entries: Sequence[tuple[int, Entry]], books: _Books) -> list[tuple[ExceptionRow, Event | None]]:
    lines = []
    for (book, entry), (_, says) in zip(entries, entry_list.of_several_books(entries), strict=True):
        matter = KINDS[book == books.house, entry.subject, entry.kind]
        table = books.tables.get(book)
        lines.append(
            (
                ExceptionRow(
                    matter=matter,
                    book_id=book,
                    seq=entry.seq,
                    moment=entry.at or timezone.now(),
                    place=books.place(book),
                    by=entry.by,
                    says=says,
                    subject=entry.subject,
                    kind=entry.kind,
                    round=entry.round,
                    table=table.pk if table else None,
                    note=_other_day(entry) if matter is FROM_PAPER else "",
                ),
                _event_of(entry) if matter in (ALERTS, DISCREPANCIES) else None,
            )
        )
    return lines


def _other_day(entry: Entry) -> str:
    """What is said of something that happened on an earlier gaming day than it was entered on. A day is a span of
    entries, and its root is signed: what is entered counts on the day of its entry, and changes none that is over."""
    event = _event_of(entry)
    if not isinstance(event, EnteredFromPaper | RoundFromPaper) or entry.at is None:
        return ""
    day = gaming_hours.day_of(back_entry.moment_of(event.happened))
    return (
        ""
        if day == gaming_hours.day_of(entry.at)
        else f"of the gaming day {day:%Y-%m-%d}; counts on the day of its entry"
    )


def _event_of(entry: Entry) -> Event | None:
    try:
        return event_of(entry)
    except UNREADABLE:
        return None


def _at_the_door(books: _Books, span: Span) -> Iterator[tuple[ExceptionRow, Event | None]]:
    """Exceptions among the notices of the span that are queued for the site log and have no entry in it yet."""
    for notice in Notice.objects.filter(seq=None, at__gte=span.start, at__lt=span.end).order_by("pk"):
        matter = KINDS.get((True, notice.subject, notice.kind))
        if matter is None:
            continue
        event = msgspec.convert(notice.content, IN_THE_HOUSE[notice.subject, notice.kind], str_keys=True)
        line = ExceptionRow(
            matter=matter,
            book_id=books.house,
            seq=0,
            moment=notice.at,
            place=books.place(books.house),
            by=notice.by,
            says=text_of(event.description()),
            subject=notice.subject,
            kind=notice.kind,
            note="not in the log yet",
        )
        yield line, event


def _settled_out(lines: Sequence[tuple[ExceptionRow, Event | None]]) -> list[ExceptionRow]:
    """The exceptions without acknowledged alerts and without variances that have a finding."""
    alerts = {event.number for _, event in lines if isinstance(event, AlertRaised)}
    cases = {event.number for _, event in lines if isinstance(event, DiscrepancyOpened)}
    noted = set(Acknowledgement.objects.filter(alert__in=alerts).values_list("alert_id", flat=True))
    closed = set(Finding.objects.filter(discrepancy__in=cases).values_list("discrepancy_id", flat=True))

    def is_settled(event: Event | None) -> bool:
        if isinstance(event, AlertRaised):
            return event.number in noted
        return isinstance(event, DiscrepancyOpened) and event.number in closed

    return [line for line, event in lines if not is_settled(event)]


# --- Bets over the limit ---------------------------------------------------------------------------------------


def _over_limit(books: _Books, span: Span) -> list[ExceptionRow]:
    """Bets over the limit that were let stand. Each raised an alert with its entry, and so it is found among few rows
    and not among all that was bet; the proof holds alerts against the log. The author is that of the entry."""
    raised = Alert.objects.filter(kind=Played.kinds[0], book__in=books.tables, at__gte=span.start, at__lt=span.end)
    raised = raised.filter(evidence__has_keys=("seq", "cents"))
    entry = LogEntry.objects.filter(book=OuterRef("book"), seq=OuterRef("entry_seq"))
    entries = raised.annotate(entry_seq=Cast(KT("evidence__seq"), BigIntegerField()))
    return [
        ExceptionRow(
            matter=OVER_LIMIT,
            book_id=alert.book_id or 0,
            seq=alert.evidence["seq"],
            moment=alert.at,
            place=books.place(alert.book_id or 0),
            by=alert.author or "",
            says=alert.message,
            subject=Played.subject,
            kind=Played.kinds[0],
            round=alert.evidence["round"],
            table=books.tables[alert.book_id].pk if alert.book_id else None,
        )
        for alert in entries.annotate(author=Subquery(entry.values("by"))).order_by("pk")
    ]


# --- Signatures ------------------------------------------------------------------------------------------------

_SIGNED_LATE: Final = f"""
    SELECT e.book_id, e.seq, {clock_corrections.TRUE_TIME.format(book="e.book_id", entry="e")} AS signed,
        {clock_corrections.TRUE_TIME.format(book="b.book_id", entry="b")} AS before,
        e.kind, e.by, slip.series, slip.number, g.stage
    FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[]) AS s (book, low, high)
    JOIN ledger_slipsignature AS g ON g.book_id = s.book AND g.seq > s.low AND g.seq <= s.high
    JOIN ledger_slip AS slip ON slip.id = g.slip_id
    CROSS JOIN LATERAL (SELECT p.book_id, p.seq FROM ledger_slipsignature AS p
        WHERE p.slip_id = g.slip_id AND p.seq < g.seq ORDER BY p.seq DESC LIMIT 1) AS p
    JOIN ledger_logentry AS e ON e.book_id = g.book_id AND e.seq = g.seq
    JOIN ledger_logentry AS b ON b.book_id = p.book_id AND b.seq = p.seq
    WHERE e.at - b.at > %(term)s AND NOT (slip.series = ANY(%(count_room)s) AND g.stage LIKE '%%counted%%')
    ORDER BY signed, e.book_id, e.seq
"""  # noqa: S608
_IN_PROGRESS: Final = """
    SELECT s.book, e.body FROM unnest(%(books)s::bigint[], %(highs)s::bigint[]) AS s (book, high)
    CROSS JOIN LATERAL (SELECT body FROM ledger_logentry WHERE book_id = s.book AND subject = 'slip' AND seq <= s.high
        ORDER BY seq DESC LIMIT 1) AS e
"""


def _late(books: _Books, span: Span) -> list[ExceptionRow]:
    """Steps that were signed late on the day, and slips that waited for their next one when it ended, or wait now."""
    term = late_after(span)
    parameters = figure_records.bounds_by_column(books.spans) | {"term": term, "count_room": sorted(COUNT_ROOM)}
    late = [_late_line(books, row) for row in fetch_rows(_SIGNED_LATE, parameters)]
    in_progress = fetch_rows(_IN_PROGRESS, parameters)
    waiting = [(book, slip) for book, body in in_progress for slip in _waiting(book, body, books)]
    return late + _still_waiting(waiting, books, min(span.end, timezone.now()), term)


def _late_line(books: _Books, row: tuple[Any, ...]) -> ExceptionRow:
    book, seq, signed, before, kind, by, series, number, stage = row
    return ExceptionRow(
        matter=LATE,
        book_id=book,
        seq=seq,
        moment=signed,
        place=books.place(book),
        by=by,
        says=f"{series.capitalize()} {number}: {stage.replace('_', ' ')}",
        subject="slip",
        kind=kind,
        table=books.tables[book].pk if book in books.tables else None,
        note=f"{_minutes(signed - before)} after the step before",
    )


def _waiting(book: int, body: bytes, books: _Books) -> Sequence[Slip]:
    try:
        slips = read_as(HouseSlipSigned if book == books.house else SlipSigned, body).waiting
    except UNREADABLE:
        return ()
    return [slip for slip in slips if slip.series.name not in COUNT_ROOM]


def _still_waiting(
    waiting: Sequence[tuple[int, Slip]], books: _Books, end: datetime, term: timedelta
) -> list[ExceptionRow]:
    signed = figure_records.moments([(book, slip.signed[-1].seq) for book, slip in waiting])
    lines = []
    for book, slip in waiting:
        last = slip.signed[-1]
        moment = signed.get((book, last.seq))
        if moment is None or end - moment <= term:
            continue
        lines.append(
            ExceptionRow(
                matter=LATE,
                book_id=book,
                seq=last.seq,
                moment=moment,
                place=books.place(book),
                by=last.name,
                says=f"{slip.label}: {slip.due.to_be if slip.due else 'nothing more'}",
                subject="slip",
                kind=f"{slip.series.name}_{last.stage}",
                table=books.tables[book].pk if book in books.tables else None,
                note=f"waits for {_minutes(end - moment)}",
            )
        )
    return lines


def _minutes(length: timedelta) -> str:
    minutes = round(length / timedelta(minutes=1))
    return f"{minutes} minutes" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
