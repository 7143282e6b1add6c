"""The cost of rounding at a table, on average for each wager.

A sheet assumes exact odds. If the smallest chip of a table cannot pay a result, the table rounds it, so a small bet
wins less than its odds, or more. The difference depends on the bet; all bets between the limits are assumed equally
likely.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from tables.edge.cached_sheets import Worths
from tables.games.odds import HouseRules, Odds, half
from tables.log.terms import least_step, limits_of, rules_of
from tables.maths.worth import Cost
from tables.models import Table

MOST_BETS: Final = 1_000
"""Bets that are valued, from the least one up; rounding matters least where bets are large."""


def costs(table: Table, worths: Worths) -> dict[str, Cost]:
    """The cost of rounding by wager; without wagers that have no valuation, and empty at a table that pays exactly."""
    rules, step, limits = rules_of(table), least_step(table), limits_of(table)
    if not isinstance(rules, HouseRules) or rules.rounding == "exact":
        return {}
    every = {
        wager: _cost(rules, tuple(chances.items()), step, limits.of(wager))
        for wager, chances in worths.chances.items()
        if chances
    }
    return {wager: cost for wager, cost in every.items() if cost.at_least or cost.over_all}


@lru_cache(maxsize=1_000)
def _cost(rules: HouseRules, chances: tuple[tuple[str, float], ...], step: int, limits: tuple[int, int]) -> Cost:
    """The cost of rounding for a wager with these chances, bet step and limits.

    Cached: a report needs it once a table and day, and a thousand bets take some 35 ms.
    """
    least, most = limits
    first = -(-least // step) * step
    bets = range(first, max(most, first) + 1, step)[:MOST_BETS]
    results = [(Fraction(net), likely) for net, likely in chances]
    gains = [sum(likely * _kept_cents(net, bet, rules) for net, likely in results) for bet in bets]
    return Cost(first, float(gains[0]) / first, float(sum(gains)) / sum(bets))


def _kept_cents(net: Fraction, bet_cents: int, rules: HouseRules) -> float:
    """What the casino gains by rounding when a bet has a result, in minor units."""
    if net > 0:
        paid, _ = Odds(net.numerator, net.denominator).of(bet_cents, rules.unit, rules.rounding)
        return float(net * bet_cents - paid)
    taken = half(bet_cents, rules.unit)  # half a stake is the only part that any game takes
    return float(taken + net * bet_cents)
