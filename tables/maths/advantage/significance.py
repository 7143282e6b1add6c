"""When a seat is flagged for following the edge, and several shoes in one figure. Apart from the tests in following.py,
so that a page which shows their results does not load NumPy."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from statistics import NormalDist
from typing import Final

LEVEL: Final = 0.01
"""Share of the seats that ignore the edge but are flagged: for each seat and shoe, and for each seat and day."""


def together(tests: Iterable[tuple[int, int]]) -> float | None:
    """Probability of a seat's bets in several shoes if it ignores the edge, from (as much, of) of each; None without
    any.

    Stouffer's method: the ranks of independent shoes are independent and uniform.
    """
    normal = NormalDist()
    scores = [normal.inv_cdf(1 - (as_much + 0.5) / (of + 1)) for as_much, of in tests]
    return 1 - normal.cdf(sum(scores) / sqrt(len(scores))) if scores else None
