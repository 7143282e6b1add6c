"""The exact value of a seat's round of Rocket from any shoe: dynamic programming over two sets of ranks.

A seat still in holds no rank twice, and neither does the dealer. So when the seat decides, its cards and the dealer's
are two sets of k ranks each, and they determine what is left of the shoe: 92,378 places for a decision and as many for
a dealer's card. A layer is a matrix: a row for each set of the player's, a column for each of the dealer's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tables.games.cards import RANKS, Composition
from tables.games.rocket import DEATH_CARD
from tables.maths.situation import OPTIMAL, Situation, Strategy, Unknowable

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

DEALER_RANKS: Final = tuple(rank for rank in RANKS if rank != DEATH_CARD)
LAST: Final = len(DEALER_RANKS)
"""With this number of ranks the dealer's next card ends every round."""
_DEATH: Final = DEATH_CARD - 1
_WORTH: Final = np.array(RANKS, dtype=np.float64)
_TIE: Final = 1e-12
"""Values that differ by less are equal: a fraction of that size is rounding."""

OUTCOMES: Final = ("fold", "pair", "dealer_pair", "death_card")
"""Outcomes of a single seat by the engine's names. A legal shoe always has a card for it."""


@dataclass(frozen=True)
class RankStep:
    """How a rank joins a set: the places of the larger sets that hold it, and of the same sets without it."""

    rank: int
    larger: Indices
    smaller: Indices


class Sets:
    """All subsets of some ranks, by size, each with a place of its own."""

    def __init__(self, ranks: tuple[int, ...]) -> None:
        self.sets = [list(combinations(ranks, size)) for size in range(len(ranks) + 1)]
        self.place = [{cards: place for place, cards in enumerate(layer)} for layer in self.sets]
        self.holds = [
            np.array([[rank in cards for rank in RANKS] for cards in layer], dtype=np.float64).reshape(-1, len(RANKS))
            for layer in self.sets
        ]
        self.low = [np.array([min(cards, default=0) for cards in layer], dtype=np.float64) for layer in self.sets]
        self.joining = [[self._step(size, rank) for rank in ranks] for size in range(len(ranks))]

    def _step(self, size: int, rank: int) -> RankStep:
        places, layer = self.place[size], self.sets[size + 1]
        larger = [place for place, cards in enumerate(layer) if rank in cards]
        smaller = [places[tuple(card for card in layer[place] if card != rank)] for place in larger]
        return RankStep(rank, np.array(larger, dtype=np.intp), np.array(smaller, dtype=np.intp))


@cache
def players() -> Sets:
    """Sets of cards of a seat still in."""
    return Sets(tuple(RANKS))


@cache
def dealers() -> Sets:
    """Sets of cards of a dealer still in."""
    return Sets(DEALER_RANKS)


@cache
def costs(size: int) -> Floats:
    """Cost of a fold: the lowest card of both sides; 0 for empty sets."""
    return np.minimum(players().low[size][:, None], dealers().low[size][None, :])


@dataclass(frozen=True)
class SeatDecision:
    """A decision: what each way is worth to the seat, in tenths of its bet, and what the worse one costs it."""

    hit: float
    fold: float

    @property
    def best(self) -> str:
        """The better way; where both come to the same, to hit."""
        return "fold" if self.fold > self.hit + _TIE else "hit"

    @property
    def mistake(self) -> float:
        """Loss by the worse choice."""
        return abs(self.hit - self.fold)


@dataclass(frozen=True, eq=False)
class Solution:
    """A seat's round, solved. Layer k is the decision after k cards each; layer 0 is the deal, which is no choice."""

    situation: Situation
    strategy: Strategy
    hit: tuple[Floats, ...]
    folds: tuple[Flags, ...]

    @property
    def value(self) -> float:
        """Expectation of the seat for a round, in tenths of its bet."""
        return float(self.hit[0][0, 0])

    @property
    def house_edge(self) -> float:
        """Mean win of the casino, as a fraction of the bet."""
        return -self.value / 10

    def choice(self, player: Iterable[int], dealer: Iterable[int]) -> SeatDecision:
        """The seat's decision with these cards. Raises Unknowable where it has none."""
        seat_cards, dealer_cards = tuple(sorted(player)), tuple(sorted(dealer))
        size = len(seat_cards)
        row, column = players().place[size].get(seat_cards), None
        if 0 < size == len(dealer_cards) <= LAST:
            column = dealers().place[size].get(dealer_cards)
        if row is None or column is None:
            raise Unknowable(
                "a seat decides with as many cards as the dealer, without a pair, and without a dealer's 3"
            )
        return SeatDecision(float(self.hit[size][row, column]), -float(costs(size)[row, column]))

    @cached_property
    def outcomes(self) -> dict[tuple[str, int], float]:
        """The probability of everything that may become of the seat, by outcome and rank, without those of 0."""
        return {
            (outcome, rank): float(chance)
            for outcome, row in zip(OUTCOMES, _forward(self), strict=True)
            for rank, chance in zip(RANKS, row, strict=True)
            if chance > 0
        }

    @cached_property
    def distribution(self) -> dict[int, float]:
        """The probability of each result of the seat, in tenths of its bet."""
        chances: dict[int, float] = {}
        for (outcome, rank), chance in self.outcomes.items():
            net = -rank if outcome in ("fold", "pair") else rank
            chances[net] = chances.get(net, 0.0) + chance
        return dict(sorted(chances.items()))

    @cached_property
    def variance(self) -> float:
        """The variance of one round's result, as a part of the bet squared."""
        mean = sum(net * chance for net, chance in self.distribution.items())
        return sum((net - mean) ** 2 * chance for net, chance in self.distribution.items()) / 100

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of one round's result, as a fraction of the bet."""
        return float(self.variance**0.5)

    def reached(self, size: int) -> Floats:
        """The probability that the seat reaches a decision, at each place of a layer."""
        return self._reach_by_layer[size]

    def at_cost(self, size: int, cost: int) -> tuple[float, float]:
        """The probabilities that the seat decides in a layer where a fold costs so much, and that it folds there."""
        places, reached = costs(size) == cost, self.reached(size)
        return float(reached[places].sum()), float(reached[places & self.folds[size]].sum())

    @cached_property
    def _reach_by_layer(self) -> tuple[Floats, ...]:
        return _reach(self)


