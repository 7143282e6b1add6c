"""Worth of blackjack to the casino: the game by its best chart, insurance, and the side bets on the first cards.

The house edge is exact, including splits. Deviation and hit rate depend on the correlation of the hands of a split,
which is not computed exactly: rounds without a split are valued exactly, and those with one are simulated, for each
pair and upcard in proportion to its probability. The results state the remaining standard errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import sqrt
from typing import Final, NamedTuple

import msgspec
import numpy as np

from tables.games.blackjack import Rules
from tables.games.cards import Composition
from tables.games.pays import MOST_TO
from tables.maths import blackjack_table
from tables.maths.blackjack_chart import Chart, improved, pay_of, start, terms_of, upcard_of, value_of, values_of
from tables.maths.blackjack_dealer import ACE, TEN, VALUES, natural, tree
from tables.maths.blackjack_hands import (
    OUT,
    SPLIT,
    Ends,
    Stakes,
    StakeValue,
    ValueCounts,
    choosing,
    drawing,
    lattice,
    no_natural,
    place,
    standing,
)
from tables.maths.blackjack_round import Pay, SeatOptions, first_ends, with_splits, without_splits
from tables.maths.blackjack_sides import (
    insurance,
    pays_of,
    perfect_pairs,
    twenty_one_plus_three,
    won,
)
from tables.maths.blackjack_simulation import MOST, Dealt, simulate_splits
from tables.maths.covariances import Covariances, either_order
from tables.maths.situation import Unknowable
from tables.maths.standard import by_rank, shoe_of, spelled
from tables.maths.worth import Results, Sheet, Tally, Valued, Worth, exact, results

SPLIT_ROUNDS: Final = 4_000_000
"""Rounds with splits simulated for the deviation and the hit rate."""
TABLE_ROUNDS: Final = 10_000_000
"""Rounds of two seats simulated for the covariance of their results."""
_LEAST_ROUNDS: Final = 1000
"""Minimum of rounds for each pair and upcard, to estimate its variance."""
SUITED: Final = ("perfect_pairs", "twenty_one_plus_three")
Measure = Callable[[float], float]


class Moments(NamedTuple):
    """Mean win of a seat, mean of its square, and probability of a win; then the standard errors of the last two."""

    mean: float
    square: float
    hits: float
    square_error: float = 0.0
    hits_error: float = 0.0

    def worth(self, chances: Mapping[str, float] | None = None) -> Worth:
        """The moments in the form common to all games."""
        deviation = sqrt(max(self.square - self.mean**2, 0.0))
        errors = {}
        if self.square_error or self.hits_error:
            errors = {"standard_deviation": self.square_error / (2 * deviation), "hit_frequency": self.hits_error}
        return Worth(-self.mean, deviation, self.hits, standard_errors=errors, chances=chances or {})


@dataclass(frozen=True)
class Opening:
    """Three first cards that lead to a split, with their probability; ranks from 0, an ace, to 12, a king."""

    chance: float
    upcard: int
    pair: int


@dataclass(frozen=True)
class Solution:
    """The best chart of a shoe by the options, and what it is worth."""

    rules: Rules
    ranks: Composition
    chart: Chart
    mean: float
    """Exact mean win of the seat, in bets."""
    square: float
    """The mean of the square of what it wins, and how often it wins, in rounds that do not come to a split."""
    hits: float
    chances: Mapping[str, float] = field(default_factory=dict)
    """Probabilities of a blackjack and of a surrender, if they do not pay whole units."""

    @cached_property
    def openings(self) -> tuple[Opening, ...]:
        """The first cards that lead to a split."""
        return tuple(_openings(self.rules, self.ranks, self.chart))

    def moments(self, rounds: int = SPLIT_ROUNDS, seed: int = 1) -> Moments:
        """Moments of a round, with `rounds` simulated rounds that come to a split."""
        square, hits, square_error, hits_error = self.square, self.hits, 0.0, 0.0
        total = sum(opening.chance for opening in self.openings)
        ranks = self.ranks if self.rules.split_by == "rank" else _tens_alike(self.ranks)
        tenths = np.arange(-MOST, MOST + 1) / 10
        for number, opening in enumerate(self.openings):
            share = max(_LEAST_ROUNDS, round(rounds * opening.chance / total))
            dealt = Dealt(ranks, opening.upcard, opening.pair)
            tally = simulate_splits(self.rules, self.chart, dealt, share, seed << 32 | number)
            chances = tally.ends.sum(axis=0) / share
            second, fourth = float(chances @ tenths**2), float(chances @ tenths**4)
            square += opening.chance * second
            hits += opening.chance * tally.hits
            square_error += opening.chance**2 * (fourth - second**2) / share
            hits_error += opening.chance**2 * tally.hits * (1 - tally.hits) / share
        return Moments(self.mean, square, hits, sqrt(square_error), sqrt(hits_error))


@lru_cache(maxsize=64)
def solve(rules: Rules, ranks: Composition) -> Solution:
    """The best chart, upcard by upcard, and the exact numbers of its worth."""
    terms = terms_of(rules)
    squares, wins = _measured(terms, lambda net: net * net), _measured(terms, lambda net: float(net > 0))
    counts = {name: counted for name, counted in _counted(terms).items() if getattr(terms.pay, name) % 1}
    rows, sums, chances = [], [0.0, 0.0, 0.0], dict.fromkeys(counts, 0.0)
    for upcard, copies in enumerate(values_of(ranks)):
        if not copies:
            rows.append(start(upcard))
            continue
        table, chance = upcard_of(rules, ranks, upcard), copies / sum(ranks)
        rows.append(improved(table, upcard, rules))
        sums[0] += chance * with_splits(table, rows[-1], terms)
        sums[1] += chance * without_splits(table, rows[-1], squares)
        sums[2] += chance * without_splits(table, rows[-1], wins)
        for name, counted in counts.items():
            chances[name] += chance * without_splits(table, rows[-1], counted)
    mean, square, hits = sums
    by_net = {_spelled(getattr(terms.pay, name)): likely for name, likely in chances.items() if likely}
    return Solution(rules, ranks, Chart(tuple(rows)), mean, square, hits, by_net)


def _spelled(net: float) -> str:
    return str(Fraction(net).limit_denominator(MOST_TO))


def _counted(terms: SeatOptions) -> dict[str, SeatOptions]:
    """Terms that count a blackjack or a surrender as 1 and everything else as 0, for their probabilities."""
    nothing = _measured(terms, lambda _: 0.0).pay
    counts = {"blackjack": nothing._replace(blackjack=1.0), "surrender": nothing._replace(surrender=1.0)}
    return {name: SeatOptions(terms.play, pay) for name, pay in counts.items()}


def _measured(terms: SeatOptions, measure: Measure) -> SeatOptions:
    """Something else of everything that is won."""
    pay = terms.pay
    first, later = (
        Stakes(*(StakeValue(*map(measure, stake)) for stake in stakes)) for stakes in (pay.first, pay.later)
    )
    return SeatOptions(
        terms.play,
        Pay(
            first,
            later,
            blackjack=measure(pay.blackjack),
            surrender=measure(pay.surrender),
            surrender_beaten=measure(pay.surrender_beaten),
            beaten=measure(pay.beaten),
        ),
    )


def _tens_alike(ranks: Sequence[int]) -> Composition:
    """The cards where no ten differs from another: all are called ten."""
    return (*ranks[:TEN], sum(ranks[TEN:]), 0, 0, 0)


def _openings(rules: Rules, ranks: Composition, chart: Chart) -> Iterator[Opening]:
    """Probability of each pair against each upcard that is split, without a dealer's blackjack shown."""
    counts = ranks if rules.split_by == "rank" else _tens_alike(ranks)
    size = sum(counts)
    for upcard, ups in enumerate(counts):
        for pair, count in enumerate(counts):
            copies = count - (pair == upcard)
            splits = rules.splits > 0 and chart.rows[value_of(upcard + 1)].pairs[value_of(pair + 1)] == SPLIT
            if not ups or copies < 2 or not splits:
                continue
            chance = ups * copies * (copies - 1) / (size * (size - 1) * (size - 2))
            out = (value_of(upcard + 1), value_of(pair + 1), value_of(pair + 1))
            yield Opening(chance * _unbeaten(rules, ranks, *out), upcard, pair)


