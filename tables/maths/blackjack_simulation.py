"""Blackjack by chance: rounds of one seat that plays by a chart, compiled, reproducible by seed.

It knows nothing of the exact values but the chart: cards are drawn one by one, as the table deals them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tables.games.blackjack import Rules
from tables.maths.blackjack_chart import Chart, blackjack_odds, letters_of, play_of
from tables.maths.blackjack_dealer import ACE, TEN
from tables.maths.blackjack_hands import (
    DOUBLE,
    DOUBLE_STAND,
    SPLIT,
    STAND,
    SURRENDER,
    SURRENDER_SPLIT,
    SURRENDER_STAND,
)
from tables.maths.blackjack_round import MOST_HANDS
from tables.maths.compiled import jit
from tables.maths.simulation import Bytes, Words, dice_of, draw

Counts = NDArray[np.int64]

CHUNK: Final = 1_000_000
MOST: Final = 20 * MOST_HANDS
"""The most that a round wins or loses, in tenths of the bet."""
LEAST_LEFT: Final = 60
"""No round begins with so few cards, for it might need more: four hands and the dealer's."""
_HARD, _SOFT, _PAIRS = 0, 22, 44
_NEVER: Final = 10**9


class House(NamedTuple):
    """The options, in numbers."""

    doubles_least: int
    doubles_most: int
    doubles_soft: int
    after_split: int
    hands: int
    ace_hands: int
    hit_aces: int
    by_rank: int
    hits_soft_17: int
    looks: int
    original_only: int
    blackjack: int
    """What it pays, in tenths of the bet."""


@dataclass(frozen=True, eq=False)
class Tally:
    """What came of some rounds: how often the seat won so many tenths of its bet, without a split and after one."""

    ends: Counts

    @property
    def rounds(self) -> int:
        """How many rounds were dealt."""
        return int(self.ends.sum())

    @property
    def results(self) -> dict[Fraction, int]:
        """What the seat won, in bets, and in how many rounds."""
        often = self.ends.sum(axis=0)
        return {Fraction(int(place) - MOST, 10): int(often[place]) for place in np.nonzero(often)[0]}

    @property
    def mean(self) -> float:
        """What the seat wins of a bet."""
        return self._moment(1)

    @property
    def standard_deviation(self) -> float:
        """Of one bet, in bets."""
        return sqrt(self._moment(2) - self.mean**2)

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        return self.standard_deviation / sqrt(self.rounds)

    @property
    def hits(self) -> float:
        """In which part of the rounds the seat wins."""
        return float(self.ends[:, MOST + 1 :].sum() / self.rounds)

    @property
    def split(self) -> float:
        """In which part of the rounds it splits."""
        return float(self.ends[1].sum() / self.rounds)

    def _moment(self, power: int) -> float:
        tenths = (np.arange(-MOST, MOST + 1) / 10) ** power
        return float((self.ends.sum(axis=0) * tenths).sum() / self.rounds)

    def counts(self) -> dict[str, Any]:
        """As a run is kept: whole numbers, so that adding up loses nothing."""
        return {"ends": self.ends.tolist()}

    def with_counts(self, counts: Mapping[str, Any]) -> Tally:
        """Together with what was kept. Raises ValueError, KeyError or TypeError for what is no such thing."""
        return Tally(self.ends + counts["ends"])

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.ends + other.ends)


def nothing() -> Tally:
    """The tally before the first round."""
    return Tally(np.zeros((2, 2 * MOST + 1), np.int64))


def house_of(rules: Rules) -> House:
    """The options, in numbers."""
    pays, stake = blackjack_odds(rules)
    return House(
        *play_of(rules),
        by_rank=int(rules.split_by == "rank"),
        hits_soft_17=int(rules.soft17 == "hit"),
        looks=int(rules.hole == "peek"),
        original_only=int(rules.hole == "none_original"),
        blackjack=10 * pays // stake,
    )


def columns(chart: Chart) -> Counts:
    """The chart as the loop reads it: a row for each upcard's value."""
    return np.array([letters_of(row) for row in chart.rows])


def simulate(
    rules: Rules, chart: Chart, rounds: int, seed: int, ranks: tuple[int, ...] | None = None, cut: int | None = None
) -> Tally:
    """Deals so many rounds; the same seed deals the same rounds everywhere. It keeps no lock while it does.

    Each is dealt from the whole shoe, or, with ``cut``, from what the rounds before it left until no more than so many
    cards are left. ``ranks`` is the shoe by rank, ace to king; without it: full decks.
    """
    tally = nothing()
    held = np.array(ranks or (4 * rules.decks,) * 13, np.int64)
    cards = np.repeat(np.arange(13), held).astype(np.uint8)
    last = _NEVER if cut is None else max(cut, LEAST_LEFT)
    _deal(dice_of(np.uint64(seed % 2**64)), rounds, last, cards, house_of(rules), columns(chart), tally.ends)
    return tally


def simulate_splits(
    rules: Rules, chart: Chart, ranks: tuple[int, ...], upcard: int, pair: int, rounds: int, seed: int
) -> Tally:
    """Deals so many rounds that begin with a rank's pair against an upcard's rank, and no dealer's blackjack seen."""
    tally = nothing()
    held = np.array(ranks, np.int64)
    held[upcard] -= 1
    held[pair] -= 2
    cards = np.repeat(np.arange(13), held).astype(np.uint8)
    start = np.array([pair, upcard, pair], np.int64)
    _deal_pairs(dice_of(np.uint64(seed % 2**64)), rounds, cards, start, house_of(rules), columns(chart), tally.ends)
    return tally


# --- the loop, in machine code: whole numbers only ---------------------------------------------------------------


