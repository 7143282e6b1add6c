"""A seat's whole round against one upcard by a chart: first hands, doubles, surrenders and splits, exactly.

**Splits.** Let hands grow from a pair of p, and call the first card that each of them receives its "second card".
Whether there is a further hand depends on second cards only. By exchangeability these may be treated as drawn first,
one after the other, and the cards that hands hit and those of the dealer afterwards. So a split into at most M hands is
a short tree of second cards: p or not p. The worth of a hand depends on k, the number of other p that are out, and j,
the number of second cards of other hands that are known only not to be p. For j = 0 it is a single hand from a smaller
shoe. And since the next unseen card is p, with some probability P, or is not,

    Y(k, j) = P Y(k + 1, j) + (1 - P) Y(k, j + 1)

which gives j + 1 from j. The sum of the hands' values is the value of the split: means add up, however the hands are
correlated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tables.maths.blackjack_dealer import ACE, KINDS, TEN, DealerTree, Floats, Places
from tables.maths.blackjack_hands import (
    DOUBLES,
    SPLIT,
    STANDS,
    SURRENDERS,
    ChartColumn,
    Ends,
    Lattice,
    Stakes,
    ValueCounts,
    drawing,
    letter,
    no_natural,
    playing,
    stand_ends,
    standing,
)
from tables.maths.compiled import jit

MOST_HANDS = 4
OTHERS = 2 * MOST_HANDS - 3
"""Maximum of cards of the split value that are out in addition to a hand's own."""


class Play(NamedTuple):
    """The choices that a seat has; integers, 0 for no."""

    least: int
    """The lowest hard total that may be doubled."""
    most: int
    soft: int
    """Whether soft hands may be doubled."""
    after_split: int
    hands: int
    """Maximum of hands of a seat."""
    ace_hands: int
    hit_aces: int


class Pay(NamedTuple):
    """Contributions of the ends of a round."""

    first: Stakes
    later: Stakes
    """The stakes of the hands of a split after its first."""
    blackjack: float
    surrender: float
    surrender_beaten: float
    """A surrender in a round in which the dealer's second card then makes a blackjack."""
    beaten: float
    """The dealer peeked and has a blackjack; the seat has none."""


class SeatOptions(NamedTuple):
    """The options, as far as a seat feels them."""

    play: Play
    pay: Pay


class Pairs(NamedTuple):
    """The pairs that may be split: value, probability, and number of such cards before the deal."""

    value: Places
    chance: Floats
    copies: Floats


class Upcard(NamedTuple):
    """What does not depend on the chart: the cards left after an upcard, and how each hand ends that stands."""

    hands: Lattice
    shoe: ValueCounts
    ends: Floats
    split_ends: Floats
    """By the value split, and the number of other cards of it that are out."""
    pairs: Pairs
    tens: float
    """Probability that the seat has two tens that are not a pair."""


@jit
def first_ends(hands: Lattice, tree: DealerTree, counts: Floats) -> Floats:
    """How every hand ends that stands."""
    ends = np.zeros((3, len(hands.total)))
    stand_ends(hands, tree, counts, np.arange(len(hands.total)), ends)
    return ends


@jit
def all_split_ends(hands: Lattice, tree: DealerTree, counts: Floats, play: Play) -> Floats:
    """How each hand ends that stands, with one, two and more further cards out of a value that the hand contains."""
    ends = np.zeros((KINDS, OTHERS + 1, 3, len(hands.total)))
    most = np.array([play.hands] * KINDS)
    most[ACE] = play.ace_hands
    for value in range(KINDS):
        longest = 2 if value == ACE and not play.hit_aces else 99
        places = np.nonzero((hands.counts[:, value] > 0) & (hands.cards <= longest))[0]
        unseen = counts.copy()
        for out in range(1, 2 * most[value] - 2):
            unseen[value] -= 1.0
            if unseen[value] < 1.0:
                break
            stand_ends(hands, tree, unseen, places, ends[value, out])
    return ends


@jit
def doubles(hands: Lattice, play: Play, hand: int) -> bool:
    """Whether a hand of two cards may be doubled, as far as its total goes."""
    if hands.soft[hand]:
        return play.soft == 1
    return bool(play.least <= hands.total[hand] <= play.most)


class Solved(NamedTuple):
    """Contributions of every hand, with the shoe and stakes that they are for."""

    shoe: ValueCounts
    stakes: Stakes
    stand_worth: Floats
    twice: Floats
    """If it stands on a doubled stake."""
    plays: Floats
    """If it may only hit or stand, by the chart."""


@jit
def solved(hands: Lattice, shoe: ValueCounts, ends: Floats, row: ChartColumn, stakes: Stakes) -> Solved:
    """Every hand from one shoe."""
    results = Ends(ends[0], ends[1], ends[2])
    stand_worth = standing(results, stakes.single)
    return Solved(
        shoe,
        stakes,
        stand_worth,
        standing(results, stakes.double),
        playing(hands, shoe, row, stakes.single, stand_worth),
    )


