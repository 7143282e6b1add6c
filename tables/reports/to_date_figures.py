"""Month and year to date: what closed days have signed, what arrived for them since, and the days not closed yet.

So a year to date costs its days, not its rounds. It says the same as one report over the whole span.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from datetime import date
from itertools import groupby

from tables.log.entries.days import DayClosed
from tables.models import DayClose, Table
from tables.reports import day_close, figures, gaming_hours
from tables.reports.figures import Figures, Late, SpanFigures
from tables.reports.gaming_hours import DAY, Calendar


def month(day: date, tables: Sequence[Table] | None = None) -> SpanFigures:
    """From the first of the month through a gaming day."""
    return whole(day.replace(day=1), day, tables)


def year(day: date, tables: Sequence[Table] | None = None) -> SpanFigures:
    """From the first of the year through a gaming day."""
    return whole(day.replace(month=1, day=1), day, tables)


def whole(first: date, last: date, tables: Sequence[Table] | None = None) -> SpanFigures:
    """From one gaming day through another, as one report of all tables or of a few."""
    tables = _tables(tables)
    parts: dict[str, list[Figures]] = {table.name: [] for table in tables}
    calendar = gaming_hours.calendar()
    for report in _reports(first, last, tables, calendar):
        for line in report.lines:
            parts[line.name].append(line)
    lines = tuple(figures.joined(table, parts[table.name]) for table in tables)
    return SpanFigures(calendar.span(first).start, calendar.span(last).end, lines)


def daily(first: date, last: date, tables: Sequence[Table] | None = None) -> list[tuple[date, Figures]]:
    """The tables together, on each gaming day from one through another."""
    calendar = gaming_hours.calendar()
    reports = _reports(first, last, _tables(tables), calendar, by_day=True)
    return [(calendar.day_of(report.start), report.pit) for report in reports]


def _tables(tables: Sequence[Table] | None) -> Sequence[Table]:
    return list(Table.objects.order_by("name")) if tables is None else tables


def _reports(
    first: date, last: date, tables: Sequence[Table], calendar: Calendar, *, by_day: bool = False
) -> Iterator[SpanFigures]:
    """Reports that join: one for each closed day; one for all days between that are not closed, or one for each."""
    closes = list(DayClose.objects.filter(day__range=(first, last)).order_by("seq"))
    events = {date.fromisoformat(event.day): event for event in day_close.signed(closes)}
    arrivals = day_close.late_since(closes[0]) if closes else []
    names = {table.name for table in tables}
    days = [first + DAY * number for number in range((last - first).days + 1)]
    for is_closed, group in groupby(days, key=events.__contains__):
        stretch = list(group)
        if is_closed:
            yield from (_closed_day(events[day], arrivals, names, calendar) for day in stretch)
            continue
        for begin, end in [(day, day) for day in stretch] if by_day else [(stretch[0], stretch[-1])]:
            yield figures.between(calendar.span(begin).start, calendar.span(end).end, tables)


def _closed_day(event: DayClosed, arrivals: Sequence[Late], names: Set[str], calendar: Calendar) -> SpanFigures:
    """A closed day as it was signed, and what arrived for it since."""
    start, end = calendar.span(date.fromisoformat(event.day))
    lines = {row["name"]: Figures.read(row) for row in event.figures if row["name"] in names}
    for late in arrivals:
        if start <= late.belongs_at < end and late.table in lines:
            column = "box_variance_cents" if late.is_box else "corrections_cents"
            line = lines[late.table]
            lines[late.table] = replace(line, **{column: getattr(line, column) + late.cents})
    return SpanFigures(start, end, tuple(lines.values()))