@jit
def _deal(dice: Words, rounds: int, last: int, cards: Bytes, house: House, letters: Counts, ends: Counts) -> None:
    """Rounds as the table deals them."""
    standing, left = np.zeros((MOST_HANDS, 2), np.int64), np.array([len(cards)])
    for _ in range(rounds):
        if left[0] <= last:
            left[0] = len(cards)
        first = _card(cards, left, dice)
        up = _card(cards, left, dice)
        second = _card(cards, left, dice)
        hole = _card(cards, left, dice) if house.looks else -1
        net, split = _play(cards, left, dice, first, second, up, hole, house, letters[min(up, TEN)], standing)
        ends[split, MOST + net] += 1


@jit
def _deal_pairs(
    dice: Words, rounds: int, cards: Bytes, start: Counts, house: House, letters: Counts, ends: Counts
) -> None:
    """Rounds that begin with the same three cards; the others lie in ``cards``."""
    standing, left = np.zeros((MOST_HANDS, 2), np.int64), np.array([len(cards)])
    first, up, second = start
    for _ in range(rounds):
        hole = -1
        if house.looks:
            left[0] = len(cards)
            hole = _card(cards, left, dice)
            while _blackjack(up, hole):
                left[0] = len(cards)
                hole = _card(cards, left, dice)
        else:
            left[0] = len(cards)
        net, split = _play(cards, left, dice, first, second, up, hole, house, letters[min(up, TEN)], standing)
        ends[split, MOST + net] += 1


@jit
def _card(cards: Bytes, left: Counts, dice: Words) -> int:
    """The next card's rank, 0 an ace, 12 a king."""
    rank = np.int64(draw(cards, left[0], dice))
    left[0] -= 1
    return rank


@jit
def _points(rank: int) -> int:
    return min(rank, TEN) + 1


@jit
def _blackjack(first: int, second: int) -> bool:
    return (first == ACE and second >= TEN) or (second == ACE and first >= TEN)


@jit
def _letter(letters: Counts, hard: int, aces: int) -> int:
    """What the chart says for a total that is not too many."""
    return int(letters[_SOFT + hard + 10]) if aces and hard <= 11 else int(letters[_HARD + hard])


@jit
def _play(
    cards: Bytes,
    left: Counts,
    dice: Words,
    first: int,
    second: int,
    up: int,
    hole: int,
    house: House,
    letters: Counts,
    standing: Counts,
) -> tuple[int, int]:
    """A round from its first cards on: what the seat wins, in tenths of its bet, and whether it split.

    ``standing`` is room for the hands that stand: the total and the bets of each; hands that are too many have 0 bets.
    """
    if house.looks and _blackjack(up, hole):
        return (0 if _blackjack(first, second) else -10), 0
    if _blackjack(first, second):
        if not house.looks and (up == ACE or up >= TEN) and _blackjack(up, _card(cards, left, dice)):
            return 0, 0
        return house.blackjack, 0
    net, hands, waiting, stands = 0, 1, 0, 0
    count = 0
    while True:
        points = _points(first) + _points(second)
        aces = (first == ACE) + (second == ACE)
        same = first == second if house.by_rank else min(first, TEN) == min(second, TEN)
        code = _letter(letters, points, aces)
        if same and int(letters[_PAIRS + min(first, TEN)]) != SPLIT:
            code = int(letters[_PAIRS + min(first, TEN)])
        elif same and hands < (house.ace_hands if first == ACE and hands > 1 else house.hands):
            hands += 1
            waiting += 1
            second = _card(cards, left, dice)
            continue
        if hands == 1 and (code == SURRENDER or code == SURRENDER_STAND or code == SURRENDER_SPLIT):
            return -5, 0
        bets = 1
        if hands == 1 or first != ACE or house.hit_aces:
            soft = aces > 0 and points <= 11
            inside = house.doubles_soft if soft else house.doubles_least <= points <= house.doubles_most
            if (code == DOUBLE or code == DOUBLE_STAND) and inside and (hands == 1 or house.after_split):
                bets = 2
                rank = _card(cards, left, dice)
                points += _points(rank)
                aces += rank == ACE
            else:
                while not (code == STAND or code == DOUBLE_STAND or code == SURRENDER_STAND):
                    rank = _card(cards, left, dice)
                    points += _points(rank)
                    aces += rank == ACE
                    if points > 21:
                        break
                    code = _letter(letters, points, aces)
        if points > 21:
            net -= 10 * bets
            bets = 0
        elif aces and points <= 11:
            points += 10
        standing[count, 0] = points
        standing[count, 1] = bets
        stands += bets > 0
        count += 1
        if waiting == 0:
            break
        waiting -= 1
        second = _card(cards, left, dice)
    split = int(hands > 1)
    if stands == 0:
        return net, split
    if not house.looks:
        hole = _card(cards, left, dice)
    if _blackjack(up, hole):
        for hand in range(count):
            bets = standing[hand, 1]
            if house.original_only:
                bets = min(bets, 1) if hand == 0 else 0
            net -= 10 * bets
        return net, split
    dealer = _dealer(cards, left, dice, up, hole, house.hits_soft_17)
    for hand in range(count):
        if dealer > 21 or standing[hand, 0] > dealer:
            net += 10 * standing[hand, 1]
        elif standing[hand, 0] < dealer:
            net -= 10 * standing[hand, 1]
    return net, split


@jit
def _dealer(cards: Bytes, left: Counts, dice: Words, up: int, hole: int, hits_soft_17: int) -> int:
    """The dealer's total."""
    points, aces = _points(up) + _points(hole), (up == ACE) + (hole == ACE)
    while True:
        soft = aces > 0 and points <= 11
        total = points + 10 if soft else points
        if total > 17 or (total == 17 and not (soft and hits_soft_17)):
            return total
        rank = _card(cards, left, dice)
        points += _points(rank)
        aces += rank == ACE
