"""What moves chips at a table, without a database: a round's payouts, a game's payments, what seats buy and pay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from ledger.proof.chips import BANK, CAGE, CASH, DROP_BOX, LAYOUT, OVER_SHORT, PLAYERS, POT, RACK, SEAT
from ledger.proof.moves import Chart, Move
from tables.games.felt import Payment, Payout
from tables.games.game import PotGame
from tables.log.fold import Round

PERIOD: Final = timedelta(minutes=30)
"""A seat pays the table's time charge once for each."""


# --- a round ---------------------------------------------------------------------------------------------------


def chips_moved(chart: Chart, before: Round, state: Any) -> list[Move]:
    """What an input moved that led from a round to a state: the whole settlement with a round's last card; in a game
    for a pot, every payment as it is made."""
    if isinstance(before.game, PotGame):
        payments = before.game.payments(state)[len(before.payments) :]
        return game_moves(chart, payments, before.coin_cents)
    return [] if before.game.prompts(state) else settlement(chart, before.game.settle(state))


def settlement(chart: Chart, payouts: Sequence[Payout]) -> list[Move]:
    """A round in chips: each stake to the layout; from there losses to the rack, the rest back to the players;
    winnings from the rack."""
    moves: list[Move] = []
    for payout in payouts:
        layout = (LAYOUT, payout.seat)
        kept = min(payout.staked_cents, payout.returned_cents)
        moves.append(chart.move("stake", PLAYERS, layout, payout.staked_cents))
        if payout.net_cents < 0:
            moves.append(chart.move("loss", layout, RACK, -payout.net_cents))
        if payout.net_cents > 0:
            moves.append(chart.move("win", RACK, PLAYERS, payout.net_cents))
        if kept:
            moves.append(chart.move("return", layout, PLAYERS, kept))
    return moves


def correction_moves(chart: Chart, difference_cents: int, off_cents: int) -> list[Move]:
    """A correction in chips: first what the mispay left in the rack (or took from it), where no count has taken that
    over; then the difference that changes hands."""
    moves: list[Move] = []
    if off_cents > 0:
        moves.append(chart.move("over", OVER_SHORT, RACK, off_cents))
    elif off_cents < 0:
        moves.append(chart.move("short", RACK, OVER_SHORT, -off_cents))
    if difference_cents > 0:
        moves.append(chart.move("correct_pay", RACK, PLAYERS, difference_cents))
    elif difference_cents < 0:
        moves.append(chart.move("correct_take", PLAYERS, RACK, -difference_cents))
    return moves


def game_moves(chart: Chart, payments: Iterable[Payment], coin_cents: int) -> list[Move]:
    """A game's payments as transfers, one each and in order."""
    return [_move(chart, one, coin_cents) for one in payments]


def _move(chart: Chart, payment: Payment, coin_cents: int) -> Move:
    sources, targets = {"win_pot": POT, "rake": POT}, {"pay_pot": POT, "rake": RACK}
    source = sources.get(payment.kind, (SEAT, payment.payer))
    target = targets.get(payment.kind, (SEAT, payment.payee))
    return chart.move(payment.kind, source, target, payment.coins * coin_cents)


def sold(chart: Chart, amount_cents: int) -> list[Move]:
    """Chips for cash at a table: the chips to the player, the cash into the drop box."""
    return [chart.move("buy_in", RACK, PLAYERS, amount_cents), chart.move("drop", CASH, DROP_BOX, amount_cents)]


def at_the_counter(chart: Chart, kind: str, amount_cents: int) -> list[Move]:
    """Chips sold for cash at the cage, or redeemed there."""
    if kind == "sold":
        return [chart.move("sale", CAGE, PLAYERS, amount_cents), chart.move("cash_in", CASH, BANK, amount_cents)]
    return [chart.move("redeem", PLAYERS, CAGE, amount_cents), chart.move("cash_out", BANK, CASH, amount_cents)]


# --- chips at the seats of a table with a pot ------------------------------------------------------------------


def stacks_after(stacks: Mapping[int, int], kind: str, facts: Mapping[str, Any]) -> dict[int, int]:
    """The chips at each seat after an entry about them; seats without any are left out."""
    after = dict(stacks)
    if kind == "buy_in":
        after[facts["seat"]] = after.get(facts["seat"], 0) + facts["amount_cents"]
    elif kind == "cash_out":
        after[facts["seat"]] = after[facts["seat"]] - facts["amount_cents"]
    else:
        for seat, cents in _charges(stacks, facts):
            after[seat] -= cents
    return {seat: cents for seat, cents in after.items() if cents}


def charged_after(
    charged_at: str | None, kind: str, facts: Mapping[str, Any], stacks: Mapping[int, int], now: str | None
) -> str | None:
    """Until when time is paid: it runs from the first buy-in at an empty table, and ends when all have left."""
    if not stacks:
        return None
    if charged_at is None:
        return now
    if kind != "time_charge":
        return charged_at
    return (datetime.fromisoformat(charged_at) + facts["periods"] * PERIOD).isoformat()


def seat_moves(chart: Chart, stacks: Mapping[int, int], kind: str, facts: Mapping[str, Any]) -> list[Move]:
    """The transfers of an entry about the seats' chips."""
    if kind == "time_charge":
        return [chart.move("time_charge", (SEAT, seat), RACK, cents) for seat, cents in _charges(stacks, facts)]
    place, amount = (SEAT, facts["seat"]), facts["amount_cents"]
    if kind == "cash_out":
        return [chart.move("stand_up", place, PLAYERS, amount)]
    bought = sold(chart, amount) if facts["cash"] else []
    return [*bought, chart.move("sit_down", PLAYERS, place, amount)]


def _charges(stacks: Mapping[int, int], facts: Mapping[str, Any]) -> list[tuple[int, int]]:
    due = facts["periods"] * facts["each_cents"]
    return [(seat, min(due, cents)) for seat, cents in sorted(stacks.items()) if cents]
