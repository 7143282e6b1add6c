"""Chips as evidence of a payout error: the likelihood of a rack variance by chip value, given a mistake.

The variance by value rarely equals the chips of the mistake, because bets are not always placed in the fewest chips.
Five chips of 5 in place of one of 25 leave one fewer 25 and five more 5s in the rack. The rest of a variance that a
mistake does not explain is therefore expressed as the net number of chips of each value broken into the next smaller
value. Each amount that includes such a chip is broken with the same unknown probability, in opposite directions for
amounts into and out of the rack, so the net number is a difference of two Poisson counts (Skellam). The likelihood is
averaged over the possible values of that probability. Pure functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import exp, pi, sqrt
from typing import Final, NamedTuple

Vector = Mapping[int, int]
"""Chips by their worth."""

BROKEN: Final[Mapping[float, float]] = {0.001: 0.2, 0.01: 0.2, 0.03: 0.2, 0.1: 0.2, 0.3: 0.2}
"""Prior for the part of amounts placed in more than the fewest chips, which differs by casino: part to probability."""
STRAY: Final = 0.02
"""At a worth something else went on: a player changed colours among others, or bet in nothing but small chips."""
_STRAY_WIDTH: Final = 8.0
_MANY: Final = 40.0
"""Above this number of expected breaks, a normal distribution replaces the Skellam distribution."""


class Load(NamedTuple):
    """How many amounts there were in which a chip of some worth would lie, each by its part in that amount's kinds."""

    inflow: float
    outflow: float


def loads(amounts_cents: Iterable[int], chips: Sequence[int], cut: Callable[[int], Vector]) -> dict[int, Load]:
    """By worth, of all amounts that came to a rack (above zero) or left it. The smallest chip breaks into nothing."""
    inflow: dict[int, float] = {}
    outflow: dict[int, float] = {}
    for amount_cents, times in Counter(amounts_cents).items():
        whole = [value for value, count in cut(amount_cents).items() if count and value != chips[0]]
        side = inflow if amount_cents > 0 else outflow
        for value in whole:
            side[value] = side.get(value, 0.0) + times / len(whole)
    return {value: Load(inflow.get(value, 0.0), outflow.get(value, 0.0)) for value in {*inflow, *outflow}}


def is_ladder(chips: Sequence[int]) -> bool:
    """Whether each chip is worth a whole number of the next smaller one, as colours of a house mostly are."""
    return len(chips) > 1 and all(large % small == 0 for small, large in pairwise(chips))


def broken(leftover: Vector, chips: Sequence[int]) -> dict[int, int] | None:
    """How many chips of each worth were broken into the next smaller one, net, so that just these are left over; None
    where that cannot be, since they are worth something."""
    net: dict[int, int] = {}
    carried = 0
    for small, value in reversed(list(pairwise(chips))):
        net[value] = carried - leftover.get(value, 0)
        carried = net[value] * (value // small)
    return net if leftover.get(chips[0], 0) == carried else None


def likelihood(
    net: Mapping[int, int], by_worth: Mapping[int, Load], parts: Mapping[float, float] = BROKEN, stray: float = STRAY
) -> float:
    """The probability of these net numbers of broken chips by value, averaged over the prior ``parts``."""
    return sum(weight * _likelihood_of_part(net, by_worth, part, stray) for part, weight in parts.items())


def _likelihood_of_part(net: Mapping[int, int], by_worth: Mapping[int, Load], part: float, stray: float) -> float:
    chance = 1.0
    for value, count in net.items():
        load = by_worth.get(value, Load(0.0, 0.0))
        usual = skellam(count, round(part * load.inflow, 6), round(part * load.outflow, 6))
        chance *= (1 - stray) * usual + stray * exp(-abs(count) / _STRAY_WIDTH) / (2 * _STRAY_WIDTH)
    return chance


@lru_cache(maxsize=100_000)
def skellam(count: int, inflow: float, outflow: float) -> float:
    """The Skellam probability of ``count``: a Poisson count of mean ``inflow`` minus one of mean ``outflow``."""
    spread = inflow + outflow
    if spread > _MANY:
        return exp(-((count - inflow + outflow) ** 2) / (2 * spread)) / sqrt(2 * pi * spread)
    if count < 0:
        return skellam(-count, outflow, inflow)
    term = exp(-spread)
    for nth in range(1, count + 1):
        term *= inflow / nth
    total, nth = 0.0, 0
    while term > 1e-15 * total and nth < 400:
        total += term
        nth += 1
        term *= inflow * outflow / (nth * (count + nth))
    return total