def solve(situation: Situation, strategy: Strategy = OPTIMAL) -> Solution:
    """The round of a seat that plays by a strategy, computed backward from the last layer to the deal."""
    layers = list(backward(situation.base, partial(folds, strategy)))[::-1]
    return Solution(situation, strategy, tuple(layer.hit for layer in layers), tuple(layer.folds for layer in layers))


@dataclass(frozen=True, eq=False)
class Layer:
    """Worth of a layer to the seat: with the dealer's card due after its hit, with a hit, and by its decision."""

    size: int
    due: Floats
    hit: Floats
    folds: Flags
    value: Floats


def backward(base: Callable[[int], Composition], folds: Callable[[int, Floats], Flags]) -> Iterator[Layer]:
    """Layer by layer from the last: from which composition a card comes, and where the seat folds, given its hits."""
    value: Floats | None = None
    for size in range(LAST, -1, -1):
        due = _dealer_hits(base(2 * size + 1), size, value)
        hit = _hit(base(2 * size), size, due)
        flags = folds(size, hit)
        value = np.where(flags, -costs(size), hit)
        yield Layer(size, due, hit, flags, value)


def decide(situation: Situation, player: Iterable[int], dealer: Iterable[int]) -> SeatDecision:
    """The best decision in mid-round, when `situation` has the unseen cards, without those of other seats.

    The cards of the seat and of the dealer are put back to make it the situation of a round that came to this place. If
    the shoe runs out after it, the other seats' cards come back too, as if those seats were out.
    """
    seat_cards, dealer_cards = tuple(player), tuple(dealer)
    _place(seat_cards, dealer_cards)
    unseen = list(situation.unseen)
    for rank in (*seat_cards, *dealer_cards):
        unseen[rank - 1] += 1
    return solve(Situation(situation.decks, tuple(unseen), situation.burn)).choice(seat_cards, dealer_cards)


def _place(player: Iterable[int], dealer: Iterable[int]) -> tuple[int, int, int]:
    """Layer, row and column of a decision. Raises Unknowable where there is none."""
    seat_cards, dealer_cards = tuple(sorted(player)), tuple(sorted(dealer))
    size = len(seat_cards)
    if 0 < size == len(dealer_cards) <= LAST:
        row, column = players().place[size].get(seat_cards), dealers().place[size].get(dealer_cards)
        if row is not None and column is not None:
            return size, row, column
    raise Unknowable("a seat decides with as many cards as the dealer, without a pair, and without a dealer's 3")


def _array(base: Composition) -> Floats:
    return np.array(base, dtype=np.float64)


def folds(strategy: Strategy, size: int, hit: Floats) -> Flags:
    """Where a strategy folds in a layer, from the worth of a hit there. The first cards offer no choice."""
    if size == 0:
        return np.zeros((1, 1), dtype=np.bool_)
    if strategy.limit is not None:
        return costs(size) <= strategy.limit
    return hit + _TIE < -costs(size)


def _hit(base: Composition, size: int, due: Floats) -> Floats:
    """Worth of a hit at each place of a layer, from the worth of a dealer's card after it."""
    seat_holds, dealer_holds = players().holds[size], dealers().holds[size]
    # A pair of r costs r, and is made by base - 1 - [the dealer holds r] cards.
    total = -(seat_holds @ (_WORTH * (_array(base) - 1)))[:, None] + (seat_holds * _WORTH) @ dealer_holds.T
    for step in players().joining[size]:
        cards = base[step.rank - 1] - dealer_holds[:, step.rank - 1]
        total[step.smaller] += due[step.larger] * cards
    total /= max(sum(base) - 2 * size, 1)  # without cards left nothing is reached, so any divisor will do
    return total


