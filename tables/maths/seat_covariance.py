"""How the results of two seats at a table hang together: the exact covariance, for bands of a whole table.

Both play by the chart of one solution, which is that of a lone seat. While both are in, the state is three sets: of
either seat, and of the dealer. When one leaves, the other goes on as a lone seat, from a shoe without the cards of the
first: for each set of cards that a seat can leave with, one backward pass. Who acts first does not matter, for unseen
cards are exchangeable. The shoe must last for two seats, as a full one does.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tables.games.cards import RANKS, Composition
from tables.games.rocket import DEATH_CARD
from tables.maths.rocket_value import LAST, Floats, Layer, Solution, backward, costs, dealers, players
from tables.maths.situation import Unknowable

MOST_CARDS = 30
"""Two seats and the dealer never need more."""
_DEATH = DEATH_CARD - 1


def covariance(solution: Solution) -> float:
    """Covariance of the results of two seats with one bet each, in bets squared. Takes some ten seconds. Raises
    Unknowable."""
    base = solution.situation.unseen
    if solution.situation.left < min(MOST_CARDS, _needed(base)):
        raise Unknowable(f"{solution.situation.left} cards do not last for two seats, so their covariance is not known")
    both_in, product = np.ones((1, 1, 1)), 0.0
    for size in range(LAST + 1):
        if not both_in.any():
            break
        one_hit = _first_hits(solution, size, both_in)
        product += sum(_one_leaves(solution, size, both_in, one_hit))
        two_hit = _second_hits(solution, size, one_hit)
        product += _dealer_ends(base, size, two_hit)
        if size < LAST:
            both_in = _dealer_stays(base, size, two_hit)
    return (product - solution.value**2) / 100


def _needed(base: Composition) -> int:
    """Cards that two seats and the dealer take at most, from a shoe with these ranks."""
    return 3 * (sum(count > 0 for count in base) + 1)


def _cards_left(base: Composition, out: int) -> int:
    """Number of cards left, at least 1: without cards nothing is reached, so any divisor will do."""
    return max(sum(base) - out, 1)


def _first_hits(solution: Solution, size: int, both_in: Floats) -> Floats:
    """The first seat hits and stays in."""
    base, seat_holds, dealer_holds = solution.situation.unseen, players().holds[size], dealers().holds[size]
    hits = np.where(solution.folds[size][:, None, :], 0.0, both_in) / _cards_left(base, 3 * size)
    after = np.zeros((len(players().sets[size + 1]), *both_in.shape[1:]))
    for step in players().joining[size]:
        index = step.rank - 1
        cards = base[index] - seat_holds[:, index][:, None] - dealer_holds[:, index]
        after[step.larger] += hits[step.smaller] * cards
    return after


def _second_hits(solution: Solution, size: int, one_hit: Floats) -> Floats:
    """The second seat hits and stays in too."""
    base, seat_holds, dealer_holds = solution.situation.unseen, players().holds[size + 1], dealers().holds[size]
    hits = np.where(solution.folds[size], 0.0, one_hit) / _cards_left(base, 3 * size + 1)
    after = np.zeros((len(seat_holds), len(seat_holds), len(dealer_holds)))
    for step in players().joining[size]:
        index = step.rank - 1
        cards = base[index] - seat_holds[:, index][:, None] - dealer_holds[:, index]
        after[:, step.larger] += hits[:, step.smaller] * cards[:, None]
    return after


def _dealer_ends(base: Composition, size: int, due: Floats) -> float:
    """Expected product of the payments of the dealer's end of the round to both seats."""
    seat_holds, dealer_holds = players().holds[size + 1], dealers().holds[size]
    product = 0.0
    for index, rank in enumerate(RANKS):
        ends = due.sum(axis=2) if rank == DEATH_CARD else due @ dealer_holds[:, index]
        cards = base[index] - (rank != DEATH_CARD) - seat_holds[:, index][:, None] - seat_holds[:, index]
        product += rank**2 * float((ends * cards).sum())
    return product / _cards_left(base, 3 * size + 2)


def _dealer_stays(base: Composition, size: int, due: Floats) -> Floats:
    """The dealer takes a card, and both seats decide again."""
    seat_holds = players().holds[size + 1]
    after = np.zeros((*due.shape[:2], len(dealers().sets[size + 1])))
    for step in dealers().joining[size]:
        index = step.rank - 1
        cards = base[index] - seat_holds[:, index][:, None] - seat_holds[:, index]
        after[:, :, step.larger] += due[:, :, step.smaller] * cards[:, :, None]
    return after / _cards_left(base, 3 * size + 2)


def _one_leaves(solution: Solution, size: int, both_in: Floats, one_hit: Floats) -> Iterator[float]:
    """Expected products of the result of a seat that leaves in this pass and the other's expectation then."""
    base, seat_holds, dealer_holds = solution.situation.unseen, players().holds[size], dealers().holds[size]
    holds_after = players().holds[size + 1]
    for row, cards in enumerate(players().sets[size]):
        # The first seat leaves while the second has yet to decide (`both_in`); the second leaves after the first
        # has hit (`one_hit`).
        folds, cost = solution.folds[size][row], -costs(size)[row]
        first, second = both_in[row], one_hit[:, row]
        if not (first.any() or second.any()):
            continue
        if folds.any():
            layer = _lone_seat(solution, cards, size)
            yield float((first * np.where(folds, cost, 0.0) * layer.value).sum())
            yield float((second * np.where(folds, cost, 0.0) * layer.due).sum())
        for rank in cards if not folds.all() else ():
            if base[rank - 1] > 1:
                layer, index = _lone_seat(solution, (*cards, rank), size), rank - 1
                pairs = base[index] - 1 - seat_holds[:, index][:, None] - dealer_holds[:, index]
                chance = np.where(folds, 0.0, pairs) / _cards_left(base, 3 * size)
                yield -rank * float((first * chance * layer.value).sum())
                pairs = base[index] - 1 - holds_after[:, index][:, None] - dealer_holds[:, index]
                chance = np.where(folds, 0.0, pairs) / _cards_left(base, 3 * size + 1)
                yield -rank * float((second * chance * layer.due).sum())


def _lone_seat(solution: Solution, cards: tuple[int, ...], size: int) -> Layer:
    """A lone seat by the same chart from a shoe without these cards, in the layer that the round has come to."""
    unseen = list(solution.situation.unseen)
    for rank in cards:
        unseen[rank - 1] -= 1
    base = tuple(unseen)
    return next(
        layer for layer in backward(lambda out: base, lambda layer, hit: solution.folds[layer]) if layer.size == size
    )
