"""Cutting chips: always the exact amount, always the fewest chips, and never a guess."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.proof.chips import (
    MOVEMENTS,
    PLACES,
    REVERSAL,
    Denomination,
    Uncuttable,
    can_cut,
    cut,
    money,
    pay,
    say,
    take_and_return,
    total,
)

WHITE, RED, GREEN, BLACK = (
    Denomination(100, "white"),
    Denomination(500, "red"),
    Denomination(2500, "green"),
    Denomination(10_000, "black"),
)
RACK = (WHITE, RED, GREEN, BLACK)
# Two values at which taking the largest chip first is not the fewest (40), or not possible at all (6.00).
FLOOR = tuple(
    Denomination(value, name)
    for value, name in [
        (250, "pink"), (100, "white"), (500, "red"), (2000, "yellow"), (2500, "green"), (10_000, "black"),
        (50_000, "purple"), (100_000, "orange"), (500_000, "grey"),
    ]
)  # fmt: skip


def fewest_by_search(amount: int, values: tuple[int, ...]) -> int | None:
    """The same answer by trying everything, for amounts small enough."""

    @cache
    def best(rest: int) -> float:
        return (
            0 if rest == 0 else min((1 + best(rest - value) for value in values if value <= rest), default=float("inf"))
        )

    found = best(amount)
    return None if found == float("inf") else int(found)


def chips_in(chips: tuple[tuple[Denomination, int], ...]) -> int:
    return sum(count for _, count in chips)


def test_the_dealer_is_told_what_to_keep_and_what_to_give_back() -> None:
    """Harm prevented: a dealer who has to work out the change by head, and errs."""
    assert str(take_and_return(2000, 1600, RACK)) == "take 16: keep 3 red 1 white, return 4 white"


def test_nothing_is_returned_of_a_bet_that_is_lost_whole() -> None:
    """Harm prevented: "return nothing" read as an instruction."""
    assert str(take_and_return(2000, 2000, RACK)) == "take 20: keep 4 red"


def test_pay_names_the_chips() -> None:
    """Harm prevented: a payout in chips that do not make the amount."""
    assert pay(13_700, RACK) == "pay 137: 1 black 1 green 2 red 2 white"


@pytest.mark.parametrize(("bet", "taken"), [(2000, 2100), (2000, 0), (2000, -100)])
def test_more_than_the_bet_cannot_be_taken(bet: int, taken: int) -> None:
    """Harm prevented: a house that takes what was never bet."""
    with pytest.raises(ValueError, match="cannot take"):
        take_and_return(bet, taken, RACK)


def test_greedy_is_not_good_enough() -> None:
    """Harm prevented: 25 and three 5s for 40, where two 20s do; and no answer for 6 where one is there."""
    assert say(cut(4000, FLOOR)) == "2 yellow"
    assert say(cut(600, (Denomination(400, "blue"), Denomination(300, "brown")))) == "2 brown"


def test_an_amount_that_chips_cannot_make_is_refused() -> None:
    """Harm prevented: a payout rounded in silence."""
    with pytest.raises(Uncuttable, match=r"2\.70 cannot be made"):
        cut(270, FLOOR)
    assert not can_cut(150, (WHITE,))
    assert not can_cut(100, ())
    assert can_cut(0, ())


def test_huge_amounts_take_no_time() -> None:
    """Harm prevented: a screen that hangs on an absurd bet."""
    amount = 10**30
    assert total(cut(amount, FLOOR)) == amount
    assert chips_in(cut(10**12, (WHITE,))) == 10**10


def test_denominations_with_nothing_in_common_are_refused_when_they_would_take_for_ever() -> None:
    """Harm prevented: a worker without memory, because of one mistyped denomination."""
    odd = (Denomination(99_991, "odd"), Denomination(100_003, "odder"))
    assert chips_in(cut(99_991 * 3, odd)) == 3
    with pytest.raises(ValueError, match="too little in common"):
        cut(99_991 * 100_003 * 7, odd)


def test_chips_are_worth_something() -> None:
    """Harm prevented: a chip of zero, which would make every cut endless."""
    with pytest.raises(ValueError, match="worth something"):
        Denomination(0, "void")
    with pytest.raises(ValueError, match="negative"):
        cut(-100, RACK)


values = st.lists(st.integers(1, 40), min_size=1, max_size=6, unique=True).map(tuple)


@given(values, st.integers(0, 400))
def test_every_cut_is_exact_and_none_has_fewer_chips(worth: tuple[int, ...], amount: int) -> None:
    """Harm prevented: any amount at all for which the cut is wrong, or missing though there is one."""
    chips = [Denomination(value, f"chip {value}") for value in worth]
    expected = fewest_by_search(amount, worth)
    if expected is None:
        assert not can_cut(amount, chips)
        return
    found = cut(amount, chips)
    assert total(found) == amount
    assert chips_in(found) == expected
    assert all(count > 0 for _, count in found)
    assert [chip.value_cents for chip, _ in found] == sorted((chip.value_cents for chip, _ in found), reverse=True)


@given(st.integers(1, 10**9).map(lambda whole: whole * 50))
def test_floor_chips_are_cut_exactly_at_any_height(amount: int) -> None:
    """Harm prevented: a cut that holds for small amounts and fails for a high roller."""
    if can_cut(amount, FLOOR):
        assert total(cut(amount, FLOOR)) == amount
    else:
        assert amount in (50, 150)  # only these multiples of half a chip are out of reach of 1.00 and 2.50


@given(st.integers(1, 10**7), st.data())
def test_what_is_kept_and_what_is_returned_make_the_bet(units: int, data: st.DataObject) -> None:
    """Harm prevented: a chip that vanishes between the player's bet and the house's rack."""
    bet = units * 100
    taken = data.draw(st.integers(1, units)) * 100
    taking = take_and_return(bet, taken, RACK)
    assert total(taking.keep) + total(taking.give_back) == bet
    assert total(taking.keep) == taken


@pytest.mark.parametrize(
    ("cents", "said"),
    [(1600, "16"), (250, "2.50"), (5, "0.05"), (0, "0"), (-250, "-2.50"), (123_456_700, "1,234,567")],
)
def test_money_is_said_as_at_the_table(cents: int, said: str) -> None:
    """Harm prevented: an amount misread by a factor of a hundred."""
    assert money(cents) == said


def test_every_reversal_undoes_a_movement_and_no_table_pays_another() -> None:
    """Harm prevented: a way for chips to move that the closed list did not mean to open."""
    forward = {pair for kind, pairs in MOVEMENTS.items() if kind != REVERSAL for pair in pairs}
    assert MOVEMENTS[REVERSAL] == {(target, source) for source, target in forward}
    assert {place for pair in forward for place in pair} <= set(PLACES)
    assert {pair for pair in forward if pair[0] == pair[1]} == {("seat", "seat")}, "one seat pays another"
