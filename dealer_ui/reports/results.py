"""What the tables won: win, drop and hold of a shift, a day, a month or a year, drawn and listed; closing a day."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from operator import itemgetter
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from dealer_ui import dates, signatures
from dealer_ui.charts import days as day_plots
from dealer_ui.charts import rows as row_charts
from dealer_ui.charts.axis import amount, signed_amount
from dealer_ui.charts.rows import Span
from dealer_ui.entry_forms import render_form
from dealer_ui.guards import viewer_of, watches
from dealer_ui.replica_pages import reads_replica
from ledger.models import HOUSE
from ledger.proof.chips import called
from tables.cage import cage_desk
from tables.form_fields import InputForm
from tables.log import attestation
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.reports import blind_figures, cash, cash_shifts, figures, gaming_hours, outliers, to_date_figures
from tables.reports import day_close as days
from tables.reports.cash_shifts import ShiftCash
from tables.reports.day_close import DaySignature
from tables.reports.figures import COLUMNS, Figures, SpanFigures
from tables.reports.outliers import Interval, Looked
from tables.reports.report import Column, Report, single_page
from tables.setup import pits
from tables.setup.pits import NOWHERE, TablePlace, natural

SPANS: Final[dict[str, tuple[str, Callable[[date, Sequence[Table] | None], SpanFigures]]]] = {
    "day": ("Day", figures.day),
    "month": ("Month to date", to_date_figures.month),
    "year": ("Year to date", to_date_figures.year),
}
DAYS_BACK: Final = 14
NO_PIT: Final = "No pit"


@dataclass(frozen=True, slots=True)
class ReportBlock:
    """One block of a report: a shift, or the whole span."""

    name: str
    report: SpanFigures
    places: Mapping[str, TablePlace]
    """Where tables stand now: a table that moved takes its past along."""

    @property
    def pits(self) -> list[Figures]:
        """One line for each pit, of all its tables; none in a house without pits."""
        by_pit: dict[str, list[Figures]] = {}
        for line in self.report.lines:
            by_pit.setdefault(self.places.get(line.name, NOWHERE).pit, []).append(line)
        named = sorted(by_pit, key=lambda pit: (not pit, natural(pit)))
        return [figures.together(pit or NO_PIT, by_pit[pit]) for pit in named] if any(named) else []

    @property
    def idle(self) -> list[str]:
        """The tables that were not open in it: a name is all there is to say of them."""
        return [line.name for line in self.report.lines if not line.was_open]


@dataclass(frozen=True, slots=True)
class Ordinary:
    """How a table's day compares with what was to be expected of it."""

    looked: Looked

    @property
    def win(self) -> Span | None:
        """Its win against chance."""
        return _span(self.looked.win, lambda cents: amount(round(cents)), lambda cents: signed_amount(round(cents)))

    @property
    def hold(self) -> Span | None:
        """Its hold against its own days before."""
        return _span(self.looked.hold, _per_cent, _per_cent)


def _span(interval: Interval | None, end: Callable[[float], str], middle: Callable[[float], str]) -> Span | None:
    if interval is None:
        return None
    low, high, value = interval.low, interval.high, interval.value
    return row_charts.span(low, high, value, ends=(end(low), end(high), middle(value)))


def _per_cent(part: float) -> str:
    return f"{100 * part:.1f} %".replace("-", "−")


@reads_replica
@require_GET
def reports(request: HttpRequest) -> HttpResponse:
    """One span of the floor."""
    return _page(request, None)