@jit
def two_cards(hands: Lattice, hand: int, code: int, may_double: bool, of: Solved) -> float:
    """Contribution of a hand of two cards that neither splits nor surrenders, by a letter."""
    if may_double and code in DOUBLES:
        return drawing(hands, of.shoe, of.stakes.double, hand, of.twice)
    if code in STANDS:
        return float(of.stand_worth[hand])
    return drawing(hands, of.shoe, of.stakes.single, hand, of.plays)


@jit
def first_hand(table: Upcard, hand: int, code: int, terms: SeatOptions, of: Solved) -> float:
    """Contribution of the first two cards by a letter; of a split, only the loss to a blackjack found by a peek."""
    hands, pay, safe = table.hands, terms.pay, no_natural(table.hands, table.shoe, hand)
    beaten = pay.beaten * (1.0 - safe)
    if code == SPLIT:
        return beaten
    if code in SURRENDERS:
        return pay.surrender * safe + pay.surrender_beaten * (1.0 - safe) + beaten
    return beaten + two_cards(hands, hand, code, doubles(hands, terms.play, hand), of)


@jit
def second_cards(table: Upcard, value: int, row: ChartColumn, play: Play, stakes: Stakes) -> Floats:
    """Contribution of a split hand, by the number of other cards of its value that are out, and its second card."""
    hands = table.hands
    counts = np.zeros((OTHERS + 1, KINDS))
    unseen = table.shoe.counts.copy()
    most = play.ace_hands if value == ACE else play.hands
    for out in range(1, 2 * most - 2):
        unseen[value] -= 1.0
        if unseen[value] < 1.0:
            break
        shoe = ValueCounts(unseen, table.shoe.size - out, table.shoe.natural)
        if value == ACE and not play.hit_aces:
            ends = table.split_ends[value, out]
            stand_worth = standing(Ends(ends[0], ends[1], ends[2]), stakes.single)
            for second in range(KINDS):
                counts[out, second] = stand_worth[hands.onward[hands.onward[0, value], second]]
            continue
        of = solved(hands, shoe, table.split_ends[value, out], row, stakes)
        for second in range(KINDS):
            hand = hands.onward[hands.onward[0, value], second]
            may_double = play.after_split == 1 and doubles(hands, play, hand)
            counts[out, second] = two_cards(hands, hand, letter(hands, row, hand), may_double, of)
    return counts


@jit
def unseen_others(counts: Floats, value: int, copies: float, shoe_counts: Floats) -> tuple[Floats, Floats]:
    """Contribution of a split hand by k, other cards of its rank that are out, and j, other second cards of other
    ranks.

    First if its own second card is not of the rank either, then with any second card. `copies` counts the rank before
    the pair was dealt, `shoe_counts` every value.
    """
    no_pair, pair = np.zeros((OTHERS + 1, MOST_HANDS)), np.zeros((OTHERS + 1, MOST_HANDS))
    free = np.zeros((OTHERS + 1, MOST_HANDS))
    size = shoe_counts.sum() - 1.0
    for k in range(1, OTHERS + 1):
        alike, cards_left = copies - 1.0 - k, size - k
        if alike < 0.0 or cards_left <= alike:
            break
        for second in range(KINDS):
            cards = shoe_counts[second] - copies if second == value else shoe_counts[second]
            no_pair[k, 0] += cards / (cards_left - alike) * counts[k, second]
        pair[k, 0] = counts[k, value]
    for j in range(MOST_HANDS):
        for k in range(1, OTHERS + 1 - j):
            alike, cards_left = copies - 1.0 - k, size - k - j
            if alike < 0.0 or cards_left - alike < 1.0:
                break
            chance = alike / cards_left
            free[k, j] = chance * pair[k, j] + (1.0 - chance) * no_pair[k, j]
            if j == MOST_HANDS - 1 or k + j == OTHERS or cards_left - alike < 2.0:
                continue
            chance = alike / (cards_left - 1.0)
            no_pair[k, j + 1] = (no_pair[k, j] - chance * no_pair[k + 1, j]) / (1.0 - chance)
            chance = max(alike - 1.0, 0.0) / (cards_left - 1.0)
            pair[k, j + 1] = (pair[k, j] - chance * pair[k + 1, j]) / (1.0 - chance)
    return no_pair, free


