"""The worth of a blackjack bet before each round of a shoe, fast enough for every round of every shoe.

The seat plays the best chart of a full shoe. Rounds without a split are valued exactly from the unseen cards. Splits
take ten times as long and contribute little: they are estimated by effects of removal, computed exactly by removing one
card of each value from a full shoe. A removed card changes the shares of the others in inverse proportion to the cards
left, and the effects are summed accordingly. The variance is that of a full shoe.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from tables.games.blackjack import Rules
from tables.games.cards import BY_RANK, STANDARD, Composition
from tables.maths.blackjack import SUITED, side_wagers, solve
from tables.maths.blackjack_chart import Chart, pairs_of, terms_of, upcard_of, values_of
from tables.maths.blackjack_dealer import KINDS, tree
from tables.maths.blackjack_hands import ValueCounts, lattice
from tables.maths.blackjack_round import OTHERS, Upcard, first_ends, splits, without_splits
from tables.maths.situation import Unknowable
from tables.maths.standard import by_rank
from tables.maths.worth import Edge, exact

FEWEST: Final = 20
"""Minimum of unseen cards for a valuation: with fewer, a round would hardly be dealt without a shuffle in it."""
_ROUNDS: Final = 200_000
"""Rounds with splits that are simulated for the variance; they leave an error of less than a thousandth."""
_NO_SPLITS: Final = np.zeros((KINDS, OTHERS + 1, 3, 1))


@dataclass(frozen=True)
class FullShoe:
    """Results that are computed once for the options."""

    chart: Chart
    splits: float
    """Contribution of the rounds that come to a split."""
    effects: tuple[float, ...]
    """Change of that contribution with one card of a value removed."""
    variance: float


def edges(rules: Rules, unseen: Composition) -> dict[str, Edge]:
    """The edge of each wager that is placed before the cards: of the bet by the chart of a full shoe, almost exactly;
    of the others exactly. Raises Unknowable."""
    if len(unseen) < len(STANDARD.deck) and any(bet in rules.spread for bet in SUITED):
        raise Unknowable("suits count here, so what is unseen is told by card")
    worths = {"main": edge(rules, by_rank(unseen))}
    return worths | {
        bet: exact(ways).edge for bet, ways in side_wagers(rules, unseen).items() if bet in {*rules.spread}
    }


def edge(rules: Rules, ranks: Composition) -> Edge:
    """House edge of the full shoe's chart and variance, from the unseen cards of each rank. Raises Unknowable."""
    if sum(ranks) < FEWEST:
        raise Unknowable(f"{sum(ranks)} unseen cards are too few: a round is valued from {FEWEST}")
    basis = full_shoe(rules)
    return Edge(-_without_splits(rules, ranks, basis.chart) - _splits_by_effects(rules, ranks, basis), basis.variance)


@lru_cache(maxsize=32)
def full_shoe(rules: Rules) -> FullShoe:
    """The chart and the effects of removal; it takes some ten seconds."""
    ranks = BY_RANK.shoes[rules.decks]
    solution = solve(rules, ranks)
    whole = _splits(rules, ranks, solution.chart)
    effects = [_splits(rules, _without(ranks, value), solution.chart) - whole for value in range(KINDS)]
    moments = solution.moments(_ROUNDS)
    return FullShoe(solution.chart, whole, tuple(effects), moments.square - moments.mean**2)


def _without(ranks: Composition, value: int) -> Composition:
    return (*ranks[:value], ranks[value] - 1, *ranks[value + 1 :])


def _without_splits(rules: Rules, ranks: Composition, chart: Chart) -> float:
    """Exact contribution of the rounds without a split."""
    terms, worth = terms_of(rules), 0.0
    for upcard, copies in enumerate(values_of(ranks)):
        if copies:
            worth += copies / sum(ranks) * without_splits(_upcard(rules, ranks, upcard), chart.rows[upcard], terms)
    return worth


def _upcard(rules: Rules, ranks: Composition, upcard: int) -> Upcard:
    """The cards left after an upcard, without the tables that only splits need."""
    counts = np.array(values_of(ranks), np.float64)
    counts[upcard] -= 1
    dealer = tree(upcard, rules.soft17 == "hit")
    pairs, tens = pairs_of(rules, ranks, upcard)
    shoe = ValueCounts(counts, float(counts.sum()), dealer.natural)
    return Upcard(lattice(), shoe, first_ends(lattice(), dealer, counts), _NO_SPLITS, pairs, tens)


def _splits(rules: Rules, ranks: Composition, chart: Chart) -> float:
    """Exact contribution of the rounds that come to a split."""
    terms, size = terms_of(rules), sum(ranks)
    return sum(
        copies / size * splits(upcard_of(rules, ranks, upcard), chart.rows[upcard], terms)
        for upcard, copies in enumerate(values_of(ranks))
        if copies
    )


def _splits_by_effects(rules: Rules, ranks: Composition, basis: FullShoe) -> float:
    """The seat's gain from splits, by the effects of the removed cards at the present number of cards."""
    full = values_of(BY_RANK.shoes[rules.decks])
    effect_sum = sum(
        (whole - copies) * effect for whole, copies, effect in zip(full, values_of(ranks), basis.effects, strict=True)
    )
    return basis.splits + effect_sum * (sum(full) - 1) / sum(ranks)
