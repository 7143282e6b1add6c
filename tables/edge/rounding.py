"""What rounding costs at a table: the part of each wager that its chips cannot pay, on average.

A sheet values exact odds. A table whose smallest chip cannot pay a result rounds it, so a small bet wins less than its
odds, or more. How much depends on the bet; every bet between the limits is taken as equally likely.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from tables.edge.kept_sheets import Worths
from tables.games.odds import Odds, half
from tables.log.terms import least_step, limits_of, rules_of
from tables.maths.worth import Cost
from tables.models import Table

MOST_BETS: Final = 1_000
"""So many bets are looked at, from the least one; rounding matters least where bets are large."""


def costs(table: Table, worths: Worths) -> dict[str, Cost]:
    """By wager, as far as it is valued; none at a table that pays every bet exactly."""
    rules = rules_of(table)
    if getattr(rules, "rounding", "exact") == "exact":
        return {}
    every = {wager: _cost(table, wager, rules, chances) for wager, chances in worths.chances.items() if chances}
    return {wager: cost for wager, cost in every.items() if cost.at_least or cost.over_all}


def _cost(table: Table, wager: str, rules: Any, chances: Mapping[str, float]) -> Cost:
    step = least_step(table)
    least, most = limits_of(table).of(wager)
    first = -(-least // step) * step
    bets = range(first, max(most, first) + 1, step)[:MOST_BETS]
    gains = [sum(likely * _kept_cents(Fraction(net), bet, rules) for net, likely in chances.items()) for bet in bets]
    return Cost(first, float(gains[0]) / first, float(sum(gains)) / sum(bets))


def _kept_cents(net: Fraction, bet_cents: int, rules: Any) -> float:
    """What the casino gains when a bet comes to a result, in minor units."""
    if net > 0:
        paid, _ = Odds(net.numerator, net.denominator).of(bet_cents, rules.unit, rules.rounding)
        return float(net * bet_cents - paid)
    taken = half(bet_cents, rules.unit)  # the only part of a stake that any game takes
    return float(taken + net * bet_cents)
