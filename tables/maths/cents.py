"""Expectations in cents of the wagers of a round in progress, as a table pays them in whole chips."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from tables.games.cards import Composition, pack_of
from tables.games.house_script import HouseState, SpotSeen
from tables.games.odds import HouseRules, Odds, half
from tables.games.protocol import Settled
from tables.maths.situation import Unknowable
from tables.maths.worth import Results

_HALF: Final = Fraction(-1, 2)
Wager = Callable[[SpotSeen, Settled], float]
"""Mean win in cents of a seat's undecided wager."""


def expected(state: HouseState, wager_cents: Wager) -> dict[int, float]:
    """Expectation of each seat in cents; decided wagers count with their results. Raises Unknowable if there are no
    bets."""
    if not state.spots:
        raise Unknowable("no bet lies on the layout")
    return {
        spot.seat: sum(float(wager.net_cents) if wager.outcome else wager_cents(spot, wager) for wager in spot.wagers)
        for spot in state.spots
    }


def unseen(state: HouseState, decks: int, to_come: int) -> Composition:
    """The unseen cards, including burned and facedown ones. Raises Unknowable if the shoe may run out in the round."""
    if state.left < to_come:
        raise Unknowable(f"{state.left} cards are left, and the round may take {to_come}: it may come to a shuffle")
    return tuple(full - out for full, out in zip(pack_of(state.gone).shoes[decks], state.gone, strict=True))


def mean_cents(rules: HouseRules, often: Results, staked_cents: int) -> float:
    """Mean net win of a wager in cents, from the number of equally likely ways to each result."""
    won = sum(net_cents(rules, net, staked_cents) * ways for net, ways in often.items())
    return float(Fraction(won, sum(often.values())))


def net_cents(rules: HouseRules, net: Fraction, staked_cents: int) -> int:
    """Net win in cents of a wager that wins `net` times its stake, by the table's rounding."""
    if net == _HALF:
        return -half(staked_cents, rules.unit)
    if net <= 0:
        return int(net * staked_cents)
    return Odds(net.numerator, net.denominator).of(staked_cents, rules.unit, rules.rounding)[0]


def by_name(state: HouseState, ends: dict[str, Results]) -> dict[int, float]:
    """Expectation of each seat in cents, for wagers that end alike for all seats."""
    rules: Any = state.rules
    return expected(state, lambda _, wager: mean_cents(rules, ends[wager.bet], wager.staked_cents))
