"""Chips by piece: which of each kind lie where, what is out with players, and with which chips a rack should open."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from dealer_ui import dates, numbers
from dealer_ui.guards import viewer_of
from dealer_ui.replica_pages import reads_replica
from ledger.proof.chips import CAGE, RACK, VAULT
from tables.cage import blind_counts
from tables.models import Denomination, Table
from tables.reports import float_planner, gaming_hours, inventory
from tables.reports.float_planner import Advice, TableFloat
from tables.reports.report import Column, Report, fields_of, single_page

SERVICES: Final = (80, 90, 95, 99)
"""Of a hundred runs, how many a float may be asked to last."""


@reads_replica
@require_GET
def inventories(request: HttpRequest) -> HttpResponse:
    """Inventory and liability by denomination at the end of a gaming day, or as it is now."""
    today = gaming_hours.day_of(timezone.now())
    day = _day(request, today)
    context = {
        **dates.with_neighbours(day, _latest(request, today)),
        "is_over": day < today,
        "is_blind": _counts_chips(request),
        "taken": inventory.on(day),
        "counts": inventory.last_counts(day),
        "kinds": Denomination.objects.all(),
    }
    return render(request, "dealer_ui/pit/inventory.html", context)


class StockLine(NamedTuple):
    """Chips of one kind in one place."""

    day: date
    place: str
    value_cents: int
    colour: str
    pieces: int
    cents: int
    certain: str


def _stock_lines(day: date) -> Iterator[StockLine]:
    """A row for each kind of chip in each place."""
    taken = inventory.on(day)
    for stock in (inventory.Stock("Issued", taken.issued), *taken.stocks):
        for value, pieces in stock.holding.pieces.items():
            certain = _certain(stock.holding.is_certain_of(value))
            yield StockLine(day, stock.name, value, taken.colours.get(value, ""), pieces, value * pieces, certain)
    for line in taken.lines:
        yield StockLine(day, "Out", line.value_cents, line.colour, line.out, line.out_cents, _certain(line.is_certain))


def _certain(is_certain: bool) -> str:
    return "yes" if is_certain else "estimated"


INVENTORY: Final = Report[date, StockLine](
    name=lambda day: f"chips-{day}",
    columns=fields_of(StockLine),
    pages=lambda day: single_page(list(_stock_lines(day))),
)


def read_day(request: HttpRequest) -> date:
    """The day that is asked for, no later than the viewer may see."""
    return _day(request, gaming_hours.day_of(timezone.now()))


def _day(request: HttpRequest, today: date) -> date:
    latest = _latest(request, today)
    return min(dates.day(request.GET.get("day")) or latest, latest)


def _latest(request: HttpRequest, today: date) -> date:
    """A viewer who may have to count a rack or the cage sees a day from the next day on, so the count stays blind."""
    return today - timedelta(days=1) if _counts_chips(request) else today


def _counts_chips(request: HttpRequest) -> bool:
    return not blind_counts.unseen_by(viewer_of(request).role).isdisjoint((RACK, CAGE, VAULT))


@reads_replica
@require_GET
def rack_float(request: HttpRequest, pk: int) -> HttpResponse:
    """With which chips a table's rack should open."""
    table = get_object_or_404(Table.objects.prefetch_related("denominations"), pk=pk)
    context = {
        "table": table,
        "plan": float_planner.plan(table, _service(request)),
        "service": _service(request),
        "services": SERVICES,
        "kinds": table.denominations.all(),
        "stack": float_planner.STACK,
    }
    return render(request, "dealer_ui/pit/float.html", context)


def read_float(request: HttpRequest, pk: int) -> tuple[int, TableFloat | None]:
    """The table of the address and the plan of its float."""
    table = get_object_or_404(Table, pk=pk)
    return pk, float_planner.plan(table, _service(request))


FLOAT: Final = Report[tuple[int, TableFloat | None], Advice](
    name=lambda query: f"float-{query[0]}",
    columns=(
        Column("value_cents"), Column("colour"), Column("pieces"), Column("cents"), Column("opened_with"),
        Column("most_used", "most"), Column("ran_out"), Column("runs"),
        Column("chance_at_most", lambda line: round(line.chance_at_most, 4)),
    ),
    pages=lambda query: single_page(query[1].lines if query[1] else ()),
)  # fmt: skip


def _service(request: HttpRequest) -> int:
    typed = numbers.number(request.GET.get("of"))
    return typed if typed in SERVICES else 95
