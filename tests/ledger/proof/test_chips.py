"""Cutting chips: always the exact amount, always the fewest chips, and never a guess."""

from functools import cache
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.proof.chips import (
    MOVEMENTS,
    PLACES,
    REVERSAL,
    Cut,
    Denomination,
    Uncuttable,
    can_cut,
    cut,
    fewest_touches,
    money,
    say,
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
    def best(cents: int) -> float:
        return (
            0
            if cents == 0
            else min((1 + best(cents - value) for value in values if value <= cents), default=float("inf"))
        )

    fewest = best(amount)
    return None if fewest == float("inf") else int(fewest)


def chips_in(chips: tuple[tuple[Denomination, int], ...]) -> int:
    return sum(count for _, count in chips)


def hands(bet: int, owed: int, rack: tuple[Denomination, ...] = RACK) -> tuple[str, str]:
    """What is taken of a bet that lies in the fewest chips, and what is given back."""
    way = fewest_touches(cut(bet, rack), owed, rack)
    return say(way.take), say(way.give_back)


def test_what_is_taken_lies_there() -> None:
    """Harm prevented: "4 red 4 white" of a bet that lies as a green and a red: the dealer does sums instead."""
    assert hands(10_000, 6_000) == ("1 black", "1 green 3 red")
    assert hands(3_000, 500) == ("1 red", "nothing")
    assert hands(3_000, 2_400) == ("1 green", "1 white")
    assert hands(2_000, 2_000) == ("4 red", "nothing")
    orange = (RED, BLACK, Denomination(50_000, "purple"), Denomination(100_000, "orange"))
    assert hands(500_000, 350_000, orange) == ("4 orange", "1 purple")


@pytest.mark.parametrize(("bet", "loss"), [(2000, 2100), (2000, 0), (2000, -100)])
def test_more_than_the_bet_cannot_be_taken(bet: int, loss: int) -> None:
    """Harm prevented: a house that takes what was never bet."""
    with pytest.raises(ValueError, match="cannot take"):
        hands(bet, loss)


def test_change_that_the_rack_does_not_have_is_not_made_up() -> None:
    """Harm prevented: an instruction in chips that nobody can follow."""
    with pytest.raises(Uncuttable):
        hands(2_000, 1_600, (RED, GREEN))


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
    piles = cut(amount, chips)
    assert total(piles) == amount
    assert chips_in(piles) == expected
    assert all(count > 0 for _, count in piles)
    assert [chip.value_cents for chip, _ in piles] == sorted((chip.value_cents for chip, _ in piles), reverse=True)


@given(st.integers(1, 10**9).map(lambda whole: whole * 50))
def test_floor_chips_are_cut_exactly_at_any_height(amount: int) -> None:
    """Harm prevented: a cut that holds for small amounts and fails for a high roller."""
    if can_cut(amount, FLOOR):
        assert total(cut(amount, FLOOR)) == amount
    else:
        assert amount in (50, 150)  # only these multiples of half a chip are out of reach of 1.00 and 2.50


stacks = st.dictionaries(st.sampled_from((1, 2, 5, 20, 25, 100)), st.integers(1, 3), min_size=1, max_size=4)


@given(stacks, values, st.data())
def test_taking_moves_just_what_is_owed_with_the_fewest_touches(
    stack: dict[int, int], worth: tuple[int, ...], data: st.DataObject
) -> None:
    """Harm prevented: a chip that vanishes, one that does not lie there, and change that a better way would spare."""
    rack = tuple(Denomination(value, f"chip {value}") for value in worth)
    pile = tuple((Denomination(value, f"chip {value}"), count) for value, count in sorted(stack.items(), reverse=True))
    owed = data.draw(st.integers(1, total(pile)))
    fewest = fewest_touches_by_search(pile, owed, worth)
    if fewest is None:
        with pytest.raises(Uncuttable):
            fewest_touches(pile, owed, rack)
        return
    way = fewest_touches(pile, owed, rack)
    assert total(way.take) - total(way.give_back) == owed
    assert all(count <= dict(pile)[chip] for chip, count in way.take)
    assert {chip for chip, _ in way.give_back} <= set(rack)
    assert chips_in(way.take) + chips_in(way.give_back) == way.touches == fewest


def fewest_touches_by_search(pile: Cut, owed: int, worth: tuple[int, ...]) -> int | None:
    """Every handful of the chips that lie there, with the fewest chips of change."""
    heap = [chip.value_cents for chip, count in pile for _ in range(count)]
    handfuls = {(len(hand), sum(hand)) for size in range(len(heap) + 1) for hand in combinations(heap, size)}
    ways = ((size, fewest_by_search(cents - owed, worth)) for size, cents in handfuls if cents >= owed)
    return min((size + change for size, change in ways if change is not None), default=None)


@given(st.integers(1, 10**7), st.data())
def test_of_any_bet_any_part_can_be_taken_at_once(units: int, data: st.DataObject) -> None:
    """Harm prevented: a high roller's half loss, for which the screen has no words, or thinks for a minute."""
    owed = data.draw(st.integers(1, units)) * 100
    way = fewest_touches(cut(units * 100, RACK), owed, RACK)
    assert total(way.take) - total(way.give_back) == owed


@pytest.mark.parametrize(
    ("cents", "sentence"),
    [(1600, "16"), (250, "2.50"), (5, "0.05"), (0, "0"), (-250, "-2.50"), (123_456_700, "1,234,567")],
)
def test_money_is_said_as_at_the_table(cents: int, sentence: str) -> None:
    """Harm prevented: an amount misread by a factor of a hundred."""
    assert money(cents) == sentence


def test_every_reversal_undoes_a_movement_and_no_table_pays_another() -> None:
    """Harm prevented: a way for chips to move that the closed list did not mean to open."""
    forward = {pair for kind, pairs in MOVEMENTS.items() if kind != REVERSAL for pair in pairs}
    assert MOVEMENTS[REVERSAL] == {(target, source) for source, target in forward}
    assert {place for pair in forward for place in pair} <= set(PLACES)
    assert {pair for pair in forward if pair[0] == pair[1]} == {("seat", "seat")}, "one seat pays another"
