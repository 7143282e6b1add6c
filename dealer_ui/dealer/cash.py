"""Cash and colour changes at the table: the amounts, a confirmation, and the undoing of a change or a sale.

Nothing is entered before the confirmation was shown: Enter in the amount shows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid4

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from dealer_ui.dealer.forms import DealerKeyForm
from dealer_ui.dealer.views import why_gone
from dealer_ui.denomination_form import CountForm
from dealer_ui.entry_forms import TypedAmountField
from dealer_ui.guards import dealers, gone
from dealer_ui.numbers import number
from ledger.proof.chips import money
from tables.board.descriptions import Chips as Pile
from tables.floor import recorder
from tables.floor.cash import chips_entry, kinds_at
from tables.floor.inputs import ChangeChips, Input, SellChips, UndoSale
from tables.form_fields import InputForm
from tables.games.catalog import GAMES
from tables.log.entries.chips import ChipsChanged, ChipsSold, SaleUndone
from tables.log.game_kinds import kind_of
from tables.log.message import text_of
from tables.log.pieces import handed_out
from tables.log.slip_types import CASH, Chips, total
from tables.log.state import TableState
from tables.models import Denomination, Staff, Table
from tables.refusals import Refused
from tables.setup import cash_policies
from tables.staff import terminals
from tables.state import table_state as standings

_LEAST_NOTE_CENTS: Final = 500
NOTES: Final = tuple(value for value in CASH if value >= _LEAST_NOTE_CENTS)
_GIVEN, _HANDED = "n", "c"
"""Prefixes of the fields for what the player gives, and for the chips handed out."""


@dataclass(frozen=True, slots=True)
class CashAction:
    """One thing that the sheet does."""

    name: str
    label: str
    given: str
    """The word for what the player gives."""
    smaller: bool = False
    """Whether smaller chips are handed out than the fewest that make the amount."""


SALE: Final = CashAction("sale", "Cash for chips", "Cash")
UP: Final = CashAction("up", "Colour up", "Chips")
SMALLER: Final = CashAction("smaller", "Into smaller", "Chips", smaller=True)
WAYS: Final = (SALE, UP, SMALLER)


class CashForm(InputForm):
    """The kind of exchange, its amount and the button that was pressed."""

    code = "bad_amount"
    way = forms.CharField(required=False)
    amount = TypedAmountField()
    step = forms.CharField(required=False)
    out = forms.CharField(required=False)
    undo = forms.CharField(required=False)


@dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange as typed so far: what the player gives, and what the dealer hands out."""

    way: CashAction
    amount_cents: int
    given: Chips
    """Banknotes or chips received, if entered."""
    handed: Chips

    @property
    def entered(self) -> Input:
        """The input of this exchange."""
        if self.way is SALE:
            return SellChips(self.amount_cents, chips=self.handed)
        return ChangeChips(self.amount_cents, up=self.way is UP, takes=self.given, gives=self.handed)

    @property
    def shows_given(self) -> str:
        """The notes or chips that the player gives, as text: 4 × 100, 2 × 50."""
        return ", ".join(f"{count} × {money(value)}" for value, count in self.given)


@dataclass(frozen=True, slots=True)
class Receipt:
    """An entry that was just made, and how it is taken back."""

    seq: int
    says: str
    key: UUID
    """For taking it back."""
    piles: tuple[Pile, ...]
    hands: str
    """The verb for the chips that the dealer hands out."""
    undo: str
    """Label of the button that undoes it; empty where nothing does."""


