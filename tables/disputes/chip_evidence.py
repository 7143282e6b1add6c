"""What the chips say of a mistake: by how many of each worth a rack is off, and how that comes about besides.

A rack is never off by just the chips of a mistake, for bets do not lie in the fewest chips. But a chip of 25 that lay
as five of 5 leaves one trace and no other: the rack has one 25 fewer and five 5s more. So whatever a mistake leaves
over is told as how many chips of each worth were broken into the next smaller one, net. Each amount in which such a
chip would lie is broken with the same unknown chance, those that came in one way and those that went out the other: the
net number is a difference of two Poisson counts (Skellam). The unknown chance is weighed over what it may be. Pure.
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
"""Which part of the amounts lies in smaller chips than the fewest, and how likely that is: nobody knows for a house."""
STRAY: Final = 0.02
"""At a worth something else went on: a player changed colours among others, or bet in nothing but small chips."""
_STRAY_WIDTH: Final = 8.0
_MANY: Final = 40.0
"""From so many expected breaks on, a normal curve does."""


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
    """How likely it is that just so many chips of each worth were broken, whichever part of the amounts was."""
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
    """How likely it is that a Poisson number with the one mean is so many more than one with the other."""
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
