"""Do bets follow the edge? A permutation test of one seat's bets against the edge before each round of a shoe.

Bets of one player are correlated, and so are the edges of one shoe: shuffling the bets would mistake any slow drift of
both for skill. So the bets keep their places, and the order of the *rounds' cards* is shuffled: blocks of consecutive
cards come in any order with equal probability. A block keeps its effect on the edge, and blocks change places only
where the seat's results (won, lost, did not bet) agree, so raising after a win or doubling after a loss is not evidence
either. Only bets that respond to cards remain.

If a seat has several wagers, each is tested against its own edge, over the rounds in which the seat bet at all. The
results are then those of all its wagers together; in games with shared hands the result of the wager has to agree, too.
The edge in another order of the blocks is then estimated from the unseen cards by a yardstick (`yardstick`), and so is
the edge in the order dealt: bets that do not respond to cards relate equally to both, however good the yardstick is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tables.games.cards import Composition
from tables.maths.advantage.linear_edge import Yardstick
from tables.maths.advantage.significance import LEVEL

PERMUTATIONS: Final = 9_999
FEWER: Final = 1_999
"""Number of permutations if each is evaluated by a yardstick."""
_AT_ONCE: Final = 250
"""Number of permutations held in memory at a time."""
FEWEST: Final = 6
"""A seat that bet in fewer rounds of a shoe is not tested."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ShoeEdges:
    """A shoe round by round: the house edge before each round, and the number of unseen cards."""

    edges: tuple[float, ...]
    unseen: tuple[int, ...]
    cards: tuple[Composition, ...] = ()
    """The unseen cards, for a yardstick."""
    yardstick: Yardstick | None = None
    """None if a card moves the edge in proportion to the cards left, and nothing else does."""

    def stood(self) -> Floats:
        """The edge before each round, as the test uses it."""
        if self.yardstick is None:
            return np.array(self.edges)
        return self.yardstick.edges(np.array(self.cards, np.float64))


@dataclass(frozen=True, slots=True)
class Followed:
    """How one seat's bets followed the edge: their correlation with the player's edge, and how often shuffled blocks of
    cards gave at least as much."""

    rounds: int
    correlation: float
    as_much: int
    of: int

    @property
    def chance(self) -> float:
        """Probability of at least this much from bets that do not respond to cards."""
        return (1 + self.as_much) / (1 + self.of)

    @property
    def flagged(self) -> bool:
        """Whether the seat has to be reviewed. `LEVEL` is the share of innocent seats that are flagged, too."""
        return self.chance <= LEVEL


@dataclass(frozen=True, slots=True)
class SeatHistory:
    """A seat's actions round by round, apart from its bets on the tested wager."""

    results: tuple[int, ...]
    """Above 0 for a net win, below 0 for a net loss."""
    staked: tuple[int, ...]
    """Total bet on all wagers. Where it is positive, the seat was present and could have bet on this one."""
    outcomes: tuple[int, ...]
    """Result of the wager, whether or not it was bet: above 0 for a win, below 0 for a loss, 0 if seats differ or it is
    unknown."""


def follow(
    course: ShoeEdges,
    bets: Sequence[int],
    results: Sequence[int],
    *,
    seed: int,
    permutations: int = PERMUTATIONS,
) -> Followed | None:
    """Test one seat that has one bet a round. ``bets``: 0 where it did not bet; ``results``: more than 0 where it won,
    less where it lost.

    None where there is nothing to test: a bet that never changed, or too few rounds. Rounds in which the seat sat out
    between its bets count as bets of nothing; those before its first and after its last do not count.
    """
    played = SeatHistory(tuple(results), tuple(bets), (0,) * len(bets))
    return follow_wager(course, bets, played, seed=seed, permutations=permutations)


