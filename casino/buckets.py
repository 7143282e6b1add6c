"""How often something may be tried: a bucket of tries for each who tries, filled again at a steady pace.

The buckets are in this process's memory: they hold though everything else is away. One event loop asks them, so there
is no lock.
"""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic
from typing import Final

KEPT: Final = 10_000
"""The buckets that are remembered; the one that was asked longest ago is forgotten first."""


class Buckets:
    """How many tries each has left, and when that was so."""

    def __init__(self, *, at_once: int, a_second: float) -> None:
        self._at_once = at_once
        self._a_second = a_second
        self._left: OrderedDict[str | bytes, tuple[float, float]] = OrderedDict()

    def take(self, key: str | bytes) -> bool:
        """One try, if there is one left."""
        moment = monotonic()
        tries, since = self._left.pop(key, (float(self._at_once), moment))
        tries = min(self._at_once, tries + (moment - since) * self._a_second)
        self._left[key] = (max(tries - 1, tries % 1), moment)
        if len(self._left) > KEPT:
            self._left.popitem(last=False)
        return tries >= 1
