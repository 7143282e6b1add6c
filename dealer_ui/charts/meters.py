"""Small bars on a table's card: its rack against its opening, and how deep its shoe is dealt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

RACK: Final = 100
"""Half the width of a rack's bar."""


@dataclass(frozen=True, slots=True)
class RackBar:
    """What a rack holds more or less than when the table opened, from the middle to one side."""

    x: float
    width: float


def rack_bar(opening_cents: int, now_cents: int) -> RackBar:
    """The full side stands for a fifth of the opening rack, or for the difference when that is more."""
    change = now_cents - opening_cents
    full = max(opening_cents // 5, abs(change), 1)
    width = round(abs(change) * RACK / full, 1)
    return RackBar(RACK - width if change < 0 else RACK, width)


SHOE: Final = 200


@dataclass(frozen=True, slots=True)
class ShoeBar:
    """How deep a shoe is dealt: what is gone at the left, the cut card where it lies."""

    gone: float
    cut_x: float


def shoe_bar(size: int, cards_left: int, cut_at: int) -> ShoeBar:
    """A shoe as a bar SHOE wide."""
    size = max(size, 1)
    return ShoeBar(round((size - cards_left) * SHOE / size, 1), round((size - cut_at) * SHOE / size, 1))
