"""What is called usual: exact where it can be, and nothing where there is too little."""

import random
from math import comb

import pytest

from tables.reports import ordinary_bands


def binomial_tail(events: int, share: float, band: ordinary_bands.Band) -> tuple[float, float]:
    terms = [comb(events, count) * share**count * (1 - share) ** (events - count) for count in range(events + 1)]
    return sum(terms[: int(band.low)]), sum(terms[int(band.high) + 1 :])


@pytest.mark.parametrize(("events", "own", "everybody"), [(40, 200, 1_000), (7, 90, 300), (300, 500, 1_000)])
def test_a_share_is_cut_where_the_binomial_says(events: int, own: int, everybody: int) -> None:
    """Harm: a dealer is blamed for what one in twenty has by chance."""
    band = ordinary_bands.of_share([(events, own, everybody)])
    assert band is not None
    low, high = binomial_tail(events, own / everybody, band)
    assert low <= ordinary_bands.OUTSIDE / 2
    assert high <= ordinary_bands.OUTSIDE / 2
    assert low + high < ordinary_bands.OUTSIDE


def test_a_dealer_of_two_games_is_held_against_both() -> None:
    """Harm: whoever deals the game with more keys is flagged for its take-backs."""
    band = ordinary_bands.of_share([(100, 100, 1_000), (10, 900, 1_000)])
    assert band is not None
    assert band.places(19) == 0
    assert band.places(60) == 1


def test_of_nothing_nothing_is_claimed() -> None:
    """Harm: a band out of no events, or of somebody who dealt alone."""
    assert ordinary_bands.of_share([(0, 100, 1_000)]) is None
    assert ordinary_bands.of_share([(5, 100, 100)]) is None
    assert ordinary_bands.of_draw(2, 0, 10) is None
    assert ordinary_bands.of_pace([(60, 1.0)], [(60, 1.0)]) is None


def test_counts_that_were_off_are_drawn_without_putting_back() -> None:
    """Harm: of four counts that were off, somebody who counted four times can have had all of them by chance."""
    band = ordinary_bands.of_draw(4, 4, 8)
    assert band is not None
    ways = comb(8, 4)
    assert 1 / ways > ordinary_bands.OUTSIDE / 2
    assert (band.low, band.high) == (0, 4)


def test_one_dealer_in_a_hundred_lies_outside_by_chance() -> None:
    """Harm: a page on which everybody is odd."""
    chance, flagged, days = random.Random(3), 0, 4_000
    for _ in range(days):
        own = sum(chance.random() < 0.02 for _ in range(200))
        house_count = sum(chance.random() < 0.02 for _ in range(1_000))
        band = ordinary_bands.of_share([(own + house_count, 200, 1_200)])
        flagged += band is not None and band.places(own) != 0
    assert flagged / days < 0.015


def test_a_pace_is_drawn_from_the_others_and_is_the_same_each_time() -> None:
    """Harm: the same day calls a dealer slow on one screen and not on the next."""
    paces = [(60 + place % 7, 1.0) for place in range(30)]
    band = ordinary_bands.of_pace([(30, 1.0), (31, 1.0)], paces)
    assert band == ordinary_bands.of_pace([(30, 1.0), (31, 1.0)], paces)
    assert band is not None
    assert band.places(30.5) == -1
    assert band.places(63) == 0
