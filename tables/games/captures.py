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
        held = {who: hand.count(rank) for who, hand in hands.items()}
        most = max(held.values(), default=0)
        for who, cards in held.items():
            if cards == most > 0:
                points[who] += rank
    return points
