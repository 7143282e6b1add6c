"""Values of three standard cards as a poker hand."""

from __future__ import annotations

from functools import cache
from typing import Final

from tables.games.cards import RANK_OF, SUIT_OF

HIGH_CARD, PAIR, FLUSH, STRAIGHT, TRIPS, STRAIGHT_FLUSH = range(6)
NAMES: Final = ("high card", "pair", "flush", "straight", "three of a kind", "straight flush")
_WHEEL: Final = (14, 3, 2)

Value = tuple[int, tuple[int, ...]]
"""Value of a hand: its class, then its ranks in the order of comparison."""


@cache
def value_of(cards: tuple[int, ...]) -> Value:
    """The value of three cards; the greater wins. Suits make flushes and decide nothing else."""
    ranks = tuple(sorted((14 if RANK_OF[card] == 1 else RANK_OF[card] for card in cards), reverse=True))
    is_flush = len({SUIT_OF[card] for card in cards}) == 1
    if ranks == _WHEEL:
        return (STRAIGHT_FLUSH if is_flush else STRAIGHT), (3, 2, 1)
    if ranks[0] == ranks[2]:
        return TRIPS, ranks[:1]
    if ranks[0] - ranks[2] == 2 and ranks[0] != ranks[1] != ranks[2]:
        return (STRAIGHT_FLUSH if is_flush else STRAIGHT), ranks
    if is_flush:
        return FLUSH, ranks
    if ranks[0] == ranks[1]:
        return PAIR, (ranks[0], ranks[2])
    if ranks[1] == ranks[2]:
        return PAIR, (ranks[1], ranks[0])
    return HIGH_CARD, ranks
