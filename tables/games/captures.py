"""What the bidding games share: who holds the most of each rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from tables.games.cards import RANKS

Who = TypeVar("Who")


def most_of_each_rank(hands: Mapping[Who, Sequence[int]]) -> dict[Who, int]:
    """The points of each hand: a rank scores its number for whoever holds most of it, and for all who tie.

    A rank that nobody holds scores nobody.
    """
    points = dict.fromkeys(hands, 0)
    for rank in RANKS:
        counts = {holder: hand.count(rank) for holder, hand in hands.items()}
        most = max(counts.values(), default=0)
        for holder, cards in counts.items():
            if cards == most > 0:
                points[holder] += rank
    return points
