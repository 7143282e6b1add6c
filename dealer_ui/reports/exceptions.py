"""A day's exceptions and dealers: the part of the floor for pit bosses, all for readers of the log of the site."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from dealer_ui import dates
from dealer_ui.replica_pages import reads_replica
from tables.models import Staff
from tables.reports import exceptions as days
from tables.reports import gaming_hours
from tables.reports.dealer_figures import DealerLine
from tables.reports.exceptions import DayExceptions, ExceptionRow
from tables.reports.report import Column, Report

SHOWN: Final = 100
"""Lines of one category on the page; the CSV has all."""


def reads_the_house(viewer: object) -> bool:
    """Whether a user may read the log of the site, as operators and auditors may."""
    return isinstance(viewer, Staff) and viewer.has_perm("ledger.view_logentry")


class DayQuery(NamedTuple):
    """A day, and whether the log of the site is read for it, too."""

    day: date
    whole: bool

    def report(self) -> DayExceptions:
        """The exceptions and dealers of the day."""
        return days.of_day(self.day, whole=self.whole)


def read_day(request: HttpRequest) -> DayQuery:
    """The day that is asked for, as its user may read it."""
    return DayQuery(dates.gaming_day(request), reads_the_house(request.user))


@reads_replica
@require_GET
def exceptions(request: HttpRequest) -> HttpResponse:
    """One day's exceptions."""
    query = read_day(request)
    day, report = query.day, query.report()
    context = {
        "report": report,
        **dates.with_neighbours(day, gaming_hours.day_of(timezone.now())),
        "zone": gaming_hours.calendar().hours_of(day).time_zone,
        "headings": [
            (heading, heading.lines[:SHOWN], len(heading.lines)) for heading in report.headings if heading.lines
        ],
        "nothing": [heading.matter.title for heading in report.headings if not heading.lines],
        "late_minutes": days.late_after(report.span) // timedelta(minutes=1),
    }
    return render(request, "dealer_ui/pit/exceptions.html", context)


def _exception_pages(query: DayQuery) -> Iterator[Sequence[ExceptionRow]]:
    # When the file is sent and not before: a refused download does not read the logs of a day.
    yield query.report().lines


def _dealer_pages(query: DayQuery) -> Iterator[Sequence[DealerLine]]:
    yield query.report().dealers


EXCEPTIONS: Final = Report[DayQuery, ExceptionRow](
    name=lambda query: f"exceptions-{query.day}",
    columns=(
        Column("matter", "matter.name"), Column("at", "moment"), Column("where", "place"), Column("entry", "seq"),
        Column("round"), Column("by"), Column("says"), Column("note"), Column("subject"), Column("kind"),
    ),
    pages=_exception_pages,
)  # fmt: skip


def _band(of: str) -> tuple[Column[DealerLine], Column[DealerLine]]:
    """The ordinary band of a dealer's figure."""
    return (
        Column("usual_from", lambda line: (band := getattr(line, of).band) and round(band.low, 1)),
        Column("usual_to", lambda line: (band := getattr(line, of).band) and round(band.high, 1)),
    )


DEALERS: Final = Report[DayQuery, DealerLine](
    name=lambda query: f"dealers-{query.day}",
    columns=(
        Column("username"), Column("name"), Column("tables", lambda line: "; ".join(line.tables)), Column("rounds"),
        Column("void_rounds", "void"), Column("hours", lambda line: round(line.hours, 2)),
        Column("rounds_per_hour", lambda line: round(line.pace.value, 1)), *_band("pace"),
        Column("take_backs", "take_backs.value"),
        Column("take_backs_per_hundred", lambda line: _rounded(line.take_backs_per_hundred)), *_band("take_backs"),
        Column("corrections", "corrections.value"), *_band("corrections"),
        Column("counts"), Column("counts_off", "counts_off.value"), *_band("counts_off"),
        Column("variance_cents"), Column("shared_variance_cents", "shared_cents"), Column("says"),
    ),
    pages=_dealer_pages,
)  # fmt: skip


def _rounded(rate: float | None) -> float | None:
    return None if rate is None else round(rate, 2)
