"""Chips by piece: which of each kind lie where, what is out with players, and with which chips a rack should open."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from dealer_ui import dates, exports, numbers
from dealer_ui.guards import watches
from dealer_ui.replica_pages import reads_replica
from ledger.proof.chips import CAGE, RACK, VAULT
from tables.cage import blind_counts
from tables.models import Denomination, Staff, Table
from tables.reports import float_planner, gaming_hours, inventory

SERVICES: Final = (80, 90, 95, 99)
"""Of a hundred runs, how many a float may be asked to last."""


@watches
@reads_replica
@require_GET
def inventories(request: HttpRequest) -> HttpResponse:
    """Inventory and liability by denomination at the end of a gaming day, or as it is now."""
    today = gaming_hours.day_of(timezone.now())
    day = _day(request, today)
    context = {
        "on": day,
        "before": day - timedelta(days=1),
        "after": day + timedelta(days=1) if day < _latest(request, today) else None,
        "is_over": day < today,
        "is_blind": _counts_chips(request),
        "taken": inventory.on(day),
        "counts": inventory.last_counts(day),
        "kinds": Denomination.objects.all(),
    }
    return render(request, "dealer_ui/pit/inventory.html", context)


_HEADER: Final = ("day", "place", "value_cents", "colour", "pieces", "cents", "certain")


@watches
@reads_replica
@require_GET
def inventories_csv(request: HttpRequest) -> HttpResponseBase:
    """The same as a list: a row for each kind of chip in each place."""
    day = _day(request, gaming_hours.day_of(timezone.now()))
    return exports.answer(request, f"chips-{day}", _HEADER, iter([list(_rows(day, inventory.on(day)))]))


def _rows(day: date, taken: inventory.Inventory) -> Iterator[tuple[Any, ...]]:
    for stock in (inventory.Stock("Issued", taken.issued), *taken.stocks):
        for value, pieces in stock.holding.pieces.items():
            certain = "yes" if stock.holding.is_certain_of(value) else "estimated"
            yield day, stock.name, value, taken.colours.get(value, ""), pieces, value * pieces, certain
    for line in taken.lines:
        certain = "yes" if line.is_certain else "estimated"
        yield day, "Out", line.value_cents, line.colour, line.out, line.out_cents, certain


def _day(request: HttpRequest, today: date) -> date:
    latest = _latest(request, today)
    return min(dates.day(request.GET.get("day")) or latest, latest)


def _latest(request: HttpRequest, today: date) -> date:
    """Whoever may have to count a rack or the cage learns what lay there from the next day on."""
    return today - timedelta(days=1) if _counts_chips(request) else today


def _counts_chips(request: HttpRequest) -> bool:
    assert isinstance(request.user, Staff)  # noqa: S101 -- the view is behind sign-in
    return not blind_counts.unseen_by(request.user.role).isdisjoint((RACK, CAGE, VAULT))


@watches
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


_FLOAT_HEADER: Final = (
    "value_cents", "colour", "pieces", "cents", "opened_with", "most_used", "ran_out", "runs", "chance_at_most",
)  # fmt: skip


@watches
@reads_replica
@require_GET
def rack_float_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The same as a list."""
    table = get_object_or_404(Table, pk=pk)
    plan = float_planner.plan(table, _service(request))
    rows = [
        (
            line.value_cents, line.colour, line.pieces, line.cents, line.opened_with, line.most, line.ran_out,
            line.runs, round(line.chance_at_most, 4),
        )
        for line in (plan.lines if plan else ())
    ]  # fmt: skip
    return exports.answer(request, f"float-{table.pk}", _FLOAT_HEADER, iter([rows]))


def _service(request: HttpRequest) -> int:
    typed = numbers.number(request.GET.get("of"))
    return typed if typed in SERVICES else 95
