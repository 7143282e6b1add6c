"""The dealer's screen: the board of the table where they are signed in, and its inputs. No other table is accessible.

Every input is a form with the idempotency key of its rendering and the sequence number that it was drawn from. The
answer is the whole board, drawn again. Without JavaScript the same forms work as plain pages.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from dealer_ui import acknowledgement
from dealer_ui.dealer.board_context import DealerScreen, reader_line
from dealer_ui.dealer.forms import BetForm, BuyInForm, DealerEntryForm, SpotForm
from dealer_ui.guards import by_script, dealers, gone
from ledger.proof.chips import money
from tables.alerts import pit_calls
from tables.board.buttons import entries_of
from tables.board.table_view import board
from tables.floor import recorder
from tables.floor.cash import kinds_at
from tables.floor.inputs import BuyIn, CashOut, CheckDecks, Input, ReadDecks, StartGame, read
from tables.games.protocol import Bet
from tables.log.pieces import handed_out
from tables.log.state import TableState
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.rotation.next_push import next_push
from tables.staff import terminals
from tables.state import table_state as standings

_CALL = "pit_call"
"""Where a session keeps the call that its dealer made."""


@dealers
@require_GET
def dealer_screen(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """The whole page."""
    return draw(request, viewer, pk)


@dealers
@require_GET
def fragment(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """The board alone, as an open page fetches it when its table has moved."""
    return draw(request, viewer, pk, whole=False)


@dealers
@require_GET
def reader(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """The state of the table's card reader, in one sentence."""
    table = get_object_or_404(Table, pk=pk)
    state = standings.at(standings.head_of(table))
    deals = state.is_dealt_by(viewer.username)
    if not deals or state.reader is None:
        raise Http404("There is no card reader.")
    context = {"table": table, "line": reader_line(state.reader)}
    return render(request, "dealer_ui/dealer/_reader.html", context)


