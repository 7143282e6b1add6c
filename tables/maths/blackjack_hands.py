"""A seat's blackjack hands by a chart: their exact worth from any cards left, with every card removed.

A hand is a set of cards, since their order does not matter. Unseen cards are exchangeable, so the further cards of a
hand, of other hands and of the dealer may be treated as drawn in any order, as long as no choice looks ahead.

A dealer who peeks is known to have no blackjack. That distinguishes the hole card from the other unseen cards, so
nothing here is conditioned on it: every value is the mean of the win, counted as 0 if the dealer has a blackjack.
Divided by the probability of no blackjack it is the conditional mean.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import numpy as np

from tables.maths.blackjack_dealer import ACE, BLACKJACK, KINDS, VALUES, DealerTree, Floats, Places, best, ends
from tables.maths.compiled import jit

LETTERS: Final = ("H", "S", "D", "Ds", "P", "R", "Rs", "Rp")
"""Hit; stand; double, else hit or stand; split; surrender, else hit, stand or split. A letter's code is its index."""
HIT, STAND, DOUBLE, DOUBLE_STAND, SPLIT, SURRENDER, SURRENDER_STAND, SURRENDER_SPLIT = range(len(LETTERS))
STANDS: Final = (STAND, DOUBLE_STAND, SURRENDER_STAND)
DOUBLES: Final = (DOUBLE, DOUBLE_STAND)
SURRENDERS: Final = (SURRENDER, SURRENDER_STAND, SURRENDER_SPLIT)
OUT: Final = -1
"""No hand: the cards exceed 21."""
_SETS: Final = 8
"""Number of hands for which the dealer is computed at a time."""


class Lattice(NamedTuple):
    """All hands that are not too many, by rising hard total; the empty one is the first."""

    counts: Places
    cards: Places
    total: Places
    soft: Places
    onward: Places
    """The hand with one card more, by its value."""


class ChartColumn(NamedTuple):
    """A chart's column of one upcard: the letter for each total, hard and soft, and for each pair's value."""

    hard: Places
    soft: Places
    pairs: Places


class Ends(NamedTuple):
    """Results of each hand that stands: probabilities to win, to lose, and to meet a dealer's blackjack."""

    win: Floats
    lose: Floats
    natural: Floats


class StakeValue(NamedTuple):
    """Contribution of a hand with its stake at each end: its win, or the square of that, or 1 for a win."""

    win: float
    lose: float
    natural: float
    """The hand stands, and the dealer has a blackjack."""
    bust_natural: float
    """The hand busts, and the dealer has a blackjack."""


class Stakes(NamedTuple):
    """A hand with one bet on it, and with two."""

    single: StakeValue
    double: StakeValue


class ValueCounts(NamedTuple):
    """Number of cards of each value, including the hand's own, before any is drawn to it."""

    counts: Floats
    size: float
    natural: int
    """The value that would complete the dealer's blackjack; -1 if there is none."""


@cache
def lattice() -> Lattice:
    """The hands, once for all."""
    hands: list[tuple[int, ...]] = []
    longer: set[tuple[int, ...]] = {(0,) * len(VALUES)}
    while longer:
        hands += sorted(longer)
        longer = {longer_hand for hand in longer for value in VALUES if _hard(longer_hand := _with(hand, value)) <= 21}
    hands.sort(key=_hard)
    places = {hand: place for place, hand in enumerate(hands)}
    counted = [best(_hard(hand), hand[ACE] > 0) for hand in hands]
    return Lattice(
        counts=np.array(hands, np.int64),
        cards=np.array([sum(hand) for hand in hands], np.int64),
        total=np.array([total for total, _ in counted], np.int64),
        soft=np.array([soft for _, soft in counted], np.int64),
        onward=np.array([[places.get(_with(hand, value), OUT) for value in VALUES] for hand in hands], np.int64),
    )


def _with(hand: tuple[int, ...], value: int) -> tuple[int, ...]:
    return (*hand[:value], hand[value] + 1, *hand[value + 1 :])


def _hard(hand: tuple[int, ...]) -> int:
    return sum(count * (value + 1) for value, count in enumerate(hand))


def place(hand: tuple[int, ...]) -> int:
    """Index of a hand of some values; OUT (-1) if it exceeds 21."""
    hands, index = lattice(), 0
    for value in hand:
        index = int(hands.onward[index, value]) if index != OUT else OUT
    return index


