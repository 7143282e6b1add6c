"""Shared by the bidding games: who has the most cards of each rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from tables.games.cards import RANKS

Who = TypeVar("Who")


def most_of_each_rank(hands: Mapping[Who, Sequence[int]]) -> dict[Who, int]:
    """Points by holder of a hand: each rank scores its number for the holder of the most cards of it, and for all who
    tie.

    A rank that is in no hand scores for no holder.
    """
    points = dict.fromkeys(hands, 0)
    for rank in RANKS:
        counts = {holder: hand.count(rank) for holder, hand in hands.items()}
        most = max(counts.values(), default=0)
        for holder, cards in counts.items():
            if cards == most > 0:
                points[holder] += rank
    return points
