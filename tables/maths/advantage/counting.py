"""Measures what a perfect card counter wins: simulated shoes, with exact values at the places that matter.

Shoes are dealt to the deepest cut card; a higher one ends a shoe earlier. The edge before a round is nearly a quadratic
function of the cards left, which is fitted to exact values and computed for every round. Its error is estimated from
exact values at sampled places, most of them where the edge is near zero, weighted by their sampling probabilities. So
the results are unbiased, whatever the quality of the fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import sqrt
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from tables.games.cards import DECK_SIZE, RANKS, shoe
from tables.games.rocket import Rules
from tables.maths.advantage.penetration import CUTS, SEATS, PenetrationCell, Subject, Tags, cards_behind
from tables.maths.advantage.rocket_simulation import Table, chart, deal, seed_of
from tables.maths.rocket_value import Solution, backward, solve
from tables.maths.situation import Situation

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

SEED: Final = 2026
LARGEST_TAG: Final = 9
_DECK: Final = shoe(1)


@dataclass(frozen=True)
class Effort:
    """Numbers of rounds simulated and places solved, for each number of decks and seats."""

    batches: int = 25
    rounds: int = 40_000
    """In a batch."""
    solved: int = 40
    """In a batch."""
    fitted: int = 3_000
    """Exact values for the fit, for each number of decks."""
    near: float = 0.7
    """Share of the exact values that is spent where the edge is near zero."""


FULL_EFFORT: Final = Effort()


@dataclass(frozen=True, eq=False)
class Walk:
    """Rounds of whole shoes in order: the unseen cards before each, and the fewest cards left so far."""

    decks: int
    unseen: Counts
    first: Flags
    """Whether a shoe begins with the round."""
    low: Counts
    refills: Counts
    """How often the shoe runs out in the round."""
    deck_size: int = DECK_SIZE
    after_cut: int = 0
    """Rounds dealt after the one in which the cut card comes out."""
    nets: Floats | None = None
    """Result of each round by the chart of a full shoe, in bets.

    If present, the chart's value is the mean of these results and needs no fit.
    """

    def until(self, cut: float) -> Flags:
        """The rounds that are dealt with the cut card there."""
        dealt: Flags = self.low > cards_behind(self.decks, cut, self.deck_size)
        for _ in range(self.after_cut):
            dealt = dealt | (np.append(False, dealt[:-1]) & ~self.first)
        return dealt


class MeasuredWager(Protocol):
    """A wager to be measured, at shoes of a number of decks."""

    @property
    def decks(self) -> int: ...
    @property
    def deck(self) -> tuple[int, ...]:
        """Number of cards of each kind in a deck, as far as the wager distinguishes them."""

    @property
    def effort(self) -> Effort: ...
    @property
    def seats(self) -> tuple[int, ...]: ...
    @property
    def cuts(self) -> tuple[float, ...]: ...
    @property
    def lowest(self) -> int:
        """Whether a seat has to bet in each round: 1, or 0."""

    def walk(self, seats: int, seed: int, rounds: int) -> Walk:
        """Whole shoes of about this number of rounds, dealt to the deepest cut card."""

    def values(self, unseen: Counts) -> Floats:
        """Exact worth of a round for each row, to best play and to the chart of a full shoe."""

    def features(self, unseen: Counts) -> Floats:
        """The features of which the values are nearly a linear function."""


class OfSubject:
    """A shoe that is measured as its subject on the cut card's page says."""

    subject: Subject

    @property
    def seats(self) -> tuple[int, ...]:
        return self.subject.seats

    @property
    def cuts(self) -> tuple[float, ...]:
        return self.subject.cuts

    @property
    def lowest(self) -> int:
        return self.subject.lowest


@dataclass(frozen=True, eq=False)
class RocketShoe:
    """A seat's bet at Rocket."""

    full: Solution
    effort: Effort = FULL_EFFORT
    deck: tuple[int, ...] = shoe(1)
    seats: tuple[int, ...] = tuple(SEATS)
    cuts: tuple[float, ...] = CUTS
    lowest: int = 1

    @property
    def decks(self) -> int:
        return self.full.situation.decks

    def walk(self, seats: int, seed: int, rounds: int) -> Walk:
        """All seats play the chart of a full shoe."""
        return walk(self.full, seats, seed, rounds)

    def values(self, unseen: Counts) -> Floats:
        """Exact values, by solving each composition."""
        return values(self.full, unseen)

    def features(self, unseen: Counts) -> Floats:
        """A quadratic function."""
        return features(unseen)


def walk(full: Solution, seats: int, seed: int, rounds: int) -> Walk:
    """Whole shoes of about this number of rounds, dealt to the deepest cut card; all seats play the chart of a full
    shoe."""
    situation = full.situation
    rules = Rules(situation.decks, situation.burn, CUTS[0])
    before = np.zeros((rounds, len(RANKS) + 1), np.int64)
    deal(Table(rules, seats, full), seed, rounds, chart(full), before)
    unseen, refills = before[:, :-1], np.diff(before[:, -1])
    first = unseen.sum(axis=1) == DECK_SIZE * situation.decks
    end = int(np.flatnonzero(first)[-1])  # the last shoe may be incomplete
    unseen, first, refills = unseen[:end], first[:end], refills[:end]
    # An offset lowers each shoe below the one before it, so that the running minimum is that of the shoe.
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