@dealers
@require_http_methods(["GET", "POST"])
def cash(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """The amounts of an exchange; then its confirmation; then, once entered, the chips to hand out."""
    table = get_object_or_404(Table.objects.select_related("book").prefetch_related("denominations"), pk=pk)
    state = standings.of(table)
    if not state.is_dealt_by(viewer.username):
        return gone(request, why_gone(table, state))
    if request.method == "GET" and "entry" in request.GET:
        receipt = _receipt(table, state, number(request.GET.get("entry")))
        return render(request, "dealer_ui/dealer/cash.html", {"table": table, "receipt": receipt})
    refused, exchange = None, None
    if request.method == "POST":
        try:
            form = CashForm(request.POST)
            if undone := form["undo"].value():
                return _undo(request, viewer, table, number(undone))
            exchange = _exchange(request, table)
            if form["step"].value() == "confirm":
                return _enter(request, viewer, table, exchange.entered)
        except Refused as refusal:
            refused = refusal
    context = _context(request, table, exchange, refused)
    return render(request, "dealer_ui/dealer/cash.html", context, status=refused.status if refused else 200)


def _context(request: HttpRequest, table: Table, exchange: Exchange | None, refused: Refused | None) -> dict[str, Any]:
    form, key = CashForm(request.POST), DealerKeyForm(request.POST)
    way, kinds = _way(request, table), list(table.denominations.all())
    preview = exchange if form["step"].value() != "edit" else None
    return {
        "table": table,
        "ways": _ways(table),
        "way": way,
        "kinds": kinds,
        "currency": cash_policies.currency(),
        "amount": form["amount"].value() or "",
        "given": CountForm(request.POST, kinds, NOTES if way is SALE else (), _GIVEN),
        "exchange": preview,
        "handed": CountForm(None, kinds, prefix=_HANDED, initial=dict(preview.handed)) if preview else (),
        "piles": _piles(kinds, exchange.handed) if exchange else (),
        # A form that was refused keeps its key: if it was entered after all, it is not entered twice.
        "key": key.cleaned_data["key"] if refused and preview and key.is_valid() else uuid4(),
        "refused": refused,
        "sale": None if preview else _newest_sale(table),
    }


def _way(request: HttpRequest, table: Table) -> CashAction:
    name = CashForm(request.POST)["way"].value() or request.GET.get("way")
    ways = _ways(table)
    return next((way for way in ways if way.name == name), ways[0])


def _ways(table: Table) -> list[CashAction]:
    """The actions at a table. In a game for a pot, cash buys in at a seat instead."""
    return [way for way in WAYS if way is not SALE or kind_of(GAMES[table.game]).sells_chips]


def _exchange(request: HttpRequest, table: Table) -> Exchange:
    """The exchange from a form. Raises Refused."""
    form, kinds = CashForm(request.POST), list(table.denominations.all())
    way = next((way for way in WAYS if way.name == form["way"].value()), None)
    if way is None:
        raise Refused("bad_input", "Say what it is: cash for chips, or chips for others.", 400)
    received = CountForm(request.POST, kinds, NOTES if way is SALE else (), _GIVEN).chips()
    amount, out = _amount(form, received), form["out"].value()
    handed = () if out else CountForm(request.POST, kinds, prefix=_HANDED).chips()
    smaller = out == "smaller" if out else way.smaller
    return Exchange(way, amount, received, handed or handed_out(amount, kinds_at(table), smaller=smaller))


def _amount(form: CashForm, received: Chips) -> int:
    """The amount, or what was counted of notes or chips. Raises Refused if the two differ."""
    form.fields["amount"].required = not received
    amount, counted = form.values()["amount"], total(received)
    if received and amount not in (None, counted):
        message = f"What was counted comes to {money(counted)}, the amount is {money(amount)}: correct one of them."
        raise Refused("bad_amount", message, 422)
    return counted if received else int(amount)


def _piles(kinds: Iterable[Denomination], chips: Chips) -> tuple[Pile, ...]:
    colours = {chip.value_cents: chip.colour for chip in kinds}
    return tuple(Pile(count, colours.get(value, money(value)), value) for value, count in chips)


def _enter(request: HttpRequest, viewer: Staff, table: Table, entered: Input) -> HttpResponse:
    """Record the exchange, and show the chips to hand out. Raises Refused."""
    terminals.for_dealing(request, table)
    answer = recorder.record(
        table, entered, by=viewer, key=DealerKeyForm(request.POST).values()["key"], expected_seq=None
    )
    return redirect(f"{reverse('dealer:cash', args=[table.pk])}?entry={answer.entry}")


# --- What was entered ------------------------------------------------------------------------------------------


Entered = ChipsSold | SaleUndone | ChipsChanged


def _event(table: Table, seq: int | None) -> Entered:
    event = chips_entry(table.book_id, seq or 0)
    if not isinstance(event, Entered):
        raise Http404("There is no such entry.")
    return event


def _receipt(table: Table, state: TableState, seq: int | None) -> Receipt:
    event = _event(table, seq)
    return Receipt(
        seq=seq or 0,
        says=text_of(event.description()),
        key=uuid4(),
        piles=_piles(table.denominations.all(), event.gives if isinstance(event, ChipsChanged) else event.chips),
        hands="Back into the rack:" if isinstance(event, SaleUndone) else "Hand out",
        undo=_undo_label(event, is_newest=state.seq == seq),
    )


def _undo_label(event: Entered, *, is_newest: bool) -> str:
    """A change has an opposite at any time; a sale is undone before anything comes after it."""
    if isinstance(event, ChipsChanged):
        return "Take it back"
    return f"Undo the sale of {money(event.amount_cents)}" if isinstance(event, ChipsSold) and is_newest else ""


def _newest_sale(table: Table) -> Receipt | None:
    """The sale that can be undone now, if there is one."""
    state = standings.of(table)
    is_sale = isinstance(chips_entry(table.book_id, state.seq), ChipsSold)
    return _receipt(table, state, state.seq) if is_sale else None


def _undo(request: HttpRequest, viewer: Staff, table: Table, seq: int | None) -> HttpResponse:
    """A change is taken back by the opposite one, a sale by its own undoing. Raises Refused."""
    event = _event(table, seq)
    if isinstance(event, SaleUndone):
        raise Http404("What was undone is entered anew.")
    if isinstance(event, ChipsSold):
        return _enter(request, viewer, table, UndoSale(seq or 0))
    back = ChangeChips(event.amount_cents, up=not event.up, takes=event.gives, gives=event.takes)
    return _enter(request, viewer, table, back)
