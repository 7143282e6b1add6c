"""Hours dealt and breaks taken by each dealer on a gaming day: the page and the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Final

from django.utils import timezone
from django.utils.translation import gettext_noop

from tables.log.rotation import DealerHours
from tables.reports import gaming_hours
from tables.reports.report import NUMBER, Column, Report
from tables.rotation import board

MINUTE: Final = timedelta(minutes=1)


def _pages(day: date) -> Iterator[Iterable[DealerHours]]:
    span = gaming_hours.span(day)
    yield board.hours_of_span(span.start, span.end, timezone.now())


DEALER_HOURS: Final = Report[date, DealerHours](
    name=lambda day: f"dealer-hours-{day}",
    columns=(
        Column("username"),
        Column("name", heading="Dealer"),
        Column("tables", lambda hours: "; ".join(hours.tables), "Tables"),
        Column("minutes_dealt", lambda hours: hours.dealt // MINUTE, "Minutes dealt", NUMBER),
        Column("breaks", heading="Breaks", kind=NUMBER),
        Column("minutes_on_break", lambda hours: hours.on_break // MINUTE, "Minutes on a break", NUMBER),
        Column("longest_minutes", lambda hours: hours.longest // MINUTE, "Longest without a break", NUMBER),
    ),
    pages=_pages,
    title=gettext_noop("Hours and breaks"),
    empty=gettext_noop("No dealer was at a table on this day."),
    template="dealer_ui/pit/dealer_hours.html",
    context=lambda: {"limit": board.longest_stretch() // MINUTE},
    page_columns=("name", "tables", "minutes_dealt", "breaks", "minutes_on_break", "longest_minutes"),
)
