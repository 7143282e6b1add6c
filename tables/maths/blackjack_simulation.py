"""Blackjack by chance: rounds of one seat that plays by a chart, compiled, reproducible by seed.

It knows nothing of the exact values but the chart: cards are drawn one by one, as the table deals them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tables.games.blackjack import Rules
from tables.games.cards import Composition
from tables.maths.blackjack_chart import Chart, blackjack_odds, letters_of, play_of
from tables.maths.blackjack_dealer import ACE, TEN
from tables.maths.blackjack_hands import DOUBLES, SPLIT, STAND, STANDS, SURRENDERS
from tables.maths.blackjack_round import MOST_HANDS
from tables.maths.compiled import inlined, jit
from tables.maths.random_cards import Bytes, Words, dice_of, draw

Counts = NDArray[np.int64]

CHUNK: Final = 1_000_000
MOST: Final = 20 * MOST_HANDS
"""The most that a round wins or loses, in tenths of the bet."""
LEAST_LEFT: Final = 60
"""No round begins with so few cards, for it might need more: four hands and the dealer's."""
_HARD, _SOFT, _PAIRS = 0, 22, 44
_NEVER: Final = 10**9
NO_CARD: Final = -1
STANDING, DOUBLING, SURRENDERING = (sum(1 << code for code in codes) for codes in (STANDS, DOUBLES, SURRENDERS))
"""Letters as bits, which are faster to test than membership in a list."""


class SimulationOptions(NamedTuple):
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
    surrender_waits: int
    """Whether a dealer's blackjack, detected later, takes the whole bet of a hand that surrendered."""
    blackjack: int
    """Payout of a blackjack, in tenths of the bet."""


class Deck(NamedTuple):
    """The cards in any order, how many of them are left to draw, in front, and the dice that draw them."""

    cards: Bytes
    left: Counts
    dice: Words


class Dealt(NamedTuple):
    """A shoe by rank, with the rank of the seat's pair and that of the upcard; 0 an ace, 12 a king."""

    ranks: Sequence[int]
    upcard: int
    pair: int


@dataclass(frozen=True, eq=False)
class BlackjackTally:
    """Results of simulated rounds: how often the seat won each number of tenths of its bet, without and with a
    split."""

    ends: Counts

    @property
    def rounds(self) -> int:
        """Number of rounds dealt."""
        return int(self.ends.sum())

    @property
    def results(self) -> dict[Fraction, int]:
        """Number of rounds by net win in bets."""
        often = self.ends.sum(axis=0)
        return {Fraction(int(place) - MOST, 10): int(often[place]) for place in np.nonzero(often)[0]}

    @property
    def mean(self) -> float:
        """Mean win of the seat, in bets."""
        return self._moment(1)

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of one bet, in bets."""
        return sqrt(self._moment(2) - self.mean**2)

    @property
    def standard_error(self) -> float:
        """Standard error of the mean."""
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
        """The tally in the form in which a run is stored: integers, so that sums are exact."""
        return {"ends": self.ends.tolist()}

    def with_counts(self, counts: Mapping[str, Any]) -> BlackjackTally:
        """The sum with a stored tally. Raises ValueError, KeyError or TypeError for malformed data."""
        return BlackjackTally(self.ends + counts["ends"])

    def __add__(self, other: BlackjackTally) -> BlackjackTally:
        return BlackjackTally(self.ends + other.ends)


def nothing() -> BlackjackTally:
    """The tally before the first round."""
    return BlackjackTally(np.zeros((2, 2 * MOST + 1), np.int64))


def house_of(rules: Rules) -> SimulationOptions:
    """The options, in numbers."""
    pays, stake = blackjack_odds(rules)
    return SimulationOptions(
        *play_of(rules),
        by_rank=int(rules.split_by == "rank"),
        hits_soft_17=int(rules.soft17 == "hit"),
        looks=int(rules.hole == "peek"),
        original_only=int(rules.hole == "none_original"),
        surrender_waits=int(rules.surrender == "late" and rules.hole != "peek"),
        blackjack=10 * pays // stake,
    )


def columns(chart: Chart) -> Counts:
    """The chart as the loop reads it: a row for each upcard's value."""
    return np.array([letters_of(row) for row in chart.rows])


def simulate(
    rules: Rules, chart: Chart, rounds: int, seed: int, ranks: Composition | None = None, cut: int | None = None
) -> BlackjackTally:
    """Simulate rounds; a seed deals equal rounds on every machine. Releases the GIL.

    Each round is dealt from the whole shoe, of full decks or of `ranks` cards of each rank; with `cut`, from what the
    rounds before left, until at most `cut` cards are left.
    """
    tally = nothing()
    last = _NEVER if cut is None else max(cut, LEAST_LEFT)
    deck = deck_of(ranks or (4 * rules.decks,) * 13, seed)
    _deal(deck, rounds, (last, house_of(rules)), columns(chart), tally.ends)
    return tally


