"""What moves chips at a table, without a database: a round's payouts, a game's payments, what is bought."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from ledger.proof.chips import BANK, CAGE, CASH, DROP_BOX, LAYOUT, OVER_SHORT, PLAYERS, POT, RACK, SEAT
from ledger.proof.moves import Chart, Move, Place
from tables.games.protocol import Payment, Payout, Settled

# --- a round ---------------------------------------------------------------------------------------------------


def settlement(chart: Chart, payouts: Sequence[Payout]) -> list[Move]:
    """A round in chips: each stake to the layout; from there losses to the rack, the rest back to the players;
    winnings from the rack."""
    moves: list[Move] = []
    for payout in payouts:
        if payout.wagers:
            moves += [move for wager in payout.wagers for move in _settled(chart, payout.seat, wager)]
            continue
        layout = (LAYOUT, payout.seat)
        returned_cents = min(payout.staked_cents, payout.returned_cents)
        moves.append(chart.move("stake", PLAYERS, layout, payout.staked_cents))
        if payout.net_cents < 0:
            moves.append(chart.move("loss", layout, RACK, -payout.net_cents))
        if payout.net_cents > 0:
            moves.append(chart.move("win", RACK, PLAYERS, payout.net_cents))
        if returned_cents:
            moves.append(chart.move("return", layout, PLAYERS, returned_cents))
    return moves


def _settled(chart: Chart, seat: int, wager: Settled) -> list[Move]:
    """The moves of a wager in chips on its own spot of the layout: winnings are added to the spot, and the rest returns
    to the seat."""
    lost, won = max(-wager.net_cents, 0), max(wager.net_cents, 0)
    moves: list[tuple[str, str | Place, str | Place, int]] = []
    for name, cents in wager.put_up:
        spot, loss_cents = (LAYOUT, (seat, name)), min(lost, cents)
        moves.append(("stake", PLAYERS, spot, cents))
        moves.append(("loss", spot, RACK, loss_cents))
        moves.append(("win", RACK, spot, won))
        moves.append(("return", spot, PLAYERS, cents - loss_cents + won))
        lost, won = lost - loss_cents, 0
    return [chart.move(kind, source, target, cents) for kind, source, target, cents in moves if cents > 0]


def paid_in_full(payout: Payout) -> Payout:
    """A payout as the dealer makes it where commission is marked: winnings without what the house will collect."""
    if not any(wager.commission_cents for wager in payout.wagers):
        return payout
    wagers = tuple(
        structs.replace(wager, returned_cents=wager.returned_cents + wager.commission_cents) for wager in payout.wagers
    )
    returned = sum(wager.returned_cents for wager in wagers)
    outcome = "win" if returned > payout.staked_cents else "lose" if returned < payout.staked_cents else "push"
    return structs.replace(payout, returned_cents=returned, outcome=outcome, wagers=wagers)


def commission_of(payouts: Iterable[Payout]) -> dict[int, int]:
    """The commission on payouts by seat, in cents; seats without any are left out."""
    due = {payout.seat: sum(wager.commission_cents for wager in payout.wagers) for payout in payouts}
    return {seat: cents for seat, cents in due.items() if cents}


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
    return [_move(chart, payment, coin_cents) for payment in payments]


def _move(chart: Chart, payment: Payment, coin_cents: int) -> Move:
    sources, targets = {"win_pot": POT, "rake": POT}, {"pay_pot": POT, "rake": RACK}
    source = sources.get(payment.kind, (SEAT, payment.payer))
    target = targets.get(payment.kind, (SEAT, payment.payee))
    return chart.move(payment.kind, source, target, payment.coins * coin_cents)


def sold(chart: Chart, amount_cents: int, came_back_cents: int = 0) -> list[Move]:
    """Chips for cash at a table: the chips to the player, the cash into the drop box. Before them what lay in the rack
    only because players had lost it, as far as this sale shows it (see ``came_back_cents``)."""
    came_back = [chart.move("table_win", PLAYERS, RACK, came_back_cents)] if came_back_cents else []
    return [
        *came_back,
        chart.move("buy_in", RACK, PLAYERS, amount_cents),
        chart.move("drop", CASH, DROP_BOX, amount_cents),
    ]


def came_back_cents(amount_cents: int, rack_cents: int) -> int:
    """At a table without rounds: what of the chips that are handed out the transfers do not have in the rack. The
    dealer has them in hand, so players lost at least as much there since the rack was counted."""
    return max(amount_cents - max(rack_cents, 0), 0)


def at_the_counter(chart: Chart, kind: str, amount_cents: int) -> list[Move]:
    """Chips sold for cash at the cage, or redeemed there."""
    if kind == "sold":
        return [chart.move("sale", CAGE, PLAYERS, amount_cents), chart.move("cash_in", CASH, BANK, amount_cents)]
    return [chart.move("redeem", PLAYERS, CAGE, amount_cents), chart.move("cash_out", BANK, CASH, amount_cents)]


def collectable_cents(owed_cents: int, unit_cents: int) -> int:
    """What a seat pays of marked commission: whole chips, rounded down in the player's favour."""
    return owed_cents // unit_cents * unit_cents