def _page(request: HttpRequest, refused: Refused | None) -> HttpResponse:
    on, span = _asked(request)
    tables, unseen = blind_figures.tables_for(viewer_of(request).role, on)
    parts = _parts(on, span, tables)
    whole = parts[-1].report
    proposal = days.proposal(on)
    closed = days.closed(on)
    runs = gaming_hours.span(on)
    back = _back(on, tables) if span in ("day", "shifts") else []
    by_shift = cash_shifts.day(on, whole.through) if span == "day" and not closed else []
    context = {
        **dates.with_neighbours(on, gaming_hours.day_of(timezone.now())),
        "runs": runs,
        "zone": gaming_hours.calendar().hours_of(on).time_zone,
        "span": span,
        "spans": [("shifts", "Shifts"), *((name, says) for name, (says, _) in SPANS.items())],
        "parts": parts,
        "unseen": unseen,
        "hides_racks": blind_figures.hides_racks(viewer_of(request).role, on),
        "whole": whole,
        "bars": row_charts.win_and_drop([(line.name, line.win_cents, line.drop_cents) for line in whole.lines]),
        "days": day_plots.wins(back, lambda day: f"?day={day}") if back else None,
        "days_back": back,
        "ordinary": [Ordinary(looked) for looked in _looked(on, unseen, whole)] if span == "day" else [],
        "cash": _cash(request, on, closed) if span == "day" else [],
        "cash_by_shift": _cash_by_shift(request, by_shift, closed),
        "closed": closed,
        "names": dict(Staff.objects.values_list("username", "name")) if closed else {},
        "proposal": None if closed else proposal,
        "matters": [] if closed else days.open_matters(on, None if unseen else whole) if span == "day" else [],
        "problems": days.problems(by_shift),
        "over": runs.end <= timezone.now(),
        "day_terms": _terms(on, proposal, whole, by_shift),
    }
    return render_form(request, "dealer_ui/pit/reports.html", context, refused)


def _digest(on: date, whole: SpanFigures, by_shift: Sequence[ShiftCash]) -> str:
    money = tuple(line.row() for line in cash.day(on, whole.through))
    return days.digest_of(on.isoformat(), days.rows(whole.lines), money, tuple(line.row() for line in by_shift))


def _terms(
    on: date, proposal: days.DayProposal | None, whole: SpanFigures, by_shift: Sequence[ShiftCash]
) -> dict[str, Any]:
    """What the terminal signs of a day's figures: those that were signed first, or those that are shown."""
    digest = proposal.digest if proposal else _digest(on, whole, by_shift)
    stage = "closed" if proposal else "proposed"
    return {
        "format": attestation.DAY,
        "day": on.isoformat(),
        "digest": digest,
        "stage": stage,
        "input": "",
        "book": HOUSE,
    }


def _cash(request: HttpRequest, on: date, closed: days.Closed | None) -> list[dict[str, Any]]:
    """The cash of a day, as signed or as it is, without places that the viewer counts blind."""
    if closed is not None:
        return [dict(row) | {"called": called(row["place"])} for row in closed.cash]
    is_over = on < gaming_hours.day_of(timezone.now())
    unseen = cage_desk.being_counted_by(viewer_of(request)) if is_over else cage_desk.unseen_by(viewer_of(request))
    lines = [line for line in cash.day(on) if line.place not in unseen]
    return [line.row() | {"called": line.called} for line in lines]


def _cash_by_shift(
    request: HttpRequest, by_shift: Sequence[ShiftCash], closed: days.Closed | None
) -> list[dict[str, Any]]:
    """The cash of each shift that is over. A viewer who may count a place sees its shift once that shift is counted, so
    the count stays blind."""
    if closed is not None:
        return [dict(row) | {"called": called(row["place"])} for row in closed.cash_by_shift]
    counting, unseen = cage_desk.being_counted_by(viewer_of(request)), cage_desk.unseen_by(viewer_of(request))
    over = [line for line in by_shift if line.shift.end <= timezone.now() and line.figures.place not in counting]
    lines = [line for line in over if line.count is not None or line.figures.place not in unseen]
    return [line.row() | {"called": line.figures.called} for line in lines]


def read_cash(request: HttpRequest) -> tuple[date, list[dict[str, Any]]]:
    """The cash of the day that is asked for and of its shifts: a row for each kind of movement."""
    on, _ = _asked(request)
    closed = days.closed(on)
    whole_day = [row | {"span": "day", "state": ""} for row in _cash(request, on, closed)]
    by_shift = [] if closed else cash_shifts.day(on)
    shifts = [row | {"span": row["shift"], "is_counted": ""} for row in _cash_by_shift(request, by_shift, closed)]
    return on, [row | moved for row in whole_day + shifts for moved in _moved(row)]