def simulate_splits(rules: Rules, chart: Chart, dealt: Dealt, rounds: int, seed: int) -> BlackjackTally:
    """Simulate rounds that begin with a pair of a rank against an upcard's rank, without a blackjack of a dealer who
    peeks."""
    tally = nothing()
    counts = [*dealt.ranks]
    counts[dealt.upcard] -= 1
    counts[dealt.pair] -= 2
    start = (dealt.pair, dealt.pair, dealt.upcard)
    _deal_pairs(deck_of(counts, seed), rounds, (start, house_of(rules)), columns(chart), tally.ends)
    return tally


def first_cards(
    cards: Composition, lines: tuple[Bytes, Bytes], rounds: int, seed: int
) -> tuple[Counts, Counts, Counts]:
    """Number of rounds by line of the wagers on the first cards, losses first.

    The wagers are those on the seat's two cards, those with the upcard, and, in two lines, a ten under an ace. `lines`
    gives the line of each two cards, and of each three.
    """
    counts = (np.zeros(256, np.int64), np.zeros(256, np.int64), np.zeros(2, np.int64))
    _first_cards(deck_of(cards, seed), rounds, lines, counts)
    return counts


def deck_of(counts: Sequence[int], seed: int) -> Deck:
    """A deck of this number of each card, and the random generator of a seed."""
    cards = np.repeat(np.arange(len(counts)), counts).astype(np.uint8)
    return Deck(cards, np.array([len(cards)]), dice_of(np.uint64(seed % 2**64)))


# --- the loop, in machine code: whole numbers only ---------------------------------------------------------------


@jit
def _deal(deck: Deck, rounds: int, table: tuple[int, SimulationOptions], letters: Counts, ends: Counts) -> None:
    """Rounds as the table deals them. ``table`` is with how many cards left no round begins, and the options."""
    standing = np.zeros((MOST_HANDS, 2), np.int64)
    last, house = table
    for _ in range(rounds):
        if deck.left[0] <= last:
            deck.left[0] = len(deck.cards)
        first = _card(deck)
        up = _card(deck)
        second = _card(deck)
        hole = _card(deck) if house.looks else NO_CARD
        net, split = _play(deck, (first, second, up, hole), house, letters[min(up, TEN)], standing)
        ends[split, MOST + net] += 1


@jit
def _deal_pairs(
    deck: Deck, rounds: int, table: tuple[tuple[int, int, int], SimulationOptions], letters: Counts, ends: Counts
) -> None:
    """Rounds that begin with the same three cards, which the deck is without, and no blackjack that the dealer sees."""
    standing = np.zeros((MOST_HANDS, 2), np.int64)
    (first, second, up), house = table
    for _ in range(rounds):
        deck.left[0] = len(deck.cards)
        hole = _card(deck) if house.looks else NO_CARD
        while house.looks and _blackjack(up, hole):
            deck.left[0] = len(deck.cards)
            hole = _card(deck)
        net, split = _play(deck, (first, second, up, hole), house, letters[min(up, TEN)], standing)
        ends[split, MOST + net] += 1


@jit
def _first_cards(deck: Deck, rounds: int, lines: tuple[Bytes, Bytes], counts: tuple[Counts, Counts, Counts]) -> None:
    """A card's number, in either pack, is its rank and a multiple of thirteen."""
    kinds = len(lines[0])
    for _ in range(rounds):
        deck.left[0] = len(deck.cards)
        first = _card(deck)
        up = _card(deck)
        second = _card(deck)
        hole = _card(deck)
        if kinds:
            counts[0][lines[0][52 * first + second]] += 1
            counts[1][lines[1][2704 * first + 52 * second + up]] += 1
        if up % 13 == ACE:
            counts[2][int(hole % 13 >= TEN)] += 1


@inlined
def _card(deck: Deck) -> int:
    """The next card's rank, 0 an ace, 12 a king."""
    cards_left = deck.left[0]
    deck.left[0] = cards_left - 1
    return int(np.int64(draw(deck.cards, cards_left, deck.dice)))


@inlined
def _points(rank: int) -> int:
    return min(rank, TEN) + 1


@inlined
def _blackjack(first: int, second: int) -> bool:
    return (first == ACE and second >= TEN) or (second == ACE and first >= TEN)


@inlined
def _letter(letters: Counts, hard: int, aces: int) -> int:
    """The chart's letter for a total of at most 21."""
    return int(letters[_SOFT + hard + 10]) if aces and hard <= 11 else int(letters[_HARD + hard])


