"""Tables with a pot: the chips that seats put in play, what a game pays between them, the rake and the time charge.

Table stakes: a seat plays with what lies there when the game starts. Chips are bought, taken away and charged between
games only. What a game pays is told by the game in coins, one payment at a time, and becomes a transfer each.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.utils import timezone
from msgspec import structs

from ledger.cage import Chart, Move
from ledger.chips import PLAYERS, POT, RACK, SEAT, money
from tables import seat_pages
from tables.games.cards import NOTHING
from tables.games.felt import Illegal, Opening, Payment, Rake
from tables.inputs import BuyIn, CashOut, TimeCharge
from tables.models import ShoeSource, Table
from tables.refusals import Refused, sentence
from tables.scene import Outcome, Scene, Step
from tables.standing import Round, Stacks

PERIOD: Final = timedelta(minutes=30)
"""A seat pays the table's time charge once for each."""


# --- Seats and their chips, between games ----------------------------------------------------------------------


def buy_in(scene: Scene, entered: BuyIn) -> Outcome:
    """Chips are put in play at a seat: sold from the rack for cash, or brought along."""
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
    facts = {"seat": seat, "amount_cents": amount, "cash": not entered.chips}
    return Outcome([seats_step(scene, "buy_in", facts)])


def cash_out(scene: Scene, entered: CashOut) -> Outcome:
    """A player leaves with all that lies at the seat."""
    stacks = between_games(scene)
    amount = stacks.get(entered.seat, 0)
    if not amount:
        raise Refused("no_chips", f"Seat {entered.seat} has no chips in play.", 422)
    step = seats_step(scene, "cash_out", {"seat": entered.seat, "amount_cents": amount})
    return Outcome([step, *seat_pages.revoke(scene, entered.seat)])


def time_charge(scene: Scene, entered: TimeCharge) -> Outcome:
    """Every seat in play pays for the half hours since the last time, or what is there."""
    between_games(scene)
    periods = periods_due(scene.table, scene.standing.charged_at, timezone.now())
    if not periods:
        raise Refused("not_due", "No time charge is due yet.", 409)
    return Outcome(
        [seats_step(scene, "time_charge", {"periods": periods, "each_cents": scene.table.time_charge_cents})]
    )


def periods_due(table: Table, charged_at: str | None, now: datetime) -> int:
    """How many half hours have passed since time was charged last, at a table that charges it."""
    if charged_at is None or not table.time_charge_cents:
        return 0
    return max(0, (now - datetime.fromisoformat(charged_at)) // PERIOD)


def between_games(scene: Scene) -> dict[int, int]:
    """The chips in play at each seat. Raises Refused during a game, or where nobody plays for a pot."""
    if scene.game.banked or not scene.game.coins:
        raise Refused("no_pot", f"{scene.game.title} is not played for chips on the table.", 422)
    if scene.standing.round_open:
        raise Refused("round_open", "Finish the game first: chips are bought and cashed between games.", 409)
    return scene.standing.stacks


def seats_step(scene: Scene, kind: str, facts: Mapping[str, Any]) -> Step:
    """The entry about the chips at the seats, with what lies there after it."""
    now = scene.standing
    stacks = stacks_after(now.stacks, kind, facts)
    charged_at = charged_after(now.charged_at, kind, facts, stacks, timezone.now().isoformat())
    content = {**facts, "stacks": [list(pair) for pair in sorted(stacks.items())], "charged_at": charged_at}
    return Step("seats", kind, content, moves=seat_moves(scene.chart, now.stacks, kind, facts))


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
    bought = [chart.move("buy_in", RACK, PLAYERS, amount)] if facts["cash"] else []
    return [*bought, chart.move("sit_down", PLAYERS, place, amount)]


def _charges(stacks: Mapping[int, int], facts: Mapping[str, Any]) -> list[tuple[int, int]]:
    due = facts["periods"] * facts["each_cents"]
    return [(seat, min(due, cents)) for seat, cents in sorted(stacks.items()) if cents]


# --- A game ----------------------------------------------------------------------------------------------------


def next_game(scene: Scene, seats: Sequence[int]) -> Round:
    """The game that is dealt now to these seats (none named: to all that can play). Raises Refused.

    Chance chooses who starts, where the game has it so: the system draws the seat, and the log says which.
    """
    now, game, coin = scene.standing, scene.game, scene.table.unit_cents
    stacks = now.stacks
    chosen = tuple(sorted(set(seats))) or able(scene, stacks)
    _refuse_seats(scene, chosen, stacks)
    carries = game.carries
    opening = Opening(
        chosen,
        dealt=now.gone if "dealt" in carries else NOTHING,
        button=now.button if "button" in carries else None,
        pot=now.pot_cents // coin if "pot" in carries else 0,
        stacks=tuple(stacks.get(seat, 0) // coin for seat in chosen) if game.coins else (),
        rake=_rake(scene.table),
        blind=scene.table.source == ShoeSource.KEYED,
    )
    opening, state = _opened(scene, opening)
    pinned: Stacks = tuple(sorted(stacks.items()))
    return Round(
        now.next_number,
        game,
        scene.rules,
        opening,
        scene.next_seq,
        (),
        state,
        stacks=pinned,
        pot_cents=now.pot_cents,
        coin_cents=coin,
    )


def _opened(scene: Scene, opening: Opening) -> tuple[Opening, Any]:
    try:
        return opening, scene.game.open(scene.rules, opening)
    except Illegal as illegal:
        if illegal.code != "first_required":
            raise
    opening = structs.replace(opening, first=secrets.choice(opening.seats))
    return opening, scene.game.open(scene.rules, opening)


def able(scene: Scene, stacks: Mapping[int, int]) -> tuple[int, ...]:
    """The seats that can be dealt in."""
    if not scene.game.coins:
        return tuple(range(1, scene.table.seats + 1))
    return tuple(seat for seat, cents in sorted(stacks.items()) if cents >= scene.table.unit_cents)


def _refuse_seats(scene: Scene, chosen: Sequence[int], stacks: Mapping[int, int]) -> None:
    game, counts = scene.game, scene.game.seat_counts
    unknown = [seat for seat in chosen if not 1 <= seat <= scene.table.seats]
    if unknown:
        raise Refused(
            "unknown_seat", f"There is no seat {unknown[0]}: {scene.table.name} has {scene.table.seats}.", 422
        )
    if game.coins and (broke := [seat for seat in chosen if stacks.get(seat, 0) < scene.table.unit_cents]):
        raise Refused("no_chips", f"Seat {broke[0]} has no chips in play: buy in first, or leave it out.", 422)
    if len(chosen) not in counts:
        says = f"{game.title} is played by {counts[0]} to {counts[-1]}; {len(chosen)} can be dealt in."
        raise Refused("bad_seats", says, 422)


def _rake(table: Table) -> Rake | None:
    if not table.rake_permille:
        return None
    return Rake(table.rake_permille, None if table.rake_cap_cents is None else table.rake_cap_cents // table.unit_cents)


def game_moves(chart: Chart, payments: Iterable[Payment], coin_cents: int) -> list[Move]:
    """A game's payments as transfers, one each and in order."""
    return [_move(chart, one, coin_cents) for one in payments]


def _move(chart: Chart, payment: Payment, coin_cents: int) -> Move:
    sources, targets = {"win_pot": POT, "rake": POT}, {"pay_pot": POT, "rake": RACK}
    source = sources.get(payment.kind, (SEAT, payment.payer))
    target = targets.get(payment.kind, (SEAT, payment.payee))
    return chart.move(payment.kind, source, target, payment.coins * coin_cents)
