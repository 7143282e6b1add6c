"""Decks and compositions: rank r appears r times, r = 1..10, so a deck has 55 cards.

A composition is a tuple of ten counts, the count of rank 1 first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

RANKS: Final = range(1, 11)
DECK: Final = tuple(RANKS)
"""One deck as a composition: one 1, two 2s, ... ten 10s."""
DECK_SIZE: Final = sum(DECK)

Composition = tuple[int, ...]
NOTHING: Final[Composition] = (0,) * 10
UNKNOWN: Final = 0
"""Stands for the rank of a physical card that lies facedown: nobody has told the system what it is."""


def shoe(decks: int) -> Composition:
    """The composition of ``decks`` full decks."""
    return tuple(rank * decks for rank in RANKS)


def count(ranks: Iterable[int]) -> Composition:
    """The composition of some cards, given by their ranks (each 1..10); unknown ones are in no composition."""
    counts = [0] * 10
    for rank in ranks:
        if rank != UNKNOWN:
            counts[rank - 1] += 1
    return tuple(counts)


def add(composition: Composition, rank: int) -> Composition:
    """The composition with one more card of ``rank``."""
    counts = [*composition]
    counts[rank - 1] += 1
    return tuple(counts)
