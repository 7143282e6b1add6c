"""Measures what somebody wins who has seen every card: dealt shoes, with the exact value of the places that matter.

Shoes are dealt to the deepest cut card; one that lies higher ends the same shoe earlier. The edge before a round is
nearly a quadratic function of what is left, which is fitted to exact values and computed for every round. What it is
off by is estimated by exact values at places that are drawn for it, most of them where the edge is near zero, and
weighed by how likely they were drawn. So the results are those of exact values, whatever the fit is worth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tables.games.cards import DECK_SIZE, RANKS, shoe
from tables.games.rocket import Rules
from tables.maths.penetration import CUTS, SEATS, Cell, Count, Results, Tags, cards_behind
from tables.maths.simulation import Table, chart, deal, seed_of
from tables.maths.situation import DECKS, Situation, fresh
from tables.maths.value import Solution, backward, solve

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

SEED: Final = 2026
LARGEST_TAG: Final = 9
TYPICAL: Final = 6
"""Decks of the shoe that the tags are found for."""
_FULL: Final = np.array(shoe(1), dtype=np.float64) / DECK_SIZE
_NEAR_SHARE: Final = 0.7
"""Which part of the exact values is spent where the edge is near zero."""


@dataclass(frozen=True)
class Effort:
    """How much is dealt and solved for each number of decks and seats."""

    batches: int = 25
    rounds: int = 40_000
    """In a batch."""
    solved: int = 40
    """In a batch."""
    fitted: int = 3_000
    """Exact values for the fit, for each number of decks."""


FULL_EFFORT: Final = Effort()


@dataclass(frozen=True, eq=False)
class Walk:
    """Rounds of whole shoes, in order: what nobody had seen before each, and the fewest cards left so far."""

    decks: int
    unseen: Counts
    first: Flags
    """Whether a shoe begins with the round."""
    low: Counts
    refills: Counts
    """How often the shoe runs out in the round."""

    def until(self, cut: float) -> Flags:
        """The rounds that are dealt with the cut card there."""
        return self.low > cards_behind(self.decks, cut)


def walk(full: Solution, seats: int, seed: int, rounds: int) -> Walk:
    """Whole shoes of about so many rounds, dealt to the deepest cut card; all seats play the chart of a full one."""
    situation = full.situation
    rules = Rules(situation.decks, situation.burn, CUTS[0])
    before = np.zeros((rounds, len(RANKS) + 1), np.int64)
    deal(Table(rules, seats, full), seed, rounds, chart(full), before)
    unseen, refills = before[:, :-1], np.diff(before[:, -1])
    first = unseen.sum(axis=1) == DECK_SIZE * situation.decks
    end = int(np.flatnonzero(first)[-1])  # the last shoe may not be at its end
    unseen, first, refills = unseen[:end], first[:end], refills[:end]
    # Every shoe is lowered below the one before it, so that the lowest so far is that of the shoe.
    offset = (DECK_SIZE * situation.decks + 1) * np.cumsum(first)
    low = np.minimum.accumulate(unseen.sum(axis=1) - situation.burn - offset) + offset
    return Walk(situation.decks, unseen, first, low, refills)


def values(full: Solution, unseen: Counts) -> Floats:
    """Exactly, for each row: what a round is worth to best play, and to the chart of a full shoe; parts of the bet."""
    return np.array([_two_values(full, tuple(row)) for row in unseen.tolist()]).reshape(-1, 2)


def _two_values(full: Solution, unseen: tuple[int, ...]) -> tuple[float, float]:
    situation = Situation(full.situation.decks, unseen, full.situation.burn)
    *_, deal_layer = backward(situation.base, lambda size, _: full.folds[size])
    return solve(situation).value / 10, float(deal_layer.value[0, 0]) / 10


# --- the fit ------------------------------------------------------------------------------------------------------

_FIRST, _SECOND = np.triu_indices(len(RANKS) - 1)
"""Every pair of ranks above the first, each rank with itself too: what a quadratic function multiplies."""


def features(unseen: Counts) -> Floats:
    """Shares of the ranks against a full shoe, their products, and one over the number of cards."""
    cards = unseen.sum(axis=1, keepdims=True)
    # The shares of all ranks add up to 1, so the first one's follows from the others.
    share, inverse = (unseen / cards - _FULL)[:, 1:], DECK_SIZE / cards
    squares = share[:, _FIRST] * share[:, _SECOND]
    return np.hstack([np.ones_like(inverse), inverse, inverse**2, share, share * inverse, squares, squares * inverse])


@dataclass(frozen=True, eq=False)
class Fit:
    """Nearly the two values of any place, and how far the first is off."""

    weights: Floats
    off: float

    def values(self, unseen: Counts) -> Floats:
        """Nearly what ``values`` computes exactly for each row."""
        pairs: Floats = features(unseen) @ self.weights
        return pairs


@dataclass(frozen=True, eq=False)
class Sample:
    """Places of a shoe of some decks with their exact values, for all numbers of seats."""

    full: Solution
    unseen: Counts
    values: Floats

    def fit(self) -> Fit:
        """The quadratic function that is nearest to the exact values, by least squares."""
        terms = features(self.unseen)
        weights: Floats = np.linalg.lstsq(terms, self.values, rcond=None)[0].astype(np.float64)
        return Fit(weights, float((terms @ weights - self.values)[:, 0].std()))


def sample(decks: int, effort: Effort = FULL_EFFORT) -> Sample:
    """Places of dealt shoes with their exact values: as many for each number of seats."""
    full = solve(fresh(decks))
    walks = [walk(full, seats, _seed(decks, seats, 0), effort.rounds).unseen for seats in SEATS]
    chance = np.random.default_rng([SEED, decks])
    unseen = np.vstack([rows[chance.integers(len(rows), size=effort.fitted // len(SEATS))] for rows in walks])
    return Sample(full, unseen, values(full, unseen))


def _seed(decks: int, seats: int, batch: int) -> int:
    return seed_of(SEED, (decks * 10 + seats) * 10_000 + batch)


# --- the practical count ------------------------------------------------------------------------------------------


def best_tags(places: Sample) -> tuple[Tags, ...]:
    """For each size of the largest tag the whole numbers, 0 over a deck, whose count goes best with the exact edge.

    Around multiples of the regression's weights, each rounded up or down.
    """
    share, edge = places.unseen / places.unseen.sum(axis=1, keepdims=True), places.values[:, 0]
    spread = np.cov(share.T)
    covariance = ((share - share.mean(axis=0)) * (edge - edge.mean())[:, None]).sum(axis=0) / (len(edge) - 1)
    exact = np.linalg.pinv(spread) @ covariance
    exact -= exact @ _FULL
    tags = np.unique(np.vstack(list(_roundings(exact))), axis=0)
    tags = tags[(tags @ np.array(RANKS) == 0) & tags.any(axis=1)]
    correlation = (tags @ covariance) / np.sqrt(np.einsum("ij,jk,ik->i", tags, spread, tags) * edge.var(ddof=1))
    size = np.abs(tags).max(axis=1)
    rows = [np.where(size <= largest, correlation, -1).argmax() for largest in range(1, LARGEST_TAG + 1)]
    # A card that was seen is not left, so its tag has the other sign.
    return tuple(Tags(tuple(int(-tag) for tag in tags[row]), float(correlation[row])) for row in rows)


def _roundings(exact: Floats) -> Iterator[Floats]:
    ups = np.array(list(product((0, 1), repeat=len(RANKS))))
    for most in np.linspace(0.5, LARGEST_TAG + 1, 20 * LARGEST_TAG):
        tags = np.floor(exact * most / np.abs(exact).max()) + ups
        yield tags[np.abs(tags).max(axis=1) <= LARGEST_TAG]


def per_deck(tags: tuple[int, ...], unseen: Counts) -> Floats:
    """The count for each row: what the seen cards add up to, for each deck of 55 cards that is left unseen."""
    counts: Floats = DECK_SIZE * -(unseen @ np.array(tags)) / unseen.sum(axis=1)
    return counts


def threshold(tags: tuple[int, ...], fit: Fit, unseen: Counts) -> int:
    """The whole number above which it pays most to bet more."""
    count, chart_value = per_deck(tags, unseen), fit.values(unseen)[:, 1]
    order = np.argsort(-count)
    last = int(np.cumsum(chart_value[order]).argmax())
    return round(float(count[order[last]]))


# --- the measuring ------------------------------------------------------------------------------------------------

_COLUMNS: Final = ("best", "positive", "gain", "chart", "count_gain", "square", "product")


def _columns(values: Floats, count: Floats, high: Flags) -> Floats:
    """What is averaged, of both values at each place."""
    best, by_chart = values.T
    return np.stack(
        [best, best > 0, np.maximum(best, 0), by_chart, np.where(high, by_chart, 0), best**2, best * count], axis=1
    )


def measure(
    places: Sample, fit: Fit, seats: int, count: Count, cuts: tuple[float, ...] = CUTS, effort: Effort = FULL_EFFORT
) -> list[Cell]:
    """What was measured for so many seats, at each depth of the cut card."""
    batches = [
        _batch(places, fit, seats, count, cuts=cuts, effort=effort, number=number)
        for number in range(1, 1 + effort.batches)  # batch 0 is what the fit was made of
    ]
    return [
        _cell(places.full.situation.decks, seats, cut, np.array([batch[index] for batch in batches]))
        for index, cut in enumerate(cuts)
    ]


def _batch(
    places: Sample, fit: Fit, seats: int, count: Count, *, cuts: tuple[float, ...], effort: Effort, number: int
) -> list[list[float]]:
    """For each cut: rounds, shoes, refills, rounds with a high count, sums of the count and its square, and of each
    column as it is estimated to be."""
    decks = places.full.situation.decks
    shoes = walk(places.full, seats, _seed(decks, seats, number), effort.rounds)
    counts = per_deck(count.tags, shoes.unseen)
    high = counts > count.threshold(decks)
    fit_values = fit.values(shoes.unseen)
    near = _shares(np.exp(-np.abs(fit_values[:, 0]) / (3 * fit.off)))
    chances = _NEAR_SHARE * near + (1 - _NEAR_SHARE) / len(fit_values)
    chance = np.random.default_rng([SEED, decks, seats, number])
    draws = chance.choice(len(fit_values), size=effort.solved, p=_shares(chances))
    exact = _columns(values(places.full, shoes.unseen[draws]), counts[draws], high[draws])
    fit_columns = _columns(fit_values, counts, high)
    # Weighed by how likely each place was drawn, so that the fit's error is estimated without bias.
    errors = (exact - fit_columns[draws]) / (effort.solved * chances[draws])[:, None]
    sums = []
    for cut in cuts:
        until = shoes.until(cut)
        counts_until = counts[until]
        columns = [until, until & shoes.first, shoes.refills[until], until & high]
        estimates = fit_columns[until].sum(axis=0) + errors[until[draws]].sum(axis=0)
        totals = (float(column.sum()) for column in columns)
        sums.append([*totals, counts_until.sum(), (counts_until**2).sum(), *estimates])
    return sums


def _shares(weights: Floats) -> Floats:
    shares: Floats = weights / weights.sum()
    return shares


def _cell(decks: int, seats: int, cut: float, batches: Floats) -> Cell:
    rounds, shoes, refills, high, count, count_square = batches.sum(axis=0)[:6]
    means = dict(zip(_COLUMNS, batches.sum(axis=0)[6:] / rounds, strict=True))
    errors = {name: _error(batches[:, 6 + index], batches[:, 0]) for index, name in enumerate(_COLUMNS)}
    count, count_square = count / rounds, count_square / rounds
    covariance = means["product"] - means["best"] * count
    variances = (means["square"] - means["best"] ** 2) * (count_square - count**2)
    return Cell(
        decks=decks,
        seats=seats,
        cut=cut,
        rounds=float(rounds / shoes),
        refills=float(refills / shoes),
        positive=float(means["positive"]),
        positive_error=errors["positive"],
        best=float(means["best"]),
        best_error=errors["best"],
        gain=float(means["gain"]),
        gain_error=errors["gain"],
        chart=float(means["chart"]),
        chart_error=errors["chart"],
        high=float(high / rounds),
        count_gain=float(means["count_gain"]),
        count_gain_error=errors["count_gain"],
        correlation=float(covariance / sqrt(variances)),
    )


def _error(sums: Floats, rounds: Floats) -> float:
    """The standard error of a mean of rounds, from batches that have nothing to do with each other."""
    deviations = sums - rounds * (sums.sum() / rounds.sum())
    count = len(sums)
    return float(sqrt((deviations**2).sum() * count / (count - 1)) / rounds.sum())


# --- all of it ----------------------------------------------------------------------------------------------------


def measured_decks(decks: int, tags: tuple[int, ...]) -> tuple[int, list[Cell]]:
    """The threshold and the cells of a shoe of so many decks: minutes of work."""
    places = sample(decks)
    fit = places.fit()
    walks = [walk(places.full, seats, _seed(decks, seats, 0), FULL_EFFORT.rounds).unseen for seats in SEATS]
    limit = threshold(tags, fit, np.vstack(walks))
    count = Count(tags, (limit,) * len(DECKS))
    return limit, [cell for seats in SEATS for cell in measure(places, fit, seats, count)]


def typical_tags() -> tuple[Tags, ...]:
    """The tags for all shoes, found for a typical one."""
    return best_tags(sample(TYPICAL))


def gathered(tags: tuple[Tags, ...], parts: list[tuple[int, list[Cell]]]) -> Results:
    """What ``measured_decks`` came to for each number of decks, as the file of results has it."""
    return Results(
        seed=SEED,
        rounds=FULL_EFFORT.batches * FULL_EFFORT.rounds,
        solved=FULL_EFFORT.batches * FULL_EFFORT.solved,
        burn=fresh(1).burn,
        count=Count(tags[-1].tags, tuple(limit for limit, _ in parts)),
        best_tags=tags,
        cells=tuple(cell for _, cells in parts for cell in cells),
    )