# --- in machine code ---------------------------------------------------------------------------------------------


@jit
def stand_ends(hands: Lattice, tree: DealerTree, unseen: Floats, places: Places, result: Floats) -> None:
    """Probabilities that these hands win, lose or meet a blackjack if they stand, as rows of `result`.

    `unseen` includes the hand's own cards, but neither the upcard nor other cards that are out.
    """
    chance = np.zeros((len(tree.parent), _SETS))
    counts, dealer = np.zeros((KINDS, _SETS)), np.zeros((BLACKJACK + 1, _SETS))
    for start in range(0, len(places), _SETS):
        count = min(_SETS, len(places) - start)
        for column in range(count):
            for value in range(KINDS):
                counts[value, column] = max(unseen[value] - hands.counts[places[start + column], value], 0.0)
        ends(tree, counts, chance, dealer)
        for column in range(count):
            hand = places[start + column]
            result[:, hand] = 0.0
            result[0, hand] = dealer[5, column]
            for end in range(5):
                if end + 17 < hands.total[hand]:
                    result[0, hand] += dealer[end, column]
                elif end + 17 > hands.total[hand]:
                    result[1, hand] += dealer[end, column]
            result[2, hand] = dealer[BLACKJACK, column]


@jit
def no_natural(hands: Lattice, shoe: ValueCounts, hand: int) -> float:
    """Probability that the dealer has no blackjack, given this hand."""
    if shoe.natural < 0:
        return 1.0
    cards_left = shoe.size - hands.cards[hand]
    return (
        1.0 - (shoe.counts[shoe.natural] - hands.counts[hand, shoe.natural]) / cards_left if cards_left > 0.0 else 1.0
    )


@jit
def standing(ends: Ends, stake: StakeValue) -> Floats:
    """Contribution of every hand that stands."""
    return stake.win * ends.win + stake.lose * ends.lose + stake.natural * ends.natural


@jit
def drawing(hands: Lattice, shoe: ValueCounts, stake: StakeValue, hand: int, onward: Floats) -> float:
    """Contribution of a hand with one further card; `onward` has the contribution of every longer hand."""
    cards_left = shoe.size - hands.cards[hand]
    if cards_left < 1.0:
        return 0.0
    mean = 0.0
    for value in range(KINDS):
        free = shoe.counts[value] - hands.counts[hand, value]
        if free <= 0.0:
            continue
        longer = hands.onward[hand, value]
        if longer != OUT:
            mean += free * onward[longer]
            continue
        natural = 0.0
        if shoe.natural >= 0 and cards_left > 1.0:
            natural = (shoe.counts[shoe.natural] - hands.counts[hand, shoe.natural] - (shoe.natural == value)) / (
                cards_left - 1.0
            )
        mean += free * (stake.lose * (1.0 - natural) + stake.bust_natural * natural)
    return float(mean / cards_left)


@jit
def letter(hands: Lattice, row: ChartColumn, hand: int) -> int:
    """The chart's letter for a hand's total."""
    return int(row.soft[hands.total[hand]] if hands.soft[hand] else row.hard[hands.total[hand]])


@jit
def playing(hands: Lattice, shoe: ValueCounts, row: ChartColumn, stake: StakeValue, stand_worth: Floats) -> Floats:
    """Contribution of every hand of at least two cards that may only hit or stand, by the chart.

    `stand_worth` is the contribution of a hand that stands. Longer hands are solved first, as they have higher hard
    totals.
    """
    values = np.zeros(len(hands.total))
    for hand in range(len(values) - 1, -1, -1):
        if hands.cards[hand] < 2:
            continue
        code = letter(hands, row, hand)
        if code in STANDS:
            values[hand] = stand_worth[hand]
        else:
            values[hand] = drawing(hands, shoe, stake, hand, values)
    return values


@jit
def choosing(hands: Lattice, shoe: ValueCounts, stake: StakeValue, stand_worth: Floats) -> Floats:
    """Worth of every hand that may only hit or stand, under best play from these cards."""
    values = np.zeros(len(hands.total))
    for hand in range(len(values) - 1, -1, -1):
        values[hand] = stand_worth[hand]
        if hands.cards[hand] >= 1 and hands.total[hand] < 21:
            values[hand] = max(values[hand], drawing(hands, shoe, stake, hand, values))
    return values