def _moved(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    moved = row["moved"] or {"": 0}
    return [{"movement": kind, "moved_cents": cents} for kind, cents in moved.items()]


CASH: Final = Report[tuple[date, list[dict[str, Any]]], Mapping[str, Any]](
    name=lambda query: f"cash-{query[0]}",
    columns=[Column(name, itemgetter(name)) for name in (
        "span", "place", "opening_cents", "movement", "moved_cents", "closing_cents", "counted_cents",
        "difference_cents", "counted_at", "is_counted", "state",
    )],
    pages=lambda query: single_page(query[1]),
)  # fmt: skip


def _looked(on: date, unseen: Sequence[str], whole: SpanFigures) -> list[Looked]:
    return [
        outlier for outlier in outliers.day(on, whole) if (outlier.win or outlier.hold) and outlier.table not in unseen
    ]


def _back(on: date, tables: Sequence[Table] | None) -> list[tuple[date, int, int]]:
    """The win and drop of the days before, and of this one."""
    days = to_date_figures.daily(on - timedelta(days=DAYS_BACK - 1), on, tables)
    return [(day, pit.win_cents, pit.drop_cents) for day, pit in days]


def _asked(request: HttpRequest) -> tuple[date, str]:
    """The day and the span that the query asks for; the whole of today for invalid values."""
    span = request.GET.get("span", "day")
    return dates.gaming_day(request), (span if span in (*SPANS, "shifts") else "day")


def _parts(on: date, span: str, tables: Sequence[Table] | None) -> list[ReportBlock]:
    places = pits.places()
    if span != "shifts":
        says, read = SPANS[span]
        return [ReportBlock(says, read(on, tables), places)]
    begun = {shift.name for shift in gaming_hours.shifts_of(on) if shift.start <= timezone.now()}
    shifts = figures.by_shift(on, tables).items()
    return [
        *(ReportBlock(name, report, places) for name, report in shifts if name in begun),
        ReportBlock("The whole day", figures.day(on, tables), places),
    ]


@dataclass(frozen=True, slots=True)
class FiguresQuery:
    """A span of the floor, as a viewer may see it."""

    on: date
    span: str
    blocks: Sequence[ReportBlock]
    hides_racks: bool


def read_figures(request: HttpRequest) -> FiguresQuery:
    """The span that is asked for."""
    on, span = _asked(request)
    role = viewer_of(request).role
    tables, _ = blind_figures.tables_for(role, on)
    return FiguresQuery(on, span, _parts(on, span, tables), blind_figures.hides_racks(role, on))


def _pages(query: FiguresQuery) -> Iterator[list[dict[str, Any]]]:
    """A row for each table, the games, the pits and the floor, a page for each block."""
    for block in query.blocks:
        report = block.report
        groups: list[tuple[str, Sequence[Figures]]] = [
            ("table", report.lines),
            ("game", report.games),
            ("place", block.pits),
            ("pit", [report.pit]),
        ]
        yield [
            {"span": block.name, "of": of, **blind_figures.row(line, hides_racks=query.hides_racks)}
            for of, lines in groups
            for line in lines
        ]


FIGURES: Final = Report[FiguresQuery, Mapping[str, Any]](
    name=lambda query: f"figures-{query.on}-{query.span}",
    columns=[Column(name, itemgetter(name)) for name in ("span", "of", *COLUMNS)],
    pages=_pages,
)


class FiguresForm(InputForm):
    """The digest of the figures that are signed."""

    digest = forms.CharField(required=False)


@watches
@sensitive_post_parameters("pin")
@require_POST
def close_day(request: HttpRequest, day: date) -> HttpResponse:
    """Sign a day's figures: a pit boss first, then an operator."""
    try:
        signature = DaySignature(day, **FiguresForm(request.POST).values(), attested=signatures.attested(request))
        by, _ = signatures.sign(request, signature.give, signature.rehearse)
        if signature.digest:
            messages.success(request, f"{day} is closed by {by.name}.", extra_tags="day_closed")
        else:
            messages.success(
                request,
                f"The figures of {day} are signed by {by.name}: an operator closes the day.",
                extra_tags="figures_signed",
            )
    except Refused as refused:
        messages.error(request, refused.sentence, extra_tags=refused.code)
    return redirect(f"{reverse('pit:reports')}?day={day}")