def follow_wager(
    course: ShoeEdges, bets: Sequence[int], played: SeatHistory, *, seed: int, permutations: int = PERMUTATIONS
) -> Followed | None:
    """Test one seat and one of its wagers. Rounds in which it bet on others alone count as bets of nothing."""
    window = window_of(bets, played)
    if window is None:
        return None
    stakes = np.array(bets[window], dtype=np.float64)
    edges = course.stood()
    ends = 3 * np.sign(played.results) + np.sign(played.outcomes)
    paths = _paths(course, ends, np.random.default_rng(seed), permutations)
    sums = -np.vstack([edges, paths])[:, window] @ _weights(stakes)
    deviations = sums.std(axis=0)
    scores = ((sums - sums.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)).sum(axis=1)
    as_much = int((scores[1:] >= scores[0] - 1e-9).sum())
    rounds = sum(map(bool, played.staked))
    return Followed(rounds, _correlation(stakes, -np.array(course.edges)[window]), as_much, permutations)


def window_of(bets: Sequence[int], played: SeatHistory) -> slice | None:
    """The rounds that are looked at, from the seat's first to its last; None where there is nothing to test."""
    rounds = [index for index, staked in enumerate(played.staked) if staked]
    if len(rounds) < FEWEST:
        return None
    window = slice(rounds[0], rounds[-1] + 1)
    return None if len({*bets[window]}) == 1 else window


def _weights(bets: Floats) -> Floats:
    """The weights of the edges in the two test sums, by round: for high bets at a high edge, and for raises at a rise.

    The first detects large bets at the end of a good shoe, the second bets that follow each turn of it. Both count
    equally, in units of their own deviations.
    """
    heights, raises = bets - bets.mean(), np.diff(bets)
    return np.stack([heights, np.append(0.0, raises) - np.append(raises, 0.0)], axis=1)


def _correlation(bets: Floats, edges: Floats) -> float:
    heights = edges - edges.mean()
    scale = sqrt(float(heights @ heights)) * sqrt(float(((bets - bets.mean()) ** 2).sum()))
    return float(heights @ (bets - bets.mean())) / scale if scale else 0.0


def _paths(course: ShoeEdges, ends: NDArray[np.int_], chance: np.random.Generator, count: int) -> Floats:
    """The edge before each round, had the blocks of cards come in another order.

    Blocks change places where rounds ended alike. The last round's cards come after all bets and stay.
    """
    order = np.empty((count, len(course.edges) - 1), dtype=np.intp)
    for end in np.unique(ends[:-1]):
        places = np.flatnonzero(ends[:-1] == end)
        order[:, places] = chance.permuted(np.tile(places, (count, 1)), axis=1)
    if course.yardstick is None:
        return _by_moves(course, order)
    parts = range(0, count, _AT_ONCE)
    return np.vstack([_by_cards(course, course.yardstick, order[part : part + _AT_ONCE]) for part in parts])


def _by_moves(course: ShoeEdges, order: NDArray[np.intp]) -> Floats:
    """A card moves the edge in inverse proportion to the cards that are left, so the edge's distance from the first
    one, times the cards unseen, adds up block by block."""
    edges, unseen = np.array(course.edges), np.array(course.unseen, dtype=np.float64)
    moves, cards = np.diff((edges - edges[0]) * unseen), -np.diff(unseen)
    paths = np.full((len(order), len(edges)), edges[0])
    paths[:, 1:] += np.cumsum(moves[order], axis=1) / (unseen[0] - np.cumsum(cards[order], axis=1))
    return paths


def _by_cards(course: ShoeEdges, yardstick: Yardstick, order: NDArray[np.intp]) -> Floats:
    """The edges in other orders of the blocks, by the cards that would then be unseen."""
    cards = np.array(course.cards, np.float64)
    blocks = -np.diff(cards, axis=0)
    unseen = cards[0] - np.cumsum(blocks[order], axis=1)
    first = np.broadcast_to(cards[0], (len(order), 1, len(cards[0])))
    return yardstick.edges(np.concatenate([first, unseen], axis=1))
