"""Side bets at blackjack: they depend on the first cards only, so every way is counted, in integers.

Cards match one line of a wager's pay table, or none; the rules determine what the lines pay.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tables.games.blackjack import Rules
from tables.games.cards import RANK_OF, STANDARD, SUIT_OF, Composition
from tables.games.odds import Odds
from tables.games.pays import UNPAID, Pays, net
from tables.games.side_bets import PAY_FORM
from tables.maths.random_cards import Bytes
from tables.maths.worth import Results, results

Whole = NDArray[np.int64]

_RED = (1, 2)
"""The suits that are hearts and diamonds."""
LOST = ""
PAIR_LINES = (LOST, "mixed", "coloured", "perfect")
THREE_LINES = (LOST, "flush", "straight", "three_of_a_kind", "straight_flush", "same_card_thrice")
INSURANCE_LINES = (LOST, "ten")
_INSURED = {"ten": Odds(2)}
_SHIPPED = PAY_FORM.in_force(Rules())


@cache
def lines() -> tuple[Bytes, Bytes]:
    """Index of the pay line for each two cards of the pack, and for each three; 0 for a loss."""
    cards = range(1, len(STANDARD.deck) + 1)
    pairs = [PAIR_LINES.index(pair_line(drawn)) for drawn in product(cards, repeat=2)]
    three = [THREE_LINES.index(three_line(drawn)) for drawn in product(cards, repeat=3)]
    return np.array(pairs, np.uint8), np.array(three, np.uint8)


def won(odds: Mapping[str, Odds], line: str) -> Fraction:
    """Net win of a wager on a line; without a line it loses."""
    return net(odds.get(line, UNPAID))


def pays_of(rules: Rules) -> Mapping[str, Mapping[str, Odds]]:
    """Odds of the lines of each of these wagers."""
    return {**PAY_FORM.in_force(rules), "insurance": _INSURED}


def insurance(ranks: Composition) -> Results:
    """Half of the bet on a ten under the ace that is up: how many of the other cards are one."""
    tens = sum(ranks[9:])
    return results([(won(_INSURED, "ten"), tens), (won(_INSURED, LOST), sum(ranks) - 1 - tens)])


def perfect_pairs(cards: Composition, pays: Pays = _SHIPPED) -> Results:
    """The seat's first two cards."""
    return _results(pays["perfect_pairs"], PAIR_LINES, lines()[0], _pairs(cards), orders=2)


def twenty_one_plus_three(cards: Composition, pays: Pays = _SHIPPED) -> Results:
    """The seat's first two cards and the upcard."""
    counts, identity = np.array(cards, np.int64), np.eye(len(cards), dtype=np.int64)
    ways = _pairs(cards)[:, :, None] * (counts - identity[:, None, :] - identity[None, :, :])
    return _results(pays["twenty_one_plus_three"], THREE_LINES, lines()[1], ways, orders=6)


def _pairs(cards: Composition) -> Whole:
    """Number of ways in which a first and a second card come."""
    counts = np.array(cards, np.int64)
    return np.asarray(counts[:, None] * (counts - np.eye(len(cards), dtype=np.int64)), np.int64)


def _results(odds: Mapping[str, Odds], names: tuple[str, ...], lines: Bytes, ways: Whole, *, orders: int) -> Results:
    """Number of ways in which cards are drawn, by payout; each set of cards comes in `orders` orders."""
    drawn = {name: int(ways.ravel()[lines == line].sum()) // orders for line, name in enumerate(names)}
    return results((won(odds, name), often) for name, often in drawn.items() if often)


def pair_line(drawn: Composition) -> str:
    """The line of two cards."""
    first, second = drawn
    if RANK_OF[first] != RANK_OF[second]:
        return LOST
    if first == second:
        return "perfect"
    return "coloured" if (SUIT_OF[first] in _RED) == (SUIT_OF[second] in _RED) else "mixed"


def three_line(drawn: Composition) -> str:
    """The line of three cards. An ace is high or low."""
    ranks, suited = sorted(RANK_OF[card] for card in drawn), len({SUIT_OF[card] for card in drawn}) == 1
    straight = ranks == [1, 12, 13] or ranks == [ranks[0], ranks[0] + 1, ranks[0] + 2]
    if ranks[0] == ranks[2]:
        return "same_card_thrice" if suited else "three_of_a_kind"
    if straight:
        return "straight_flush" if suited else "straight"
    return "flush" if suited else LOST
