"""Slips on screen: those to be signed, a new one, one on its paper. Every signature is a badge and a PIN."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec
from uuid import UUID, uuid4

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from dealer_ui import exports, signatures
from dealer_ui.numbers import number
from ledger.proof.chips import money
from tables import dealing
from tables.day import hours
from tables.inputs import BeginSlip, SignSlip, SlipInput, VoidSlip
from tables.log import paper
from tables.models import Denomination, Staff, Table
from tables.play import doors
from tables.refusals import Refused
from tables.roles import Role
from tables.slips import cage_desk, signing, slip_book
from tables.slips.slip_book import SEEN_BY, Told

Rest = ParamSpec("Rest")

TITLES: Final = {
    "opener": "Opener",
    "closer": "Closer",
    "rack": "Rack count",
    "fill": "Fill",
    "credit": "Credit",
    "drop": "Drop box",
    "withdrawal": "From the vault",
    "deposit": "Into the vault",
    "cage": "Cage count",
}
ASKS: Final = {
    "opener": "Count the rack. The table opens when a dealer and a pit boss have counted the same.",
    "closer": "Count the rack. The table closes when a dealer and a pit boss have counted the same.",
    "rack": "Count the rack between two rounds: a dealer and a pit boss, each for themselves.",
    "fill": "Chips from the cage to the rack.",
    "credit": "Chips from the rack to the cage.",
    "drop": "The box leaves the table; two people take it to the count, who did not work here in this shift.",
    "withdrawal": "Chips from the vault to the cage.",
    "deposit": "Chips from the cage into the vault.",
    "cage": "Count the chips in the cage: two people, each for themselves.",
}
CASH: Final = tuple(sorted(signing.CASH, reverse=True))
"""What a count of a box asks for: every note and coin that may lie in one."""
COINS_BELOW: Final = 100


def on_paper(
    view: Callable[Concatenate[HttpRequest, Staff, Rest], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """For those who have to do with slips."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponseBase:
        viewer = request.user
        if not isinstance(viewer, Staff) or not viewer.is_active:
            return redirect_to_login(request.get_full_path())
        return view(request, viewer, *args, **kwargs)

    return guarded


def _here(viewer: Staff) -> Table | None:
    return doors.table_of(viewer) if viewer.role == Role.DEALER else None


def _permit(viewer: Staff, series: str, table: Table | None) -> None:
    if series not in paper.STAGES:
        raise Http404("There is no such slip.")
    if not slip_book.may_see(viewer, series, table, _here(viewer)):
        raise PermissionDenied


# --- The list --------------------------------------------------------------------------------------------------


@on_paper
@require_GET
def book(request: HttpRequest, viewer: Staff) -> HttpResponse:
    """What is to be signed, and the latest slips."""
    here = _here(viewer)
    if viewer.role == Role.DEALER and here is None:
        raise PermissionDenied
    series, before = sorted(SEEN_BY[Role(viewer.role)]), number(request.GET.get("before"))
    page = [] if here else slip_book.recent(series, before)
    context = {
        "waiting": slip_book.in_progress(viewer, here),
        "page": [told for _, told in page],
        "older": page[-1][0] if len(page) == slip_book.PAGE else None,
        "paged": before is not None,
        "boxes": Table.objects.all() if viewer.role == Role.SECURITY else (),
        "here": here,
        "titles": TITLES,
    }
    return render(request, "dealer_ui/slips/book.html", context)


_HEADER: Final = ("slip", "table", "amount_cents", "state", "step", "signed_by", "role", "at", "hash")


@on_paper
@require_GET
def book_csv(request: HttpRequest, viewer: Staff) -> HttpResponseBase:
    """Every slip as CSV: a row for each signature."""
    if viewer.role == Role.DEALER:
        raise PermissionDenied
    return exports.answer(request, "slips", _HEADER, _pages(sorted(SEEN_BY[Role(viewer.role)])))


def _pages(series: Iterable[str]) -> Iterator[list[tuple[Any, ...]]]:
    before = None
    while page := slip_book.recent(series, before):
        yield [row for _, told in page for row in _rows(told)]
        before = page[-1][0]


def _rows(told: Told) -> list[tuple[Any, ...]]:
    about = (told.slip.name, told.where, told.slip.total_cents, told.state)
    signed = [(line, line.by) for line in told.lines if line.by]
    return [(*about, line.stage.name, by.name, by.role, line.at, line.hash) for line, by in signed]


# --- One -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """One kind of chip or note to be counted, and what was typed for it."""

    value_cents: int
    chip: Denomination | None
    typed: str

    @property
    def is_coin(self) -> bool:
        """Coins are rare in a box: they are asked for after the notes."""
        return self.chip is None and self.value_cents < COINS_BELOW

    @property
    def field(self) -> str:
        """The name of its field."""
        return f"n{self.value_cents}"