def _dealer_hits(base: Composition, size: int, value: Floats | None) -> Floats:
    """Worth of the dealer's next card to a seat that has just taken one card more than the dealer has.

    Transposed during the summation, so that whole rows are added.
    """
    seat_holds, dealer_holds = players().holds[size + 1], dealers().holds[size]
    ends = dealer_holds * _WORTH
    total = (ends @ (_array(base) - 1))[:, None] - ends @ seat_holds.T
    total += DEATH_CARD * (base[_DEATH] - seat_holds[:, _DEATH])
    if value is not None:
        sideways = np.ascontiguousarray(value.T)
        for step in dealers().joining[size]:
            cards = base[step.rank - 1] - seat_holds[:, step.rank - 1]
            total[step.smaller] += sideways[step.larger] * cards
    total /= max(sum(base) - 2 * size - 1, 1)
    return np.ascontiguousarray(total.T)


def places(solution: Solution) -> Iterator[tuple[Indices, Indices, Flags]]:
    """Each layer of decisions: the sets of both sides, as numbers with a bit for each rank, and the folds."""
    bits = 2 ** np.arange(len(RANKS))
    for size in range(1, LAST + 1):
        seat_bits, dealer_bits = ((sets.holds[size] @ bits).astype(np.intp) for sets in (players(), dealers()))
        yield seat_bits, dealer_bits, solution.folds[size]


# --- forward: how often each place is reached, and each end -----------------------------------------------------


def _stays(solution: Solution, size: int, reached: Floats) -> Floats:
    """The chance of each place times that of any one card of the shoe, where the seat hits."""
    base = solution.situation.base(2 * size)
    return np.where(solution.folds[size], 0.0, reached) / (sum(base) - 2 * size)


def _after_hit(solution: Solution, size: int, card_chance: Floats) -> Floats:
    """The chance that a dealer's card is due at each place, times that of any one card of the shoe."""
    base, dealer_holds = solution.situation.base(2 * size), dealers().holds[size]
    reached = np.zeros((len(players().sets[size + 1]), len(dealer_holds)))
    for step in players().joining[size]:
        cards = base[step.rank - 1] - dealer_holds[:, step.rank - 1]
        reached[step.larger] += card_chance[step.smaller] * cards
    return reached / (sum(solution.situation.base(2 * size + 1)) - 2 * size - 1)


def _after_dealer(solution: Solution, size: int, card_chance: Floats) -> Floats:
    """The chance that the seat decides at each place of the next layer."""
    base, seat_holds = solution.situation.base(2 * size + 1), players().holds[size + 1]
    sideways = np.ascontiguousarray(card_chance.T)
    reached = np.zeros((len(dealers().sets[size + 1]), len(seat_holds)))
    for step in dealers().joining[size]:
        cards = base[step.rank - 1] - seat_holds[:, step.rank - 1]
        reached[step.larger] += sideways[step.smaller] * cards
    return np.ascontiguousarray(reached.T)


def _reach(solution: Solution) -> tuple[Floats, ...]:
    layers = [np.ones((1, 1))]
    for size in range(LAST):
        due = _after_hit(solution, size, _stays(solution, size, layers[size]))
        layers.append(_after_dealer(solution, size, due))
    return tuple(layers)


def _pairs(chance: Floats, own: Floats, opposite: Floats, base: Composition) -> Floats:
    """By rank: probability of a pair on the side of the rows; `opposite` has the cards of the side of the columns."""
    rows = own.T @ chance
    pairs: Floats = rows.sum(axis=1) * (_array(base) - 1) - np.einsum("rd,dr->r", rows, opposite)
    return pairs


def _forward(solution: Solution) -> Floats:
    """Probability by outcome and rank."""
    folds, pairs, dealer_pairs, deaths = chances = np.zeros((len(OUTCOMES), len(RANKS)))
    situation = solution.situation
    for size in range(LAST + 1):
        reached, base = solution.reached(size), situation.base(2 * size)
        fold_chances = np.where(solution.folds[size], reached, 0.0)
        if size:
            folds += np.bincount(costs(size).astype(np.intp).ravel() - 1, fold_chances.ravel(), len(RANKS))
        card_chance = _stays(solution, size, reached)
        seat_holds, dealer_holds = players().holds, dealers().holds[size]
        pairs += _pairs(card_chance, seat_holds[size], dealer_holds, base)
        base = situation.base(2 * size + 1)
        due = _after_hit(solution, size, card_chance)
        dealer_pairs += _pairs(due.T, dealer_holds, seat_holds[size + 1], base)
        deaths[_DEATH] += float((due.sum(axis=1) * (base[_DEATH] - seat_holds[size + 1][:, _DEATH])).sum())
    return chances