@dealers
@require_GET
def rotation(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """The next push for the dealer of the table, in one line."""
    table = get_object_or_404(Table, pk=pk)
    if not standings.at(standings.head_of(table)).is_dealt_by(viewer.username):
        raise Http404("There is no push to see.")
    context = {"table": table, "next_push": next_push(table.name, viewer.username)}
    return render(request, "dealer_ui/dealer/_next_push.html", context)


@dealers
@require_POST
def enter(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """Record one input and draw the board again; a refusal is shown with its sentence and the current board."""
    refused = after = entered = None
    try:
        key, seq = DealerEntryForm(request.POST).key_and_seq()
        table, entered = _table(pk), _entered(request.POST)
        terminals.for_dealing(request, table)
        receipt = acknowledgement.receipt_of(request, table.book_id)
        after = recorder.record(table, entered, by=viewer, key=key, expected_seq=seq, receipt=receipt).after
    except Refused as refusal:
        refused = refusal
    if refused is None and not by_script(request):
        return redirect("dealer:screen", pk)
    recorded = None if refused else entered
    return draw(request, viewer, pk, after=after, refused=refused, done=recorded, whole=not by_script(request))


def _table(pk: int) -> Table:
    """A table with the columns that record() needs; the rest is read under its lock.

    Another column, such as the name in the note of a refusal, is loaded on access.
    """
    try:
        return Table.from_db(DEFAULT_DB_ALIAS, ["id", "book_id"], [pk, _book_of(pk)])
    except Table.DoesNotExist:
        raise Http404("There is no such table.") from None


@lru_cache(maxsize=10_000)
def _book_of(pk: int) -> int:
    """The log of a table, cached: a table keeps its log, and none is deleted."""
    return Table.objects.values_list("book_id", flat=True).get(pk=pk)


@dealers
@require_POST
def call(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """The pit is called to the table."""
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    state = standings.of(table)
    if state.is_dealt_by(viewer.username):
        called = pit_calls.call_pit(table, state, viewer)
        request.session[_CALL] = {"table": pk, "alert": called.alert, "round": state.next_number}
    return draw(request, viewer, pk, whole=False) if by_script(request) else redirect("dealer:screen", pk)


def _called(request: HttpRequest, pk: int, state: TableState) -> pit_calls.PitCall | None:
    """The call for the pit made here: until it is answered, and then for the rest of the round."""
    memo = request.session.get(_CALL)
    if memo is None or memo["table"] != pk:
        return None
    called = pit_calls.call_of(memo["alert"])
    if called is None or (called.comes and memo["round"] != state.next_number):
        del request.session[_CALL]
        return None
    return called


def _reopens(table: Table, state: TableState, viewer: Staff) -> str:
    """The label of the button that reopens the settled round; empty where no round can be reopened."""
    current = state.round
    if current is None or not current.over or not entries_of(table, state, viewer).can_reopen():
        return ""
    return f"Reopen round {current.number}"


def draw(
    request: HttpRequest,
    viewer: Staff,
    pk: int,
    *,
    after: recorder.StateAfter | None = None,
    refused: Refused | None = None,
    done: Input | None = None,
    whole: bool = True,
) -> HttpResponse:
    """The board after an input, or its current state without one.

    If another screen has entered something since, the live stream notifies this one.
    """
    if after is None:
        table = acknowledgement.heed(request, get_object_or_404(Table.objects.select_related("book"), pk=pk), viewer)
        state = standings.at(standings.head_of(table))
        prefetch_related_objects([table], "denominations")
    else:
        table, state = after.table, after.state
    if not state.is_dealt_by(viewer.username):
        return gone(request, why_gone(table, state))
    try:
        terminals.for_dealing(request, table)
    except Refused as elsewhere:
        return gone(request, elsewhere)
    picture = board(table, viewer, state)
    context = {
        "screen": DealerScreen(
            picture, state, typed=request.POST.dict(), refused=refused, reopens=_reopens(table, state, viewer)
        ),
        "board": picture,
        "table": table,
        "refused": refused,
        "hand_out": _hand_out(table, done),
        "called": _called(request, pk, state),
        # The answer to an input does not read the line-ups: the screen keeps its line, which reads itself each minute.
        "keeps_push": request.method != "GET",
        "next_push": next_push(table.name, viewer.username) if request.method == "GET" else None,
    }
    name = "dealer_ui/dealer/table.html" if whole else "dealer_ui/dealer/_board.html"
    response = render(request, name, context, status=refused.status if refused else 200)
    acknowledgement.keep(request, response, table, state, done)
    return response


def _hand_out(table: Table, recorded: Input | None) -> str:
    """Which chips go to the player for what was just entered, as its entry has them."""
    if not isinstance(recorded, BuyIn) or recorded.chips:
        return ""
    kinds = kinds_at(table)
    chips = handed_out(recorded.amount_cents, kinds)
    names = {chip.value_cents: chip.name for chip in kinds}
    message = " ".join(f"{count} {names[value]}" for value, count in chips)
    return f"Hand out {message}: {money(recorded.amount_cents)}" if chips else ""


# --- Who is not at the table -----------------------------------------------------------------------------------


def why_gone(table: Table, standing: TableState) -> Refused:
    if not standing.is_open:
        return Refused("table_closed", f"{table.name} is closed.", 403)
    if standing.dealer is None:
        return Refused("no_dealer", f"Nobody deals at {table.name} now: sign in there to deal.", 403)
    return Refused("not_your_table", f"{standing.dealer.name} deals at {table.name} now.", 403)


# --- Reading what a form sent ----------------------------------------------------------------------------------


def _entered(form: QueryDict) -> Input:
    """The input of a form: a button's, a typed amount, the seats dealt in, or a deck check. Raises Refused."""
    if "input" in form:
        return read(form.get("input", ""))
    if "deal" in form:
        return StartGame(tuple(map(_number, form.getlist("plays"))) or _nobody())
    if form.get("do") == "buy_in":
        return CashOut(_seat(form)) if "off" in form else _buy_in(form)
    if "spot" in form:
        return _on_spot(form)
    if "amount" in form:
        return Bet(_seat(form), 0 if "off" in form else BetForm(form).values()["amount"])
    if "cards" in form:
        return ReadDecks(tuple(form.get("cards", "").split()))
    if "count1" in form:
        columns = sum(name.startswith("count") for name in form)
        return CheckDecks(tuple(_count(form, column) for column in range(1, columns + 1)))
    raise Refused("bad_input", "Nothing was entered.", 400)


def _on_spot(form: QueryDict) -> Bet:
    """A bet of the amount on a wager of a seat; without an amount, the bet there is removed."""
    seat, _, wager = form.get("spot", "").partition(":")
    return Bet(_number(seat), SpotForm(form).values()["amount"] or 0, wager)


def _buy_in(form: QueryDict) -> BuyIn:
    return BuyIn(_seat(form), BuyInForm(form).values()["amount"], chips="chips" in form, as_shown=True)


def _nobody() -> tuple[int, ...]:
    raise Refused("bad_seats", "Nobody is dealt in: choose who plays.", 422)


def _seat(form: QueryDict) -> int:
    typed = form.get("seat", "")
    if not typed:
        raise Refused("bad_input", "Choose a seat first, then the amount.", 422)
    return _number(typed)


def _number(typed: str) -> int:
    if not (typed.isascii() and typed.isdecimal() and len(typed) < 9):
        raise Refused("bad_input", "A seat is a number.", 422)
    return int(typed)


def _count(form: QueryDict, column: int) -> int:
    typed: Any = form.get(f"count{column}", "").strip()
    if not (typed.isascii() and typed.isdecimal() and len(typed) <= 3):
        raise Refused("bad_counts", f"The column of {column}s needs a count, in digits.", 422)
    return int(typed)
