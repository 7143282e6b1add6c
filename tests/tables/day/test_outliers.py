"""What is out of the ordinary: seeded outliers are flagged, ordinary days one time in twenty."""

import random
from fractions import Fraction

import pytest
from django.utils import timezone

from tables.day import hours, outliers
from tests.floor import dealt
from tests.tables.day.test_figures import plays

BETS = 300
EDGE, DEVIATION = 0.02, 0.9


def play(chance: random.Random, edge: float = EDGE) -> outliers.Interval:
    """A day of single bets that win or lose so much, with this edge and deviation in truth."""
    win = handle = squares = 0
    for _ in range(BETS):
        bet = chance.choice([1_000, 2_000, 5_000])
        win += round(bet * (edge + DEVIATION * chance.choice([-1, 1])))
        handle, squares = handle + bet, squares + bet * bet
    return outliers.of_chance(win, handle, squares, squares, EDGE, deviation=DEVIATION, covariance=0.1)


def test_ordinary_days_are_flagged_one_time_in_twenty() -> None:
    """Harm: a flag that is always up is looked at by nobody; one that never is finds nothing."""
    chance = random.Random(4)
    flagged = sum(play(chance).flagged for _ in range(1_000))
    assert 35 <= flagged <= 65


def test_a_game_that_pays_what_it_should_not_is_flagged() -> None:
    """Harm: a dealer who pays a friend every hand looks like bad luck."""
    chance = random.Random(5)
    assert sum(play(chance, edge=-0.25).flagged for _ in range(100)) >= 95


@pytest.mark.parametrize("days", [10, 30, 60])
def test_a_hold_like_every_other_is_flagged_one_time_in_twenty(days: int) -> None:
    """Harm: with few days behind it, a table is flagged every week."""
    chance = random.Random(days)
    flagged = 0
    for _ in range(1_000):
        holds = [Fraction(round(chance.gauss(200, 60)), 1_000) for _ in range(days + 1)]
        found = outliers.of_habit(holds[0], holds[1:])
        flagged += found is not None and found.flagged
    assert 32 <= flagged <= 68


def test_a_hold_far_off_its_table_is_flagged_and_a_new_table_is_not() -> None:
    """Harm: a box that is robbed every night from one night on."""
    chance = random.Random(6)
    before = [Fraction(round(chance.gauss(200, 30)), 1_000) for _ in range(30)]
    found = outliers.of_habit(Fraction(50, 1_000), before)
    assert found is not None
    assert found.flagged
    assert outliers.of_habit(Fraction(50, 1_000), before[:9]) is None


@pytest.mark.parametrize(("freedom", "times"), [(9, 2.2622), (29, 2.0452), (59, 2.0010), (None, 1.9600)])
def test_the_number_of_deviations_is_the_tables_one(freedom: int | None, times: float) -> None:
    """Harm: an interval that is narrower than it says. Student's t as printed in tables of it."""
    assert abs(outliers._times(freedom) - times) < 0.001


@pytest.mark.django_db
def test_a_days_tables_are_looked_at() -> None:
    """Harm: a method that never meets the floor's own rounds."""
    dealer, _ = dealt(options={"decks": 6})
    plays(dealer)
    [found] = outliers.day(hours.day_of(timezone.now()))
    assert found.win is not None
    assert found.win.low < 0 < found.win.high
    assert found.hold is None
    assert not found.flagged