def _unbeaten(rules: Rules, ranks: Composition, upcard: int, *cards_out: int) -> float:
    """Probability that the dealer does not show a blackjack under an upcard, with these cards out too."""
    hole = natural(upcard)
    if rules.hole != "peek" or hole == OUT:
        return 1.0
    return 1.0 - (values_of(ranks)[hole] - cards_out.count(hole)) / (sum(ranks) - 1 - len(cards_out))


# --- One decision ------------------------------------------------------------------------------------------------


class Decision(NamedTuple):
    """Worth of each choice for a hand, in bets; after a hit, with best play from card to card."""

    stand: float
    hit: float
    double: float


def decide(rules: Rules, unseen: Composition, hand: Sequence[int], upcard: int) -> Decision:
    """Exact worth of each choice for a hand against an upcard, from the unseen cards of each rank; ranks 1 to 13.

    A dealer who peeks has peeked. `double` is given whether or not the options permit it. Raises Unknowable.
    """
    values = [value_of(rank) for rank in hand]
    index = place(tuple(values))
    if index == OUT or len(hand) < 2:
        raise Unknowable("a hand that decides has two cards or more, and not more than 21")
    counts = np.array(values_of(unseen), np.float64)
    for value in values:
        counts[value] += 1
    dealer, pay, hands = tree(value_of(upcard), rules.soft17 == "hit"), pay_of(rules), lattice()
    shoe = ValueCounts(counts, float(counts.sum()), dealer.natural)
    ends = Ends(*first_ends(hands, dealer, counts))
    stand_worth, twice = standing(ends, pay.first.single), standing(ends, pay.first.double)
    safe = no_natural(hands, shoe, index) if rules.hole == "peek" else 1.0
    return Decision(
        stand=float(stand_worth[index]) / safe,
        hit=drawing(hands, shoe, pay.first.single, index, choosing(hands, shoe, pay.first.single, stand_worth)) / safe,
        double=drawing(hands, shoe, pay.first.double, index, twice) / safe,
    )


