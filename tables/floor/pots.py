"""Tables with a pot: the chips that seats put in play, what a game pays between them, the rake and the time charge.

Table stakes: a seat plays with what lies there when the game starts. Chips are bought, taken away and charged between
games only. What a game pays is told by the game in coins, one payment at a time, and becomes a transfer each.
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
def buy_in(scene: CommandContext, entered: BuyIn) -> Decision:
    """Chips are put in play at a seat: sold from the rack for cash, or brought along."""
    cash_policies.refuse_foreign(entered.currency)
    stacks, (least, most) = between_games(scene), (scene.limits.min_cents, scene.limits.max_cents)
    seat, amount, unit = entered.seat, entered.amount_cents, scene.table.unit_cents
    if not 1 <= seat <= scene.table.seats:
        raise Refused("unknown_seat", f"There is no seat {seat}: {scene.table.name} has {scene.table.seats}.", 422)
    if amount <= 0 or amount % unit:
        raise Refused("bad_amount", f"A buy-in is a multiple of {money(unit)}, the table's coin.", 422)
    had = stacks.get(seat, 0)
    if had + amount < least or had + amount > most:
        has = f"seat {seat} would have {money(had + amount)} in play"
        raise Refused("bad_amount", sentence(f"{has}; it plays with {money(least)} to {money(most)}"), 422)
    is_shown = entered.as_shown and not entered.chips
    chips = handed_out(amount, kinds_at(scene.table)) if is_shown else ()
    bought = BoughtIn(seat=seat, amount_cents=amount, cash=not entered.chips, stacks=(), charged_at=None, chips=chips)
    return Decision([_step(scene, bought)])


@reproduces(BoughtIn)
def enact_buy_in(scene: CommandContext, event: BoughtIn, entry: Entry) -> PendingEntry:
    """As it was entered. Time runs from the first buy-in, of which only the entry knows the moment."""
    entered = BuyIn(event.seat, event.amount_cents, chips=not event.cash)
    buy_in(scene, entered)
    return _step(scene, event, event.charged_at)


@enters(CashOut, permit=permissions.the_dealer_or_else_the_floor)
def cash_out(scene: CommandContext, entered: CashOut) -> Decision:
    """A player leaves with all that lies at the seat."""
    stacks = between_games(scene)
    amount = stacks.get(entered.seat, 0)
    if not amount:
        raise Refused("no_chips", f"Seat {entered.seat} has no chips in play.", 422)
    step = _step(scene, CashedOut(seat=entered.seat, amount_cents=amount, stacks=(), charged_at=None))
    return Decision([step, *player_pages.revoke(scene, entered.seat)])


@reproduces(CashedOut)
def enact_cash_out(scene: CommandContext, event: CashedOut, entry: Entry) -> PendingEntry:
    """A player left with all that lay at the seat."""
    amount = between_games(scene).get(event.seat, 0)
    if not amount:
        raise AuditFailure(f"it cashes out seat {event.seat}, which has no chips in play")
    return _step(scene, structs.replace(event, amount_cents=amount))


@enters(TimeCharge, permit=permissions.the_dealer)
def time_charge(scene: CommandContext, entered: TimeCharge) -> Decision:
    """Every seat in play pays for the half hours since the last time, or what is there."""
    between_games(scene)
    periods = periods_due(scene.table, scene.standing.charged_at, scene.moment)
    if not periods:
        raise Refused("not_due", "No time charge is due yet.", 409)
    each = scene.table.time_charge_cents
    return Decision([_step(scene, TimeCharged(periods=periods, each_cents=each, stacks=(), charged_at=None))])


@reproduces(TimeCharged)
def enact_time_charge(scene: CommandContext, event: TimeCharged, entry: Entry) -> PendingEntry:
    """So many half hours had passed by then, at least."""
    between_games(scene)
    due = 0 if entry.at is None else periods_due(scene.table, scene.standing.charged_at, entry.at)
    if not 1 <= event.periods <= due:
        raise AuditFailure(f"it charges {event.periods} half hours, which were not due")
    return _step(scene, structs.replace(event, each_cents=scene.table.time_charge_cents))


def periods_due(table: Table, charged_at: str | None, moment: datetime) -> int:
    """How many half hours have passed since time was charged last, at a table that charges it."""
    if charged_at is None or not table.time_charge_cents:
        return 0
    return max(0, (moment - datetime.fromisoformat(charged_at)) // PERIOD)


def between_games(scene: CommandContext) -> dict[int, int]:
    """The chips in play at each seat. Raises Refused during a game, or where nobody plays for a pot."""
    if not scene.for_coins:
        raise Refused("no_pot", f"{scene.game.title} is not played for chips on the table.", 422)
    if scene.standing.round_open:
        raise Refused("round_open", "Finish the game first: chips are bought and cashed between games.", 409)
    return scene.standing.stacks


def _step(scene: CommandContext, event: AtTheSeats, moment: str | None = None) -> PendingEntry:
    """The entry about the chips at the seats, with what lies there after it and until when time is paid."""
    moves = event.moves(scene.chart, scene.standing.stacks)
    return PendingEntry(event.upon(scene.standing, moment or scene.moment.isoformat()), moves=moves)


# --- A game ----------------------------------------------------------------------------------------------------


def game_goes_on() -> Refused:
    """The refusal to start a game over another one, or where nothing is started."""
    return Refused("out_of_turn", "A game is going on: finish it first.", 409)


def seats_dealt_in(scene: CommandContext, named: Sequence[int]) -> tuple[int, ...]:
    """The seats that the next game is dealt to: those named, or else all that can play. Raises Refused."""
    stacks = scene.standing.stacks
    chosen = tuple(sorted(set(named))) or able(scene, stacks)
    _refuse_seats(scene, chosen, stacks)
    return chosen


def playing(scene: CommandContext) -> dict[int, bool]:
    """The seats that can be dealt in to the next game, and whether they are, if nobody says otherwise."""
    seats, last = able(scene, scene.standing.stacks), scene.standing.round
    if last is None or last.game.kind != scene.game.kind:
        return {seat: place < scene.game.seat_counts[-1] for place, seat in enumerate(seats)}
    there = dict(last.stacks) if scene.for_coins else dict.fromkeys(seats, 0)
    return {seat: seat in last.opening.seats or seat not in there for seat in seats}


def able(scene: CommandContext, stacks: Mapping[int, int]) -> tuple[int, ...]:
    """The seats that can be dealt in."""
    if not scene.for_coins:
        return tuple(range(1, scene.table.seats + 1))
    return tuple(seat for seat, cents in sorted(stacks.items()) if cents >= scene.table.unit_cents)


def _refuse_seats(scene: CommandContext, chosen: Sequence[int], stacks: Mapping[int, int]) -> None:
    game, counts = scene.game, scene.game.seat_counts
    unknown = [seat for seat in chosen if not 1 <= seat <= scene.table.seats]
    if unknown:
        raise Refused(
            "unknown_seat", f"There is no seat {unknown[0]}: {scene.table.name} has {scene.table.seats}.", 422
        )
    if scene.for_coins and (broke := [seat for seat in chosen if stacks.get(seat, 0) < scene.table.unit_cents]):
        raise Refused("no_chips", f"Seat {broke[0]} has no chips in play: buy in first, or leave it out.", 422)
    if len(chosen) not in counts:
        says = f"{game.title} is played by {counts[0]} to {counts[-1]}; {len(chosen)} can be dealt in."
        raise Refused("bad_seats", says, 422)
