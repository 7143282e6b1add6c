"""What is usual: bands that a number lies within 99 times of 100 if nothing but chance is at work. Pure.

Counts have exact bands: given how often something happened in the house, each dealer's share of it is binomial in the
dealer's share of the chances for it. A pace has a band by bootstrap from the stints of the others. Where there is too
little to go by, there is no band, and nothing is claimed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, lgamma, log
from typing import Final

OUTSIDE: Final = 0.01
"""How often a number lies outside of its band by chance alone. Of a hundred dealers, one is flagged for nothing."""
DRAWS: Final = 2_000
_SEED: Final = 12
"""A fixed seed: each view of a day shows an equal band."""


@dataclass(frozen=True, slots=True)
class Band:
    """From where to where a number usually lies, both included."""

    low: float
    high: float

    def places(self, value: float) -> int:
        """Below it (-1), within it (0), or above it (1)."""
        return (value > self.high) - (value < self.low)


def of_share(parts: Sequence[tuple[int, int, int]]) -> Band | None:
    """The band of a dealer's number of events.

    Each part is one kind of chance, such as the rounds of a game: (all events, the dealer's chances, all chances).
    """
    distribution = [1.0]
    for events, own, everybody in parts:
        if 0 < own < everybody and events:
            distribution = _convolved(distribution, _binomial(events, own / everybody))
    return _central(distribution) if len(distribution) > 1 else None


def of_draw(events: int, own: int, everybody: int) -> Band | None:
    """The band of events of which each chance yields at most one, such as count variances: hypergeometric."""
    if not 0 < own < everybody:
        return None
    counts = range(min(events, own) + 1)
    ways = [_choose(events, count) + _choose(everybody - events, own - count) for count in counts]
    total = _choose(everybody, own)
    return _central([exp(way - total) if way > float("-inf") else 0.0 for way in ways])


def of_pace(own: Sequence[tuple[int, float]], others: Sequence[tuple[int, float]]) -> Band | None:
    """The band of rounds per hour, from resampled stints of others: as many as the dealer had. (rounds, hours) each."""
    if not own or len(others) < 2:
        return None
    chance = random.Random(_SEED)  # noqa: S311 -- no card hangs on it
    paces = sorted(_pace(chance.choices(others, k=len(own))) for _ in range(DRAWS))
    tail = int(DRAWS * OUTSIDE / 2)
    return Band(paces[tail], paces[-tail - 1])


def _pace(stints: Sequence[tuple[int, float]]) -> float:
    return sum(rounds for rounds, _ in stints) / sum(hours for _, hours in stints)


def _binomial(events: int, share: float) -> list[float]:
    return [
        exp(_choose(events, count) + count * log(share) + (events - count) * log(1 - share))
        for count in range(events + 1)
    ]


def _convolved(left: Sequence[float], right: Sequence[float]) -> list[float]:
    product = [0.0] * (len(left) + len(right) - 1)
    for start, weight in enumerate(left):
        for offset, other in enumerate(right):
            product[start + offset] += weight * other
    return product


def _central(distribution: Sequence[float]) -> Band:
    """The counts that are left when at most half of OUTSIDE is cut off at each end."""
    return Band(_first_beyond(distribution), len(distribution) - 1 - _first_beyond(distribution[::-1]))


def _first_beyond(distribution: Sequence[float]) -> int:
    below = 0.0
    for count, weight in enumerate(distribution):
        below += weight
        if below > OUTSIDE / 2:
            return count
    return len(distribution) - 1


def _choose(many: int, few: int) -> float:
    """The logarithm of the number of ways; minus infinity for none."""
    if not 0 <= few <= many:
        return float("-inf")
    return lgamma(many + 1) - lgamma(few + 1) - lgamma(many - few + 1)