@jit
def split_tree(
    first: tuple[Floats, Floats], later: tuple[Floats, Floats], copies: float, size: float, most: int
) -> float:
    """Contribution of all hands of a split; `first` is for the first of them, `later` for those after it.

    `chances` runs through the tree: the probability of a number of hands, by how many of them have a second card that
    is not a further pair.
    """
    chances = np.zeros((MOST_HANDS + 2, MOST_HANDS + 2))
    chances[2, 0] = 1.0
    total = 0.0
    for count in range(2, most + 1):
        for full in range(count + 1):
            chance = chances[count, full]
            if chance == 0.0:
                continue
            if count == most:
                if full > 0:
                    total += chance * (first[0][count - 1, full - 1] + (full - 1) * later[0][count - 1, full - 1])
                    total += chance * (count - full) * later[1][count - 1, full]
                else:
                    total += chance * (first[1][count - 1, 0] + (count - 1) * later[1][count - 1, 0])
            elif full == count:
                total += chance * (first[0][count - 1, full - 1] + (full - 1) * later[0][count - 1, full - 1])
            else:
                again = (copies - count) / (size - count - full)
                chances[count + 1, full] += chance * again
                chances[count, full + 1] += chance * (1.0 - again)
    return total


@jit
def split(table: Upcard, value: int, row: ChartColumn, terms: SeatOptions) -> Floats:
    """Contribution of the split of each pair of a value, in the order of the pairs; 0 for the other values."""
    totals, play, pay = np.zeros(len(table.pairs.value)), terms.play, terms.pay
    shoe_counts, most = table.shoe.counts, play.ace_hands if value == ACE else play.hands
    later_counts = second_cards(table, value, row, play, pay.later)
    apart = pay.first.single.natural != pay.later.single.natural
    counts = second_cards(table, value, row, play, pay.first) if apart else later_counts
    for place in range(len(totals)):
        copies = table.pairs.copies[place]
        if table.pairs.value[place] == value and copies >= 2.0:
            later = unseen_others(later_counts, value, copies, shoe_counts)
            first = unseen_others(counts, value, copies, shoe_counts) if apart else later
            totals[place] = split_tree(first, later, copies, table.shoe.size, most)
    return totals


@jit
def pair_letter(row: ChartColumn, hands: Lattice, value: int, play: Play) -> int:
    """The chart's letter for a pair; that of its total if it cannot be split."""
    code = int(row.pairs[value])
    if code == SPLIT and play.hands < 2:
        return letter(hands, row, hands.onward[hands.onward[0, value], value])
    return code


@jit
def without_splits(table: Upcard, row: ChartColumn, terms: SeatOptions) -> float:
    """Contribution of a round against this upcard; rounds that come to a split contribute 0."""
    hands, shoe = table.hands, table.shoe
    of = solved(hands, shoe, table.ends, row, terms.pay.first)
    draws = shoe.size * (shoe.size - 1.0)
    total = 0.0
    for low in range(KINDS):
        for high in range(low + 1, KINDS):
            hand = hands.onward[hands.onward[0, low], high]
            chance = 2.0 * shoe.counts[low] * shoe.counts[high] / draws
            if low == ACE and high == TEN:
                total += chance * terms.pay.blackjack * no_natural(hands, shoe, hand)
            elif chance > 0.0:
                total += chance * first_hand(table, hand, letter(hands, row, hand), terms, of)
    for place in range(len(table.pairs.value)):
        value, chance = table.pairs.value[place], table.pairs.chance[place]
        hand = hands.onward[hands.onward[0, value], value]
        if chance > 0.0:
            total += chance * first_hand(table, hand, pair_letter(row, hands, value, terms.play), terms, of)
    if table.tens > 0.0:
        hand = hands.onward[hands.onward[0, TEN], TEN]
        total += table.tens * first_hand(table, hand, letter(hands, row, hand), terms, of)
    return total


@jit
def splits(table: Upcard, row: ChartColumn, terms: SeatOptions) -> float:
    """Contribution of the rounds that come to a split."""
    total = 0.0
    for value in range(KINDS):
        if pair_letter(row, table.hands, value, terms.play) == SPLIT:
            total += (table.pairs.chance * split(table, value, row, terms)).sum()
    return total


def with_splits(table: Upcard, row: ChartColumn, terms: SeatOptions) -> float:
    """Contribution of a round against this upcard."""
    return without_splits(table, row, terms) + splits(table, row, terms)


@jit
def first_letters(table: Upcard, value: int, row: ChartColumn, terms: SeatOptions) -> Floats:
    """Contribution of a pair of a value by each letter, over all its pairs; splits as in `split`."""
    of = solved(table.hands, table.shoe, table.ends, row, terms.pay.first)
    hand = table.hands.onward[table.hands.onward[0, value], value]
    chance = table.pairs.chance[table.pairs.value == value].sum()
    counts = np.array([chance * first_hand(table, hand, code, terms, of) for code in range(8)])
    if terms.play.hands >= 2:
        counts[SPLIT] += (table.pairs.chance * split(table, value, row, terms)).sum()
    return counts