@on_paper
@sensitive_post_parameters("pin")
@require_http_methods(["GET", "POST"])
def begin(request: HttpRequest, viewer: Staff, pk: int, series: str) -> HttpResponse:
    """A new slip: what it is about, and its first signature."""
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk) if pk else None
    _permit(viewer, series, table)
    refused = None
    if request.method == "POST":
        try:
            chips = _chips(request, table, series)
            box = request.POST.get("box", "").strip()
            answer = _enter(request, table, BeginSlip(series, chips, box))
            return redirect(answer)
        except Refused as refusal:
            refused = refusal
    context = {
        "table": table,
        "series": series,
        "title": TITLES[series],
        "asks": ASKS[series],
        "stage": paper.STAGES[series][0],
        "asked": () if series == "drop" else _asked(request, table, series),
        "needs_box": series == "drop",
        "where": table.name if table else "Cage",
        "kinds": _denominations(table),
        "box": request.POST.get("box", ""),
        "badge": request.POST.get("badge", ""),
        "key": uuid4(),
        "refused": refused,
    }
    return render(request, "dealer_ui/slips/begin.html", context, status=refused.status if refused else 200)


@on_paper
@sensitive_post_parameters("pin")
@require_http_methods(["GET", "POST"])
def slip(request: HttpRequest, viewer: Staff, pk: int, series: str, year: int, number: int) -> HttpResponse:
    """A slip on its paper, with the step that is to be signed next."""
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk) if pk else None
    _permit(viewer, series, table)
    name, refused = f"{series}/{year}/{number}", None
    if request.method == "POST":
        try:
            return redirect(_enter(request, table, _signed(request, table, series, name)))
        except Refused as refusal:
            refused = refusal
    told = slip_book.one(table, name)
    if told is None:
        raise Http404("There is no such slip.")
    due = told.slip.due
    counts = due is not None and due.name.startswith(("counted", "recounted"))
    context = {
        "told": told,
        "table": table,
        "slip": told.slip,
        "begun": _begun(told),
        "title": TITLES[series],
        "kinds": _denominations(table),
        "due": due,
        "asked": _asked(request, table, series) if counts else (),
        "voidable": series in paper.VOIDABLE and "void_asked" not in told.slip.stages,
        "voiding": refused is not None and request.POST.get("void") == "on",
        "badge": request.POST.get("badge", ""),
        "reason": request.POST.get("reason", ""),
        "key": uuid4(),
        "refused": refused,
    }
    return render(request, "dealer_ui/slips/slip.html", context, status=refused.status if refused else 200)


@dataclass(frozen=True, slots=True)
class Begun:
    """When a slip was begun, by the house's own calendar."""

    day: date
    shift: str


def _begun(told: Told) -> Begun | None:
    at = told.lines[0].at
    if at is None:
        return None
    calendar = hours.calendar()
    return Begun(calendar.day_of(at), calendar.shift_of(at).name)


def _signed(request: HttpRequest, table: Table | None, series: str, name: str) -> SlipInput:
    """The signature that a form sends: a void, or the step that was due when it was drawn."""
    if request.POST.get("void") == "on":
        return VoidSlip(name, request.POST.get("reason", ""))
    stage = request.POST.get("stage", "")
    counts = stage.startswith(("counted", "recounted"))
    return SignSlip(name, stage, _chips(request, table, series) if counts else ())


def _enter(request: HttpRequest, table: Table | None, entered: SlipInput) -> str:
    """Record a signature, and say where to go on. Raises Refused."""
    try:
        key = UUID(request.POST.get("key", ""))
    except ValueError:
        raise Refused("bad_form", "This form was incomplete: look at the slip, then sign again.", 400) from None
    by, name = signatures.sign(request, lambda by: _recorded(table, entered, by, key))
    series, year, number = name.split("/")
    messages.success(request, f"{TITLES[series]} {number} is signed by {by.name}.")
    return reverse("slips:slip", args=[table.pk if table else 0, series, year, number])


def _recorded(table: Table | None, entered: SlipInput, by: Staff, key: UUID) -> str:
    """The slip's name."""
    if table is not None:
        return signing.name_at(table.book_id, dealing.record(table, entered, by=by, key=key, expected_seq=None).entry)
    if isinstance(entered, VoidSlip):
        raise Refused("not_voidable", "A slip of the cage is not made void: move the chips back with another.", 409)
    return cage_desk.sign(entered, by=by, key=key)


def _asked(request: HttpRequest, table: Table | None, series: str) -> list[Asked]:
    """Every chip of the table, or the notes of a box, the largest first."""
    chips = {} if series == "drop" else {one.value_cents: one for one in _denominations(table)}
    values = sorted(chips, reverse=True) if series != "drop" else CASH
    return [Asked(value, chips.get(value), request.POST.get(f"n{value}", "")) for value in values]


def _denominations(table: Table | None) -> Iterable[Denomination]:
    return table.denominations.all() if table else Denomination.objects.all()


def _chips(request: HttpRequest, table: Table | None, series: str) -> paper.Chips:
    """What was typed for each kind. Raises Refused for what is no count."""
    found = []
    for one in _asked(request, table, series):
        count = number(one.typed) if one.typed.strip() else 0
        if count is None:
            raise Refused("bad_count", f"How many of {money(one.value_cents)}? Type digits only.", 422)
        found.append((one.value_cents, count))
    return paper.as_chips(found)
