"""The covariance of two seats: against every course of a tiny shoe through the engine, and against simulation."""

from math import sqrt

import pytest

from tables.games.cards import Composition
from tables.games.rocket import Rules
from tables.maths.advantage.rocket_simulation import Table, deal
from tables.maths.rocket_value import solve
from tables.maths.seat_covariance import covariance
from tables.maths.situation import NEVER_FOLD, Situation, Strategy, Unknowable, fresh
from tests.maths import rounds
from tests.tiers import sampled

LASTING: list[Composition] = [
    (0, 0, 3, 4, 5, 0, 0, 0, 0, 0),
    (0, 2, 0, 0, 0, 0, 6, 0, 0, 4),
    (1, 0, 3, 0, 5, 0, 0, 8, 0, 0),
]


@pytest.mark.parametrize("strategy", [NEVER_FOLD, Strategy(3)], ids=lambda strategy: strategy.name)
@pytest.mark.parametrize(
    "cards", sampled([(cards,) for cards in LASTING], "tries every order of a small shoe"), ids=str
)
def test_two_seats_in_every_course_of_a_tiny_shoe(cards: Composition, strategy: Strategy) -> None:
    """Harm: bands for a table that are too narrow, so that honest luck looks like theft."""
    situation = Situation(1, cards, burn=0)
    solution = solve(situation, strategy)
    rows = rounds.results(situation, strategy, (1, 2))
    assert sum(rows.values()) == 1
    for seat in (0, 1):
        assert float(sum(row[seat] * chance for row, chance in rows.items())) == pytest.approx(solution.value)
    product = sum(row[0] * row[1] * chance for row, chance in rows.items())
    exact = float(product) / 100 - (solution.value / 10) ** 2
    assert covariance(solution) == pytest.approx(exact, abs=1e-12)


@pytest.mark.slow("simulates a table")
def test_a_table_that_was_simulated_varies_as_it_should() -> None:
    """Harm: a covariance that holds for tiny shoes alone."""
    solution, count = solve(fresh(2), Strategy(7)), 500_000
    tally = deal(Table(Rules(2), 4, solution, fresh=True), 5, count)
    expected = 4 * solution.variance + 12 * covariance(solution)
    assert tally.table()[1] == pytest.approx(expected, abs=4 * expected * sqrt(2 / count))


def test_a_shoe_that_does_not_last_for_two_is_refused() -> None:
    """Harm: a number that leaves out the shuffle in mid-round."""
    with pytest.raises(Unknowable, match="do not last for two seats"):
        covariance(solve(Situation(1, (1, 2, 3, 4, 5, 6, 0, 0, 0, 0), 5)))
