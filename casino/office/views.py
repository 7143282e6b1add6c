"""The head office's pages: the sites' progress, one site's days, and figures across sites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Any, Final, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from casino.office import lateness, reports
from casino.office.models import Arrival, Day, House, Refusal
from casino.office.reports import GAME, HOUSE, TABLE, Figures
from dealer_ui import dates
from dealer_ui.charts import days as day_plots
from dealer_ui.charts import rows as row_charts
from dealer_ui.guards import reads_the_house
from tables.reports.report import Column, Report, single_page

DAYS_SHOWN: Final = 31
REFUSALS_SHOWN: Final = 20
BY: Final = {HOUSE: "House", GAME: "Game", TABLE: "Table"}


@require_GET
def front(request: HttpRequest) -> HttpResponse:
    """The start page, which redirects to the sites."""
    return redirect("office:houses")


@reads_the_house
@require_GET
def houses(request: HttpRequest) -> HttpResponse:
    """The progress and faults of each site."""
    statuses = lateness.statuses(timezone.now())
    context = {"standings": statuses, "late": sum(bool(status.late) for status in statuses)}
    return render(request, "office/houses.html", context)


@reads_the_house
@require_GET
def house(request: HttpRequest, code: str) -> HttpResponse:
    """One site: its days, keys and rejected bundles."""
    subject = get_object_or_404(House, code=code)
    before = dates.day(request.GET.get("before"))
    days = Day.objects.filter(house=subject).select_related("arrival").order_by("-number")
    newest = list((days.filter(day__lt=before) if before else days)[: DAYS_SHOWN + 1])
    context = {
        "house": subject,
        "standing": lateness.status_of(subject, timezone.now()),
        "days": _with_sums(subject, newest[:DAYS_SHOWN]),
        "older": newest[DAYS_SHOWN - 1].day if len(newest) > DAYS_SHOWN else None,
        "paged": before is not None,
        "pins": subject.pins.order_by("-version"),
        "refusals": Refusal.objects.filter(house=subject)[:REFUSALS_SHOWN],
        "turned_down": Arrival.objects.filter(house=subject, verdict__holds=False)
        .select_related("verdict")
        .order_by("-pk")[:REFUSALS_SHOWN],
    }
    return render(request, "office/house.html", context)


def _with_sums(subject: House, days: list[Day]) -> list[dict[str, Any]]:
    """Days as table lines, each with its win and drop."""
    sums = reports.by_day(subject, [day.day for day in days])
    lines = []
    for day in days:
        win_cents, drop_cents = sums.get(day.day, (0, 0))
        facts = {name: getattr(day, name) for name in ("day", "number", "digest", "key", "at")}
        lines.append(facts | {"came_by": day.arrival.by, "win_cents": win_cents, "drop_cents": drop_cents})
    return lines


@require_GET
def figures(request: HttpRequest) -> HttpResponse:
    """The sites' figures, separately for each currency."""
    first, last, by, code = span_and_house(request)
    parts = [_part(currency, lines, first, last, code) for currency, lines in reports.between(first, last, by, code)]
    context = {
        "first": first, "last": last, "by": by, "code": code, "parts": parts, "ways": BY,
        "houses": House.objects.order_by("name"), "query": request.GET.urlencode(),
        "missing": reports.missing(first, last, code),
    }  # fmt: skip
    return render(request, "office/figures.html", context)


def _part(currency: str, lines: list[Figures], first: date, last: date, code: str) -> dict[str, Any]:
    sums = reports.days_of(currency, max(first, last - timedelta(days=DAYS_SHOWN - 1)), last, code)
    return {
        "currency": currency,
        "lines": lines,
        "whole": reports.together(lines),
        "bars": row_charts.win_and_drop([(line.name, line.win_cents, line.drop_cents) for line in lines]),
        "days": day_plots.wins(sums, lambda day: f"?first={day}&last={day}&house={code}") if sums else None,
    }


class FiguresLine(NamedTuple):
    """The figures of a span, with its currency."""

    currency: str
    first: date
    last: date
    line: Figures


def _figures_pages(query: tuple[date, date, str, str]) -> Iterator[Iterable[FiguresLine]]:
    first, last, by, code = query
    for currency, lines in reports.between(first, last, by, code):
        yield [FiguresLine(currency, first, last, line) for line in lines]


PERMISSION: Final = ("tables.watch_floor", "ledger.view_logentry")
FIGURES: Final = Report[tuple[date, date, str, str], FiguresLine](
    name=lambda query: f"houses-{query[0]}-{query[1]}",
    permission=PERMISSION,
    reads_replica=False,
    columns=(
        Column("currency"), Column("house", "line.house"), Column("table", "line.table"), Column("game", "line.game"),
        Column("first"), Column("last"),
        *(Column[FiguresLine](name, f"line.{name}") for name in (
            "days", "signed_days", "rounds", "win_cents", "drop_cents", "hold_permille", "handle_cents",
            "theoretical_cents",
        )),
    ),
    pages=_figures_pages,
)  # fmt: skip


def house_of(request: HttpRequest, code: str) -> House:
    """The house of an address."""
    return get_object_or_404(House, code=code)


DAYS: Final = Report[House, Day](
    name=lambda subject: f"{subject.code}-days",
    permission=PERMISSION,
    reads_replica=False,
    columns=(
        Column("house", "house.name"), Column("currency", "house.currency"), Column("number"), Column("day"),
        Column("digest"), Column("key"), Column("arrived", "arrival.at"), Column("verified", "at"),
        Column("sha256", "arrival.sha256"), Column("bytes", "arrival.size"), Column("came_by", "arrival.by"),
    ),
    pages=lambda subject: single_page(
        Day.objects.filter(house=subject).select_related("arrival", "house").order_by("number")
    ),
)  # fmt: skip
"""Every day of a house with its digest, key and bundle."""


def span_and_house(request: HttpRequest) -> tuple[date, date, str, str]:
    """First day, last day, grouping and house code from the query. Invalid values mean the last week of all houses."""
    last = dates.day(request.GET.get("last")) or reports.newest() or timezone.now().date()
    first = dates.day(request.GET.get("first")) or last - timedelta(days=6)
    by = request.GET.get("by", HOUSE)
    code = request.GET.get("house", "")
    is_registered = House.objects.filter(code=code).exists()
    return min(first, last), max(first, last), by if by in BY else HOUSE, code if is_registered else ""
