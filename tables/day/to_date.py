"""Month and year to date: what closed days have signed, what arrived for them since, and the days not closed yet.

So a year to date costs its days, not its rounds. It says the same as one report over the whole span.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from datetime import date
from itertools import groupby

from tables.day import closing, figures, hours
from tables.day.figures import Figures, Late, Report
from tables.day.hours import DAY, Calendar
from tables.log.entries.days import DayClosed
from tables.models import DayClose, Table


def month(on: date, tables: Sequence[Table] | None = None) -> Report:
    """From the first of the month through a gaming day."""
    return whole(on.replace(day=1), on, tables)


def year(on: date, tables: Sequence[Table] | None = None) -> Report:
    """From the first of the year through a gaming day."""
    return whole(on.replace(month=1, day=1), on, tables)


def whole(first: date, last: date, tables: Sequence[Table] | None = None) -> Report:
    """From one gaming day through another, as one report of all tables or of some."""
    chosen = _chosen(tables)
    lines: dict[str, list[Figures]] = {table.name: [] for table in chosen}
    known = hours.calendar()
    for report in _reports(first, last, chosen, known):
        for line in report.lines:
            lines[line.name].append(line)
    found = tuple(figures.joined(table, lines[table.name]) for table in chosen)
    return Report(known.span(first).start, known.span(last).end, found)


def each(first: date, last: date, tables: Sequence[Table] | None = None) -> list[tuple[date, Figures]]:
    """The tables together, on each gaming day from one through another."""
    known = hours.calendar()
    return [(known.day_of(one.start), one.pit) for one in _reports(first, last, _chosen(tables), known, apart=True)]


def _chosen(tables: Sequence[Table] | None) -> Sequence[Table]:
    return list(Table.objects.order_by("name")) if tables is None else tables


def _reports(
    first: date, last: date, tables: Sequence[Table], known: Calendar, *, apart: bool = False
) -> Iterator[Report]:
    """Reports that join: one for each closed day; one for all days between that are not closed, or one for each."""
    closes = list(DayClose.objects.filter(day__range=(first, last)).order_by("seq"))
    made = {date.fromisoformat(close.day): close for close in closing.signed(closes)}
    late = closing.late_since(closes[0]) if closes else []
    names = {table.name for table in tables}
    days = [first + DAY * number for number in range((last - first).days + 1)]
    for is_closed, group in groupby(days, key=made.__contains__):
        some = list(group)
        if is_closed:
            yield from (_closed(made[one], late, names, known) for one in some)
        else:
            stretches = [(one, one) for one in some] if apart else [(some[0], some[-1])]
            yield from (
                figures.between(known.span(one).start, known.span(other).end, tables) for one, other in stretches
            )


def _closed(made: DayClosed, late: Sequence[Late], names: Set[str], known: Calendar) -> Report:
    """A closed day as it was signed, and what arrived for it since."""
    start, end = known.span(date.fromisoformat(made.day))
    lines = {row["name"]: Figures.read(row) for row in made.figures if row["name"] in names}
    for one in late:
        if start <= one.belongs_at < end and one.table in lines:
            column = "box_variance_cents" if one.is_box else "corrections_cents"
            line = lines[one.table]
            lines[one.table] = replace(line, **{column: getattr(line, column) + one.cents})
    return Report(start, end, tuple(lines.values()))
