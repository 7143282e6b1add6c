"""The rotation page of the pit: strings with their next push, moves by touch, and the set-up of a string."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dealer_ui.guards import runs, viewer_of, watches
from dealer_ui.numbers import number
from dealer_ui.pit.rotation.forms import BasisForm, MoveForm, PushForm, StringForm
from tables.models import LineUp, Staff, Table
from tables.refusals import Refused
from tables.rotation import board, line_ups
from tables.rotation.board import Position, RotationBoard, StringBoard
from tables.state import table_state


@watches
@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """All strings. ``string`` and ``position`` select a position to be filled or left; ``string`` and ``push`` a push
    to be confirmed."""
    return _draw(request)


def _draw(request: HttpRequest, refused: Refused | None = None, pushing: str = "") -> HttpResponse:
    """The page. ``pushing``: the string whose push is to be confirmed."""
    viewer, moment = viewer_of(request), timezone.now()
    rotation = board.board(moment)
    selected = next((each for each in rotation.strings if each.string == request.GET.get("string")), None)
    pushing = pushing or (request.GET.get("string", "") if "push" in request.GET else "")
    place = number(request.GET.get("position"))
    chosen = next((each for each in selected.positions if each.number == place), None) if selected else None
    context = {
        "rotation": rotation,
        "moment": moment,
        "selected": selected if chosen else None,
        "chosen": chosen,
        "partners": _partners(selected, chosen) if selected and chosen else [],
        "fitting": _fitting(selected, rotation) if selected and chosen else [],
        "pushing": pushing,
        "may_push": viewer.has_perm(line_ups.RUNS),
        "refused": refused,
    }
    return render(request, "dealer_ui/pit/rotation.html", context, status=refused.status if refused else 200)


def _partners(selected: StringBoard, chosen: Position) -> list[Position]:
    """The positions of the dealers of a string who may have another position."""
    fit = {person.username for person in line_ups.dealers_for((chosen.where,))}
    others = (each for each in selected.positions if each.username and each.number != chosen.number)
    return [each for each in others if not chosen.where or each.username in fit]


def _fitting(selected: StringBoard, rotation: RotationBoard) -> list[Staff]:
    """The free dealers who may deal all tables of the string."""
    free = {person.username for person in rotation.free}
    return [person for person in line_ups.dealers_for(selected.current.line_up.tables) if person.username in free]


def _changed(request: HttpRequest, act: Callable[[], object], message: str) -> HttpResponse:
    try:
        act()
    except Refused as refused:
        return _draw(request, refused)
    messages.success(request, message, extra_tags="rotation")
    return redirect("pit:rotation")


@runs
@require_POST
def push(request: HttpRequest) -> HttpResponse:
    """Call the push of a string. A push to a table where a dealer may not deal is confirmed first."""
    form, by = PushForm(request.POST), viewer_of(request)
    try:
        without = form.values()["without"]
        row = line_ups.push(form.name, by=by, basis=form.basis, without=without)
    except Refused as refused:
        return _draw(request, refused, form.name if refused.code == "not_certified" else "")
    messages.success(request, _("The push is called."), extra_tags="rotation")
    return redirect(_next_gap(row) if without else reverse("pit:rotation"))


@runs
@require_POST
def take_back(request: HttpRequest) -> HttpResponse:
    """Take the newest push of a string back."""
    form, by = BasisForm(request.POST), viewer_of(request)
    message = _("The push is taken back. Each dealer has the position before.")
    return _changed(request, lambda: line_ups.take_back(form.name, by=by, basis=form.basis), message)


@runs
@require_POST
def move(request: HttpRequest) -> HttpResponse:
    """Put a dealer into a position: two dealers change places, a gap is filled, or a dealer leaves."""
    form, by = MoveForm(request.POST), viewer_of(request)
    try:
        values = form.values()
        dealers = form.dealers(line_ups.of_string(form.name))
        row = line_ups.rearrange(form.name, dealers, values["reason"], by=by, basis=form.basis)
    except Refused as refused:
        return _draw(request, refused)
    return redirect(_next_gap(row) if values["dealer"] else reverse("pit:rotation"))


def _next_gap(row: LineUp) -> str:
    """The page with the next gap selected, for a pit boss who fills one after the other."""
    page = reverse("pit:rotation")
    if "" not in row.dealers:
        return page
    return f"{page}?{urlencode({'string': row.string, 'position': row.dealers.index('')})}#move"


@runs
@require_POST
def end(request: HttpRequest) -> HttpResponse:
    """End the line-up of a string before its shift."""
    form, by = BasisForm(request.POST), viewer_of(request)
    message = _("The string has ended. Its dealers and tables are free.")
    return _changed(request, lambda: line_ups.end(form.name, by=by, basis=form.basis), message)


@runs
@require_http_methods(["GET", "POST"])
def set_up(request: HttpRequest, string: str = "") -> HttpResponse:
    """The set-up of a new string, or of one in force."""
    current = next((each for each in line_ups.in_force() if each.row.string == string), None) if string else None
    form = StringForm(current, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            row = line_ups.set_line_up(form.change(_dealing()), by=viewer_of(request), basis=form.basis)
        except Refused as refused:
            _add_errors(form, refused)
        else:
            messages.success(request, _("String %(string)s is set.") % {"string": row.string}, extra_tags="rotation")
            return redirect(_next_gap(row))
    status = 422 if form.errors else 200
    return render(request, "dealer_ui/pit/rotation_set.html", {"form": form, "current": current}, status=status)


def _add_errors(form: StringForm, refused: Refused) -> None:
    faults = refused.facts.get("fields") or {"": refused.sentence}
    for name, sentence in faults.items():
        field = "first_push" if name == "push_at" else name
        form.add_error(field if field in form.fields else None, sentence)


def _dealing() -> dict[str, str]:
    """The user name of the dealer at each table where a dealer is signed in."""
    tables = list(Table.objects.in_use().select_related("book"))
    states = table_state.at_all([table_state.head_of(table) for table in tables])
    dealers = {table.name: states[table.book_id].dealer for table in tables}
    return {name: dealer.username for name, dealer in dealers.items() if dealer}
