"""The dealer of a blackjack table: the exact probability of each total, from any cards left.

The dealer has no choices, so the number of orders in which a set of cards becomes the dealer's hand does not depend on
the shoe. Let m(r) be the number of cards of value r in a set of k cards. The set comes in each of its orders with the
probability c(r)(c(r) - 1)...(c(r) - m(r) + 1) over all r, divided by n(n - 1)...(n - k + 1), where c(r) of the n cards
left have value r. That is the enumeration of Baldwin, Cantey, Maisel and McDermott (1956), with sets in place of
sequences: some 900 for an upcard.

All sets form a tree: each is its parent and a card not lower than those added before. So each costs one multiplication.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tables.maths.compiled import jit

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

KINDS: Final = 10
VALUES: Final = range(KINDS)
"""Indexes of card values: 0 an ace, 1 a two, ... 9 any card that counts ten."""
ACE: Final = 0
TEN: Final = 9
BLACKJACK: Final = 6
"""The last of the dealer's ends; before it come 17, 18, 19, 20, 21 and a bust."""
_BUST: Final = 5
Drawn = tuple[int, ...]


class DealerTree(NamedTuple):
    """The sets of cards that a dealer may draw to an upcard: what each adds to another set, and how it ends."""

    parent: Places
    value: Places
    already: Places
    """How many of this value the parent has."""
    cards: Places
    end: Places
    orders: Floats
    """Number of orders in which the dealer draws it; 0 if the dealer draws on, or would have stopped before."""
    natural: int
    """The value that makes a blackjack with the upcard; -1 where none does."""


def best(hard: int, ace: bool) -> tuple[int, bool]:
    """Total of a hand, and whether an ace in it counts eleven."""
    return (hard + 10, True) if ace and hard <= 11 else (hard, False)


def natural(upcard: int) -> int:
    """The value that makes a blackjack with an upcard, or -1."""
    return {ACE: TEN, TEN: ACE}.get(upcard, -1)


@cache
def tree(upcard: int, hits_soft_17: bool) -> DealerTree:
    """The tree of an upcard's value."""
    ends, orders = _hands(upcard, hits_soft_17)
    places: dict[Drawn, int] = {(): 0}
    rows = [(0, 0, 0, 0, 0, 0.0)]
    for drawn in sorted({whole[:size] for whole in orders for size in range(1, len(whole) + 1)}, key=len):
        parent, value = drawn[:-1], drawn[-1]
        rows.append(
            (places[parent], value, parent.count(value), len(drawn), ends.get(drawn, 0), float(orders.get(drawn, 0)))
        )
        places[drawn] = len(rows) - 1
    parent_, value_, already, cards, end = (np.array(column, np.int64) for column in list(zip(*rows, strict=True))[:5])
    return DealerTree(parent_, value_, already, cards, end, np.array([row[5] for row in rows]), natural(upcard))


def _hands(upcard: int, hits_soft_17: bool) -> tuple[dict[Drawn, int], dict[Drawn, int]]:
    """The end of each set of drawn cards, and the number of orders in which it is drawn."""
    ends: dict[Drawn, int] = {}
    orders: Counter[Drawn] = Counter()
    drawing: dict[Drawn, int] = {(): 1}
    while drawing:
        longer: defaultdict[Drawn, int] = defaultdict(int)
        for drawn, ways in drawing.items():
            for value in VALUES:
                hand = tuple(sorted((*drawn, value)))
                end = _end(upcard, hand, hits_soft_17)
                if end is None:
                    longer[hand] += ways
                else:
                    ends[hand] = end
                    orders[hand] += ways
        drawing = longer
    return ends, dict(orders)


def _end(upcard: int, drawn: Drawn, hits_soft_17: bool) -> int | None:
    """The dealer's end with an upcard and these cards; None if the dealer draws."""
    if len(drawn) == 1 and drawn[0] == natural(upcard):
        return BLACKJACK
    hand = (upcard, *drawn)
    total, soft = best(sum(value + 1 for value in hand), ACE in hand)
    if total > 21:
        return _BUST
    return total - 17 if total > 17 or (total == 17 and not (soft and hits_soft_17)) else None


@jit
def ends(tree: DealerTree, counts: Floats, chance: Floats, ends: Floats) -> None:
    """How likely the dealer ends where, from several sets of cards left, side by side.

    ``counts`` has a row for each value, a column for each set, ``ends`` a row for each end; ``chance``, a row for each
    place of the tree, is room to work in. Columns are few and next to each other: a processor takes them at once.
    """
    sets, longest = counts.shape[1], tree.cards[-1]
    share = np.zeros((longest + 1, sets))
    for column in range(sets):
        cards_left = counts[:, column].sum()
        for drawn in range(1, min(longest, int(cards_left)) + 1):
            share[drawn, column] = 1.0 / (cards_left - drawn + 1)
    ends[:] = 0.0
    chance[0] = 1.0
    for place in range(1, len(chance)):
        parent, value, cards = tree.parent[place], tree.value[place], tree.cards[place]
        already, end, orders = tree.already[place], tree.end[place], tree.orders[place]
        for column in range(sets):
            free = max(counts[value, column] - already, 0.0)
            likely = chance[parent, column] * free * share[cards, column]
            chance[place, column] = likely
            ends[end, column] += orders * likely