def best_and_charted(rules: Rules, ranks: Composition, chart: Chart) -> tuple[float, float]:
    """Exact mean win of a seat in bets by the best chart for these cards, and by another chart."""
    terms, best, charted = terms_of(rules), 0.0, 0.0
    for upcard, copies in enumerate(values_of(ranks)):
        if copies:
            table, chance = upcard_of(rules, ranks, upcard), copies / sum(ranks)
            best += chance * with_splits(table, improved(table, upcard, rules), terms)
            charted += chance * with_splits(table, chart.rows[upcard], terms)
    return best, charted


# --- Several wagers and seats -------------------------------------------------------------------------------------


def covariances(rules: Rules) -> Covariances:
    """Covariances from full decks, simulated with their errors; exact variances replace simulated ones."""
    worths = sheet(rules).wagers
    dealt = blackjack_table.covariances(rules, solve(rules, by_rank(shoe(rules, None))).chart, TABLE_ROUNDS, seed=1)
    halves = {pair: estimate for pair, estimate in dealt.items() if all(bet in worths for bet in pair)}
    for bet, worth in worths.items():
        error = 2 * worth.standard_deviation * worth.standard_errors.get("standard_deviation", 0.0)
        halves[bet, bet] = replace(halves[bet, bet], seat=worth.standard_deviation**2, seat_error=error)
    return either_order(halves)


# --- The sheet ---------------------------------------------------------------------------------------------------


def sheet(rules: Rules, composition: Composition | None = None) -> Sheet:
    """Worth of every wager from full decks or from these cards, to a seat that plays the best chart."""
    cards = shoe(rules, composition)
    solution = solve(rules, by_rank(cards))
    return _sheet(rules, cards, {"main": solution.moments().worth(solution.chances), **quick(rules, cards)})


def quick(rules: Rules, composition: Composition | None = None) -> dict[str, Worth]:
    """Worth of the side bets, which need no solving. Raises Unknowable."""
    return {bet: exact(ways) for bet, ways in side_wagers(rules, shoe(rules, composition)).items()}


def shoe(rules: Rules, composition: Composition | None) -> Composition:
    """The cards that a round is dealt from. Raises Unknowable."""
    suits = any(bet in rules.spread for bet in SUITED)
    return shoe_of(composition, rules.decks, _most_cards(rules, composition), suits=suits)


def _sheet(rules: Rules, cards: Composition, worths: Mapping[str, Worth]) -> Sheet:
    chart = solve(rules, by_rank(cards)).chart.table()
    return Sheet("blackjack", msgspec.to_builtins(rules), worths, spelled(cards), chart)


def side_wagers(rules: Rules, cards: Composition) -> dict[str, Results]:
    """The ways of the other wagers that can be placed."""
    ways: dict[str, Results] = {}
    ranks, pays = by_rank(cards), pays_of(rules)
    if rules.insurance and ranks[ACE]:
        ways["insurance"] = insurance(ranks)
    for bet, results_of in (("perfect_pairs", perfect_pairs), ("twenty_one_plus_three", twenty_one_plus_three)):
        if bet in rules.spread:
            ways[bet] = results_of(cards, pays)
    return ways


def valued(rules: Rules, composition: Composition | None, often: Tally, worth: Valued) -> Sheet:
    """The sheet of a tally."""
    cards = shoe(rules, composition)
    pays = pays_of(rules)
    ways = {"main": results((Fraction(int(tenths), 10), count) for tenths, count in often["main"].items() if count)}
    for bet in side_wagers(rules, cards):
        ways[bet] = results((won(pays[bet], line), count) for line, count in often[bet].items() if count)
    return _sheet(rules, cards, {bet: worth(ends, None) for bet, ends in ways.items()})


def _most_cards(rules: Rules, composition: Composition | None) -> int:
    """No round takes more: each hand has at most 20 points before its last card, and low cards make most of them."""
    if composition is None:
        return 0
    hands = rules.splits + 2
    points, cards = 20 * hands, 0
    for value, copies in zip(VALUES, values_of(by_rank(composition)), strict=True):
        drawn = min(copies, points // (value + 1))
        points -= drawn * (value + 1)
        cards += drawn
    return cards + hands
