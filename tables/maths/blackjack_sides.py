"""The wagers beside a blackjack hand: they look at the first cards alone, so every way is counted, in whole numbers."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tables.games.cards import RANK_OF, STANDARD, SUIT_OF, Composition
from tables.maths.dice import Bytes
from tables.maths.worth import Results, results

_RED = (1, 2)
"""The suits that are hearts and diamonds."""
_PERFECT, _COLOURED, _MIXED = 25, 12, 6
_TRIPLET, _STRAIGHT_FLUSH, _THREE, _STRAIGHT, _FLUSH = 100, 40, 30, 10, 5
LOST = -1
PAIR_LINES = (LOST, _MIXED, _COLOURED, _PERFECT)
THREE_LINES = (LOST, _FLUSH, _STRAIGHT, _THREE, _STRAIGHT_FLUSH, _TRIPLET)
INSURANCE_LINES = (LOST, 2)


@cache
def lines() -> tuple[Bytes, Bytes]:
    """By each two cards of the pack, and by each three, the line of what they pay; the line of a loss is 0."""
    cards = range(1, len(STANDARD.deck) + 1)
    pairs = [PAIR_LINES.index(pair_pays(drawn)) for drawn in product(cards, repeat=2)]
    three = [THREE_LINES.index(three_pays(drawn)) for drawn in product(cards, repeat=3)]
    return np.array(pairs, np.uint8), np.array(three, np.uint8)


def insurance(ranks: Composition) -> Results:
    """Half of the bet on a ten under the ace that is up: how many of the other cards are one."""
    tens = sum(ranks[9:])
    return results([(2, tens), (LOST, sum(ranks) - 1 - tens)])


def perfect_pairs(cards: Composition) -> Results:
    """The seat's first two cards."""
    return _results(PAIR_LINES, lines()[0], _pairs(cards), 2)


def twenty_one_plus_three(cards: Composition) -> Results:
    """The seat's first two cards and the upcard."""
    held, same = np.array(cards, np.int64), np.eye(len(cards), dtype=np.int64)
    ways = _pairs(cards)[:, :, None] * (held - same[:, None, :] - same[None, :, :])
    return _results(THREE_LINES, lines()[1], ways, 6)


def _pairs(cards: Composition) -> NDArray[np.int64]:
    """In how many ways a first and a second card come."""
    held = np.array(cards, np.int64)
    return np.asarray(held[:, None] * (held - np.eye(len(cards), dtype=np.int64)), np.int64)


def _results(pays: tuple[int, ...], lines: Bytes, ways: NDArray[np.int64], orders: int) -> Results:
    """By the line of what they pay, in how many ways cards are drawn that come in so many orders."""
    drawn = {paid: int(ways.ravel()[lines == line].sum()) // orders for line, paid in enumerate(pays)}
    return results((paid, often) for paid, often in drawn.items() if often)


def pair_pays(drawn: Composition) -> int:
    """What two cards pay."""
    first, second = drawn
    if RANK_OF[first] != RANK_OF[second]:
        return LOST
    if first == second:
        return _PERFECT
    return _COLOURED if (SUIT_OF[first] in _RED) == (SUIT_OF[second] in _RED) else _MIXED


def three_pays(drawn: Composition) -> int:
    """What three cards pay. An ace is high or low."""
    ranks, suited = sorted(RANK_OF[card] for card in drawn), len({SUIT_OF[card] for card in drawn}) == 1
    straight = ranks == [1, 12, 13] or ranks == [ranks[0], ranks[0] + 1, ranks[0] + 2]
    if ranks[0] == ranks[2]:
        return _TRIPLET if suited else _THREE
    if straight:
        return _STRAIGHT_FLUSH if suited else _STRAIGHT
    return _FLUSH if suited else LOST