def features(unseen: Counts, deck: tuple[int, ...] = _DECK) -> Floats:
    """Shares of the ranks against a full shoe, their products, and one over the number of cards."""
    share, inverse = shares(unseen, deck)
    # The terms of a quadratic function: every pair of ranks above the first, including a rank with itself.
    first, second = np.triu_indices(len(deck) - 1)
    squares = share[:, first] * share[:, second]
    return np.hstack([np.ones_like(inverse), inverse, inverse**2, share, share * inverse, squares, squares * inverse])


def shares(unseen: Counts, deck: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Shares of each kind except the first, which the others determine, less those of a full shoe; and the size of a
    deck relative to the cards left."""
    cards, size = unseen.sum(axis=1, keepdims=True), sum(deck)
    share: Floats = unseen / cards - np.array(deck, dtype=np.float64) / size
    return share[:, 1:], size / cards


@dataclass(frozen=True, eq=False)
class Fit:
    """Nearly the two values of any place, and how far the first is off."""

    shoe: MeasuredWager
    weights: Floats
    off: float

    def values(self, unseen: Counts) -> Floats:
        """Nearly what ``values`` computes exactly for each row."""
        pairs: Floats = self.shoe.features(unseen) @ self.weights
        return pairs


@dataclass(frozen=True, eq=False)
class Sample:
    """Places of a shoe of some decks with their exact values, for all numbers of seats."""

    shoe: MeasuredWager
    unseen: Counts
    values: Floats

    def fit(self) -> Fit:
        """The quadratic function that is nearest to the exact values, by least squares."""
        terms = self.shoe.features(self.unseen)
        weights: Floats = np.linalg.lstsq(terms, self.values, rcond=None)[0].astype(np.float64)
        return Fit(self.shoe, weights, float((terms @ weights - self.values)[:, 0].std()))


def sample(shoe: MeasuredWager) -> Sample:
    """Places of dealt shoes with their exact values: as many for each number of seats."""
    walks, chance = _first_walks(shoe), np.random.default_rng([SEED, shoe.decks])
    size = shoe.effort.fitted // len(shoe.seats)
    unseen = np.vstack([rows[chance.integers(len(rows), size=size)] for rows in walks])
    return Sample(shoe, unseen, shoe.values(unseen))


def _first_walks(shoe: MeasuredWager) -> list[Counts]:
    """The compositions that the fit is made from, for each number of seats."""
    return [shoe.walk(seats, _seed(shoe.decks, seats, 0), shoe.effort.rounds).unseen for seats in shoe.seats]


def _seed(decks: int, seats: int, batch: int) -> int:
    return seed_of(SEED, (decks * 10 + seats) * 10_000 + batch)


# --- the practical count ------------------------------------------------------------------------------------------


def best_tags(places: Sample, largest_tag: int = LARGEST_TAG) -> tuple[Tags, ...]:
    """For each size of the largest tag the whole numbers, 0 over a deck, whose count goes best with the exact edge.

    Around multiples of the regression's weights, each rounded up or down.
    """
    deck = np.array(places.shoe.deck)
    share, edge = places.unseen / places.unseen.sum(axis=1, keepdims=True), places.values[:, 0]
    spread = np.cov(share.T)
    covariance = ((share - share.mean(axis=0)) * (edge - edge.mean())[:, None]).sum(axis=0) / (len(edge) - 1)
    exact = np.linalg.pinv(spread) @ covariance
    exact -= exact @ deck / deck.sum()
    tags = np.unique(np.vstack(list(_roundings(exact, largest_tag))), axis=0)
    tags = tags[(tags @ deck == 0) & tags.any(axis=1)]
    correlation = (tags @ covariance) / np.sqrt(np.einsum("ij,jk,ik->i", tags, spread, tags) * edge.var(ddof=1))
    size = np.abs(tags).max(axis=1)
    rows = [np.where(size <= largest, correlation, -1).argmax() for largest in range(1, largest_tag + 1)]
    # A card that was seen is not left, so its tag has the other sign.
    return tuple(Tags(tuple(int(-tag) for tag in tags[row]), float(correlation[row])) for row in rows)


def _roundings(exact: Floats, largest_tag: int) -> Iterator[Floats]:
    ups = np.array(list(product((0, 1), repeat=len(exact))))
    for most in np.linspace(0.5, largest_tag + 1, 20 * largest_tag):
        tags = np.floor(exact * most / np.abs(exact).max()) + ups
        yield tags[np.abs(tags).max(axis=1) <= largest_tag]


def per_deck(tags: tuple[int, ...], unseen: Counts, deck_size: int = DECK_SIZE) -> Floats:
    """The count for each row: what the seen cards add up to, for each deck of cards that is left unseen."""
    counts: Floats = deck_size * -(unseen @ np.array(tags)) / unseen.sum(axis=1)
    return counts


def threshold(tags: tuple[int, ...], fit: Fit, unseen: Counts) -> int:
    """The whole number above which it pays most to bet more."""
    count, chart_value = per_deck(tags, unseen, sum(fit.shoe.deck)), fit.values(unseen)[:, 1]
    order = np.argsort(-count)
    last = int(np.cumsum(chart_value[order]).argmax())
    return round(float(count[order[last]]))


# --- the measuring ------------------------------------------------------------------------------------------------

_COLUMNS: Final = ("best", "positive", "gain", "chart", "count_gain", "square", "product")


_DEALT: Final = [_COLUMNS.index("chart"), _COLUMNS.index("count_gain")]


def _columns(values: Floats, count: Floats, high: Flags) -> Floats:
    """The columns to be averaged, from both values at each place."""
    best, by_chart = values.T
    return np.stack(
        [best, best > 0, np.maximum(best, 0), by_chart, np.where(high, by_chart, 0), best**2, best * count], axis=1
    )


def measure(fit: Fit, seats: int, tags: tuple[int, ...], limit: int) -> list[PenetrationCell]:
    """The measured results for a number of seats, at each depth of the cut card.

    `limit`: the count per deck above which a seat with these tags raises its bet.
    """
    shoe = fit.shoe
    # The fit was made from batch 0, which is therefore not measured.
    batches = [_batch(fit, seats, tags, limit, number) for number in range(1, 1 + shoe.effort.batches)]
    return [
        _cell(shoe, seats, cut, np.array([batch[index] for batch in batches])) for index, cut in enumerate(shoe.cuts)
    ]


def _batch(fit: Fit, seats: int, tags: tuple[int, ...], limit: int, number: int) -> list[list[float]]:
    """For each cut: rounds, shoes, refills, rounds with a high count, sums of the count and its square, and the
    estimated sum of each column."""
    decks, effort = fit.shoe.decks, fit.shoe.effort
    shoes = fit.shoe.walk(seats, _seed(decks, seats, number), effort.rounds)
    counts = per_deck(tags, shoes.unseen, sum(fit.shoe.deck))
    high = counts > limit
    fit_values = fit.values(shoes.unseen)
    near = _shares(np.exp(-np.abs(fit_values[:, 0]) / (3 * max(fit.off, 1e-6))))
    chances = effort.near * near + (1 - effort.near) / len(fit_values)
    chance = np.random.default_rng([SEED, decks, seats, number])
    draws = chance.choice(len(fit_values), size=effort.solved, p=_shares(chances))
    exact = _columns(fit.shoe.values(shoes.unseen[draws]), counts[draws], high[draws])
    fit_columns = _columns(fit_values, counts, high)
    if shoes.nets is not None:
        fit_columns[:, _DEALT] = np.stack([shoes.nets, np.where(high, shoes.nets, 0)], axis=1)
        exact[:, _DEALT] = fit_columns[draws][:, _DEALT]  # simulated results are exact: no error to estimate
    # Weighted by the inverse sampling probability of each place, so that the fit's error is estimated without bias.
    errors = (exact - fit_columns[draws]) / (effort.solved * chances[draws])[:, None]
    sums = []
    for cut in fit.shoe.cuts:
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


def _cell(shoe: MeasuredWager, seats: int, cut: float, batches: Floats) -> PenetrationCell:
    rounds, shoes, refills, high, count, count_square = batches.sum(axis=0)[:6]
    means = dict(zip(_COLUMNS, batches.sum(axis=0)[6:] / rounds, strict=True))
    errors = {name: _error(batches[:, 6 + index], batches[:, 0]) for index, name in enumerate(_COLUMNS)}
    count, count_square = count / rounds, count_square / rounds
    covariance = means["product"] - means["best"] * count
    variances = (means["square"] - means["best"] ** 2) * (count_square - count**2)
    return PenetrationCell(
        decks=shoe.decks,
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
        correlation=float(covariance / sqrt(variances)) if variances > 0 else 0.0,
        lowest=shoe.lowest,
    )


def _error(sums: Floats, rounds: Floats) -> float:
    """The standard error of a mean of rounds, from batches that have nothing to do with each other."""
    deviations = sums - rounds * (sums.sum() / rounds.sum())
    count = len(sums)
    return float(sqrt((deviations**2).sum() * count / (count - 1)) / rounds.sum())


# --- all of it ----------------------------------------------------------------------------------------------------


def measured(shoe: MeasuredWager, tags: tuple[int, ...]) -> tuple[int, list[PenetrationCell]]:
    """The threshold and the cells of a shoe: minutes of work."""
    fit = sample(shoe).fit()
    limit = threshold(tags, fit, np.vstack(_first_walks(shoe))) if any(tags) else 0
    return limit, [cell for seats in shoe.seats for cell in measure(fit, seats, tags, limit)]
