"""Token buckets: each client has a number of attempts, refilled at a constant rate.

They are in this process's memory, so they work during any outage. Only one event loop uses them, so they need no lock.
"""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic
from typing import Final

MOST_BUCKETS: Final = 10_000
"""Above this number, the least recently used bucket is dropped."""


class Buckets:
    """The attempts left for each key, and the time of that count."""

    def __init__(self, *, at_once: int, a_second: float) -> None:
        self._at_once = at_once
        self._a_second = a_second
        self._left: OrderedDict[str | bytes, tuple[float, float]] = OrderedDict()

    def take(self, key: str | bytes) -> bool:
        """Use up one attempt; False if none is left. A refused attempt costs nothing."""
        moment = monotonic()
        tries, counted_at = self._left.pop(key, (float(self._at_once), moment))
        tries = min(self._at_once, tries + (moment - counted_at) * self._a_second)
        self._left[key] = (max(tries - 1, tries % 1), moment)
        if len(self._left) > MOST_BUCKETS:
            self._left.popitem(last=False)
        return tries >= 1
