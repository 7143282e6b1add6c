"""The report of a day's exceptions, and its dealers: the floor's part for whoever runs it, all of it for those who may
read the house's own book."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from dealer_ui import dates, exports
from dealer_ui.guards import watches
from dealer_ui.replica_pages import reads_replica
from tables.models import Staff
from tables.reports import exceptions as days
from tables.reports import gaming_hours
from tables.reports.dealer_figures import DealerLine, Held
from tables.reports.exceptions import DayExceptions

SHOWN: Final = 100
"""Lines of one matter on the page; the CSV has all."""


def reads_the_house(viewer: object) -> bool:
    """Whether somebody may read the house's own book: operators and auditors."""
    return isinstance(viewer, Staff) and viewer.has_perm("ledger.view_logentry")


def _asked(request: HttpRequest) -> date:
    today = gaming_hours.day_of(timezone.now())
    return min(dates.day(request.GET.get("day")) or today, today)


def _report(request: HttpRequest, day: date) -> DayExceptions:
    return days.of_day(day, whole=reads_the_house(request.user))


@watches
@reads_replica
@require_GET
def exceptions(request: HttpRequest) -> HttpResponse:
    """One day's exceptions."""
    day = _asked(request)
    report = _report(request, day)
    today = gaming_hours.day_of(timezone.now())
    context = {
        "report": report,
        "on": day,
        "zone": gaming_hours.calendar().hours_of(day).time_zone,
        "headings": [
            (heading, heading.lines[:SHOWN], len(heading.lines)) for heading in report.headings if heading.lines
        ],
        "nothing": [heading.matter.title for heading in report.headings if not heading.lines],
        "before": day - timedelta(days=1),
        "after": day + timedelta(days=1) if day < today else None,
        "late_minutes": days.late_after(report.span) // timedelta(minutes=1),
    }
    return render(request, "dealer_ui/pit/exceptions.html", context)


HEADER: Final = ("matter", "at", "where", "entry", "round", "by", "says", "note", "subject", "kind")


@watches
@reads_replica
@require_GET
def exceptions_csv(request: HttpRequest) -> HttpResponseBase:
    """All of them, a row each."""
    day = _asked(request)
    return exports.answer(request, f"exceptions-{day}", HEADER, _rows(request, day))


def _rows(request: HttpRequest, day: date) -> Iterator[list[tuple[Any, ...]]]:
    yield [
        (
            line.matter.name, line.moment, line.place, line.seq, line.round, line.by, line.says, line.note,
            line.subject, line.kind,
        )
        for line in _report(request, day).lines
    ]  # fmt: skip


DEALER_HEADER: Final = (
    "username", "name", "tables", "rounds", "void_rounds", "hours",
    "rounds_per_hour", "usual_from", "usual_to",
    "take_backs", "take_backs_per_hundred", "usual_from", "usual_to",
    "corrections", "usual_from", "usual_to",
    "counts", "counts_off", "usual_from", "usual_to",
    "variance_cents", "shared_variance_cents", "says",
)  # fmt: skip


@watches
@reads_replica
@require_GET
def dealers_csv(request: HttpRequest) -> HttpResponseBase:
    """The day's dealers, a row each."""
    day = _asked(request)
    return exports.answer(request, f"dealers-{day}", DEALER_HEADER, _dealer_rows(request, day))


def _dealer_rows(request: HttpRequest, day: date) -> Iterator[list[tuple[Any, ...]]]:
    yield [_dealer_row(line) for line in _report(request, day).dealers]


def _dealer_row(line: DealerLine) -> tuple[Any, ...]:
    per_hundred = line.take_backs_per_hundred
    return (
        line.username, line.name, "; ".join(line.tables), line.rounds, line.void, round(line.hours, 2),
        round(line.pace.value, 1), *_band(line.pace),
        line.take_backs.value, None if per_hundred is None else round(per_hundred, 2), *_band(line.take_backs),
        line.corrections.value, *_band(line.corrections),
        line.counts, line.counts_off.value, *_band(line.counts_off),
        line.variance_cents, line.shared_cents, line.says,
    )  # fmt: skip


def _band(held: Held) -> tuple[float | None, float | None]:
    return (None, None) if held.band is None else (round(held.band.low, 1), round(held.band.high, 1))
