"""The reopening of a settled round: a page with the chips that return, and the payments to be made again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dealer_ui import signatures
from dealer_ui.dealer.forms import DealerEntryForm
from dealer_ui.dealer.irregularities import here
from dealer_ui.guards import dealers
from ledger import cage
from tables.board import secrecy
from tables.floor import recorder, rounds
from tables.floor.inputs import ReopenRound, TakeBack
from tables.games.cards import pack_of
from tables.log.entries import rounds as log
from tables.log.message import text_of
from tables.log.state import Round, TableState
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.staff import terminals
from tables.state import table_state as standings


@dataclass(frozen=True, slots=True)
class SettledSeat:
    """A seat that the input had decided."""

    seat: int
    net_cents: int
    is_paid: bool
    """Whether the seat has been paid or taken already."""


@dealers
@require_http_methods(["GET", "POST"])
def reopen(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """The consequences of reopening the settled round, and the form that does it."""
    table, state = here(viewer, pk)
    refused = None
    if request.method == "POST":
        try:
            terminals.for_dealing(request, table)
            _reopen(request, viewer, table)
            return redirect("dealer:screen", pk)
        except Refused as refusal:
            refused, state = refusal, standings.of(table)
    context = {"table": table, "standing": state, "refused": refused, "key": uuid4()} | _drawn(table, state)
    context |= {"is_signed": not rounds.reopens_alone(), "badge": signatures.typed_badge(request)}
    return render(request, "dealer_ui/dealer/reopen.html", context, status=refused.status if refused else 200)


def _reopen(request: HttpRequest, viewer: Staff, table: Table) -> None:
    """Reopen the round, with a supervisor's approval by badge and PIN where the policy of the site requires it. Raises
    Refused."""
    key, seq = DealerEntryForm(request.POST).key_and_seq()

    def record(entered: TakeBack | ReopenRound) -> None:
        recorder.record(table, entered, by=viewer, key=key, expected_seq=seq)

    if rounds.reopens_alone():
        record(TakeBack(reopens=True))
    else:
        signatures.sign(request, lambda boss: record(ReopenRound(boss.username)))


def _drawn(table: Table, state: TableState) -> dict[str, Any]:
    current = state.round
    if current is None or not current.plays or not current.over or current.voided:
        return {"round": None}
    moved = cage.transfers_of(table.book_id, [current.plays[-1].seq])
    return {
        "round": current,
        "latest": text_of(log.clauses_of(secrecy.latest(current)), pack_of(current.opening.dealt)),
        "lines": _lines(current),
        "transfers": len(moved),
        "moved_cents": sum(transfer.move.amount_cents for transfer in moved),
    }


def _lines(current: Round) -> list[SettledSeat]:
    waiting = {payout.seat for payout in current.to_pay}
    decided = map(current.in_cents, current.plays[-1].decided)
    return [SettledSeat(payout.seat, payout.net_cents, payout.seat not in waiting) for payout in decided]
