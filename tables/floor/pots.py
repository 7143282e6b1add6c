"""Tables with a pot: chips in play at the seats, transfers between them, the rake and the time charge.

Table stakes: a seat plays with the chips in play at the start of the game. Chips are bought, cashed out and charged
between games only. A game reports its payments in coins, one at a time, and each becomes a transfer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import structs

from ledger.proof.chain import Entry
from ledger.proof.chips import money
from tables.floor import permissions, player_pages
from tables.floor.cash import kinds_at
from tables.floor.command_context import CommandContext, Decision, PendingEntry
from tables.floor.handlers import enters, reproduces
from tables.floor.inputs import BuyIn, CashOut, TimeCharge
from tables.log.entries.seats import PERIOD, AtTheSeats, BoughtIn, CashedOut, TimeCharged
from tables.log.event import AuditFailure
from tables.log.pieces import handed_out
from tables.models import Table
from tables.refusals import Refused, sentence
from tables.setup import cash_policies

# --- Seats and their chips, between games ----------------------------------------------------------------------


@enters(BuyIn, permit=permissions.the_dealer)
def buy_in(context: CommandContext, entered: BuyIn) -> Decision:
    """Chips are put in play at a seat: sold from the rack for cash, or brought to the table. Raises Refused."""
    cash_policies.refuse_foreign(entered.currency)
    # Table stakes: chips added during a game could be bet by a player who has seen the cards.
    stacks, (least, most) = between_games(context), (context.limits.min_cents, context.limits.max_cents)
    seat, amount, unit = entered.seat, entered.amount_cents, context.table.unit_cents
    if not 1 <= seat <= context.table.seats:
        raise Refused("unknown_seat", f"There is no seat {seat}: {context.table.name} has {context.table.seats}.", 422)
    if amount <= 0 or amount % unit:
        raise Refused("bad_amount", f"A buy-in is a multiple of {money(unit)}, the table's coin.", 422)
    had = stacks.get(seat, 0)
    if had + amount < least or had + amount > most:
        has = f"seat {seat} would have {money(had + amount)} in play"
        raise Refused("bad_amount", sentence(f"{has}; it plays with {money(least)} to {money(most)}"), 422)
    is_shown = entered.as_shown and not entered.chips
    chips = handed_out(amount, kinds_at(context.table)) if is_shown else ()
    bought = BoughtIn(seat=seat, amount_cents=amount, cash=not entered.chips, stacks=(), charged_at=None, chips=chips)
    return Decision([_step(context, bought)])


@reproduces(BoughtIn)
def enact_buy_in(context: CommandContext, event: BoughtIn, entry: Entry) -> PendingEntry:
    """The buy-in as entered. The time charge starts with the first buy-in, whose time only the entry has."""
    entered = BuyIn(event.seat, event.amount_cents, chips=not event.cash)
    buy_in(context, entered)
    return _step(context, event, event.charged_at)


@enters(CashOut, permit=permissions.the_dealer_or_else_the_floor)
def cash_out(context: CommandContext, entered: CashOut) -> Decision:
    """A player leaves with all chips of the seat. Raises Refused."""
    stacks = between_games(context)
    amount = stacks.get(entered.seat, 0)
    if not amount:
        raise Refused("no_chips", f"Seat {entered.seat} has no chips in play.", 422)
    step = _step(context, CashedOut(seat=entered.seat, amount_cents=amount, stacks=(), charged_at=None))
    # The next player of the seat must not share an address with this one.
    return Decision([step, *player_pages.revoke(context, entered.seat)])


@reproduces(CashedOut)
def enact_cash_out(context: CommandContext, event: CashedOut, entry: Entry) -> PendingEntry:
    """The cash-out of all chips of a seat. Raises AuditFailure where it has none."""
    amount = between_games(context).get(event.seat, 0)
    if not amount:
        raise AuditFailure(f"it cashes out seat {event.seat}, which has no chips in play")
    return _step(context, structs.replace(event, amount_cents=amount))


@enters(TimeCharge, permit=permissions.the_dealer)
def time_charge(context: CommandContext, entered: TimeCharge) -> Decision:
    """Every seat in play pays for the half hours since the last charge, up to its stack. Raises Refused."""
    between_games(context)
    # By the time of the entry and not by a clock of the screen: a proof computes the same charge.
    periods = periods_due(context.table, context.standing.charged_at, context.moment)
    if not periods:
        raise Refused("not_due", "No time charge is due yet.", 409)
    each = context.table.time_charge_cents
    return Decision([_step(context, TimeCharged(periods=periods, each_cents=each, stacks=(), charged_at=None))])


@reproduces(TimeCharged)
def enact_time_charge(context: CommandContext, event: TimeCharged, entry: Entry) -> PendingEntry:
    """The time charge. Raises AuditFailure where fewer half hours were due at the time of the entry."""
    between_games(context)
    due = 0 if entry.at is None else periods_due(context.table, context.standing.charged_at, entry.at)
    # The dealer may charge later than due, and never earlier.
    if not 1 <= event.periods <= due:
        raise AuditFailure(f"it charges {event.periods} half hours, which were not due")
    return _step(context, structs.replace(event, each_cents=context.table.time_charge_cents))


def periods_due(table: Table, charged_at: str | None, moment: datetime) -> int:
    """The number of half hours since the last time charge; 0 at a table without one."""
    if charged_at is None or not table.time_charge_cents:
        return 0
    return max(0, (moment - datetime.fromisoformat(charged_at)) // PERIOD)


def between_games(context: CommandContext) -> dict[int, int]:
    """Cents in play at each seat. Raises Refused during a game, and at a table without a pot."""
    if not context.for_coins:
        raise Refused("no_pot", f"{context.game.title} is not played for chips on the table.", 422)
    if context.standing.round_open:
        raise Refused("round_open", "Finish the game first: chips are bought and cashed between games.", 409)
    return context.standing.stacks


def _step(context: CommandContext, event: AtTheSeats, moment: str | None = None) -> PendingEntry:
    """The entry about chips at the seats, with the stacks after it and the time up to which seats have paid."""
    # Stacks and transfers follow from one event, so the chips at the seats equal the ledger by construction.
    moves = event.moves(context.chart, context.standing.stacks)
    return PendingEntry(event.upon(context.standing, moment or context.moment.isoformat()), moves=moves)


# --- A game ----------------------------------------------------------------------------------------------------


def game_goes_on() -> Refused:
    """The refusal to start a game during another one, or at a table where rounds start with bets."""
    return Refused("out_of_turn", "A game is going on: finish it first.", 409)


def seats_dealt_in(context: CommandContext, named: Sequence[int]) -> tuple[int, ...]:
    """The seats of the next game: those named, or all that can play if none are. Raises Refused."""
    stacks = context.standing.stacks
    chosen = tuple(sorted(set(named))) or able(context, stacks)
    _refuse_seats(context, chosen, stacks)
    return chosen


def playing(context: CommandContext) -> dict[int, bool]:
    """The seats that can be dealt in to the next game, and whether each is by default."""
    seats, last = able(context, context.standing.stacks), context.standing.round
    if last is None or last.game.kind != context.game.kind:
        return {seat: place < context.game.seat_counts[-1] for place, seat in enumerate(seats)}
    played = dict(last.stacks) if context.for_coins else dict.fromkeys(seats, 0)
    return {seat: seat in last.opening.seats or seat not in played for seat in seats}


def able(context: CommandContext, stacks: Mapping[int, int]) -> tuple[int, ...]:
    """The seats with enough chips to be dealt in."""
    if not context.for_coins:
        return tuple(range(1, context.table.seats + 1))
    return tuple(seat for seat, cents in sorted(stacks.items()) if cents >= context.table.unit_cents)


def _refuse_seats(context: CommandContext, chosen: Sequence[int], stacks: Mapping[int, int]) -> None:
    game, counts = context.game, context.game.seat_counts
    unknown = [seat for seat in chosen if not 1 <= seat <= context.table.seats]
    if unknown:
        raise Refused(
            "unknown_seat", f"There is no seat {unknown[0]}: {context.table.name} has {context.table.seats}.", 422
        )
    if context.for_coins and (broke := [seat for seat in chosen if stacks.get(seat, 0) < context.table.unit_cents]):
        raise Refused("no_chips", f"Seat {broke[0]} has no chips in play: buy in first, or leave it out.", 422)
    if len(chosen) not in counts:
        message = f"{game.title} is played by {counts[0]} to {counts[-1]}; {len(chosen)} can be dealt in."
        raise Refused("bad_seats", message, 422)
