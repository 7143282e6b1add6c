"""Hours dealt and breaks taken by each dealer on a gaming day: the page and the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from dealer_ui import dates
from dealer_ui.replica_pages import reads_replica
from tables.log.rotation import DealerHours
from tables.reports import gaming_hours
from tables.reports.report import NUMBER, Column, Report
from tables.rotation import board

MINUTE: Final = timedelta(minutes=1)


def of_day(day: date) -> list[DealerHours]:
    """The hours of all dealers on a gaming day."""
    span = gaming_hours.span(day)
    return board.hours_of_span(span.start, span.end, timezone.now())


def _pages(day: date) -> Iterator[Iterable[DealerHours]]:
    yield of_day(day)


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
    title="Hours and breaks",
    page_columns=("name", "tables", "minutes_dealt", "breaks", "minutes_on_break", "longest_minutes"),
)


def read_day(request: HttpRequest) -> date:
    """The gaming day of the request."""
    return dates.gaming_day(request)


@reads_replica
@require_GET
def dealer_hours(request: HttpRequest) -> HttpResponse:
    """Hours and breaks of one gaming day."""
    day, today = read_day(request), gaming_hours.day_of(timezone.now())
    context = {
        "table": DEALER_HOURS.table(of_day(day)),
        "on": day,
        "before": day - timedelta(days=1),
        "after": day + timedelta(days=1) if day < today else None,
        "limit": board.longest_stretch() // MINUTE,
    }
    return render(request, "dealer_ui/pit/dealer_hours.html", context)