@inlined
def _play(
    deck: Deck, dealt: tuple[int, int, int, int], house: SimulationOptions, letters: Counts, standing: Counts
) -> tuple[int, int]:
    """A round from its first cards on: the seat's win in tenths of its bet, and whether it split.

    `dealt` is the seat's two cards, the upcard and the hole card. `standing` is an array for the finished hands: the
    total and the bets of each; a bust hand has 0 bets there.
    """
    first, second, up, hole = dealt
    if house.looks and _blackjack(up, hole):
        return (0 if _blackjack(first, second) else -10), 0
    if _blackjack(first, second):
        if not house.looks and (up == ACE or up >= TEN) and _blackjack(up, _card(deck)):
            return 0, 0
        return house.blackjack, 0
    net, hands, waiting, count, live_bets = 0, 1, 0, 0, 0
    while True:
        code = _hand_letter(letters, first, second, house)
        if code == SPLIT and hands < (house.ace_hands if first == ACE and hands > 1 else house.hands):
            hands += 1
            waiting += 1
            second = _card(deck)
            continue
        if code == SPLIT:
            code = _letter(letters, _points(first) + _points(second), first == ACE)
        if hands == 1 and SURRENDERING >> code & 1:
            is_lost = house.surrender_waits and (up == ACE or up >= TEN) and _blackjack(up, _card(deck))
            return (-10 if is_lost else -5), 0
        if hands > 1 and first == ACE and not house.hit_aces:
            code = STAND
        may_double = hands == 1 or house.after_split == 1
        points, bets = _finish(deck, (first, second), (code, may_double), house, letters)
        if points > 21:
            net -= 10 * bets
            bets = 0
        standing[count, 0] = points
        standing[count, 1] = bets
        live_bets += bets
        count += 1
        if waiting == 0:
            break
        waiting -= 1
        second = _card(deck)
    if live_bets:
        net += _settle(deck, (up, hole), house, standing, count)
    return net, int(hands > 1)


@inlined
def _hand_letter(letters: Counts, first: int, second: int, house: SimulationOptions) -> int:
    """The chart's letter for two cards: for a pair, or for their total."""
    alike = first == second if house.by_rank else min(first, TEN) == min(second, TEN)
    if alike:
        return int(letters[_PAIRS + min(first, TEN)])
    return _letter(letters, _points(first) + _points(second), first == ACE or second == ACE)


@inlined
def _finish(
    deck: Deck, hand: tuple[int, int], choice: tuple[int, bool], house: SimulationOptions, letters: Counts
) -> tuple[int, int]:
    """The total and the bets of a hand of two cards that neither splits nor surrenders. ``choice`` is its letter, and
    whether it might double."""
    code, may_double = choice
    points, aces = _points(hand[0]) + _points(hand[1]), (hand[0] == ACE) + (hand[1] == ACE)
    soft, bets = aces > 0 and points <= 11, 1
    inside = house.doubles_soft == 1 if soft else house.doubles_least <= points <= house.doubles_most
    if DOUBLING >> code & 1 and may_double and inside:
        rank = _card(deck)
        points += _points(rank)
        aces += rank == ACE
        bets = 2
    else:
        while not STANDING >> code & 1:
            rank = _card(deck)
            points += _points(rank)
            aces += rank == ACE
            if points > 21:
                break
            code = _letter(letters, points, aces)
    return (points + 10 if aces and points <= 11 else points), bets


@inlined
def _settle(deck: Deck, dealer: tuple[int, int], house: SimulationOptions, standing: Counts, count: int) -> int:
    """Total win of the hands that stand, in tenths of the bet."""
    up, hole = dealer
    if hole == NO_CARD:
        hole = _card(deck)
    if _blackjack(up, hole):
        return _beaten(house, standing, count)
    return _compare(_dealer(deck, up, hole, house.hits_soft_17), standing, count)


@inlined
def _beaten(house: SimulationOptions, standing: Counts, count: int) -> int:
    """Total win of standing hands against a blackjack."""
    net = 0
    for hand in range(count):
        bets = standing[hand, 1]
        if house.original_only:
            bets = min(bets, 1) if hand == 0 else 0
        net -= 10 * bets
    return net


@inlined
def _compare(total: int, standing: Counts, count: int) -> int:
    """Total win of standing hands against a total."""
    net = 0
    for hand in range(count):
        if total > 21 or standing[hand, 0] > total:
            net += 10 * standing[hand, 1]
        elif standing[hand, 0] < total:
            net -= 10 * standing[hand, 1]
    return net


@inlined
def _dealer(deck: Deck, up: int, hole: int, hits_soft_17: int) -> int:
    """The dealer's total."""
    points, aces = _points(up) + _points(hole), (up == ACE) + (hole == ACE)
    while True:
        soft = aces > 0 and points <= 11
        total = points + 10 if soft else points
        if total > 17 or (total == 17 and not (soft and hits_soft_17)):
            return total
        rank = _card(deck)
        points += _points(rank)
        aces += rank == ACE
