"""Charts as numbers: ticks are round, places lie in the picture, and every mark says its value."""

from datetime import date
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer_ui.charts import days, plot, rows, shoes
from dealer_ui.charts.axis import MONEY, NUMBER, PER_CENT, amount, lying, standing
from dealer_ui.charts.scale import Scale

CENTS = st.lists(st.integers(-(10**16), 10**16), max_size=12)


@given(CENTS, st.integers(1, 9))
def test_ticks_hold_all_values_and_zero_in_few_round_steps(values: list[int], most: int) -> None:
    """Harm: an axis with two equal labels, none at zero, or a value beyond its end."""
    scale = Scale.over(values, most=most, least=MONEY.least)
    apart = {high - low for low, high in pairwise(scale.ticks)}
    assert len(apart) <= 1
    assert len(scale.ticks) <= most + 3
    assert 0 in scale.ticks
    assert all(0 <= scale.part(value) <= 1 for value in values)
    labels = [MONEY.say(tick) for tick in scale.ticks]
    assert len(set(labels)) == len(labels)
    for step in apart:
        assert str(step).rstrip("0") in ("1", "2", "5")


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=8))
def test_places_rise_as_values_do(values: list[float]) -> None:
    """Harm: a worse value drawn above a better one."""
    scale = Scale.over(values)
    levels = [scale.part(value) for value in sorted(values)]
    assert levels == sorted(levels)
    ticks = standing(scale, NUMBER, top=30, height=100)
    assert [tick.place for tick in ticks] == sorted((tick.place for tick in ticks), reverse=True)
    assert all(30 <= tick.place <= 130 for tick in ticks)


@pytest.mark.parametrize("values", [[], [0], [0, 0, 0]])
def test_of_nothing_there_is_a_zero_alone(values: list[int]) -> None:
    """Harm: an axis from 0 to 0.01 for a table that won nothing."""
    assert [tick.label for tick in lying(Scale.over(values, least=MONEY.least), MONEY)] == ["0"]


def test_units_write_their_numbers_as_people_do() -> None:
    assert [amount(-123_456), amount(1_050), MONEY.say(Fraction(-500))] == ["−1,234.56", "10.50", "−5"]
    assert [PER_CENT.say(Fraction(5, 2)), NUMBER.say(Fraction(-4)), NUMBER.say(Fraction(2))] == ["2.5 %", "−4", "+2"]


def test_the_bars_of_days_stand_on_one_zero_and_say_their_numbers() -> None:
    """Harm: a day that lost looks as if it had won; a bar of which nobody knows whether it is hundreds or millions."""
    lines = [(date(2026, 10, 31), -50_000, 20_000), (date(2026, 11, 1), 150_000, 0), (date(2026, 11, 2), 0, 0)]
    drawn = days.wins(lines, address=lambda day: f"?day={day}")
    (panel,) = drawn.panels
    (zero,) = [tick.place for tick in panel.ticks if tick.is_zero]
    lost, won = panel.bars
    assert (lost.y, lost.kind) == (zero, "down")
    assert won.y + won.height == pytest.approx(zero, abs=0.2)
    assert won.height == pytest.approx(3 * lost.height, abs=0.3)
    assert [mark.step.says for mark in drawn.marks] == [
        "31 Oct: win −500, drop 200", "1 Nov: win +1,500, drop 0", "2 Nov: win ±0, drop 0",
    ]  # fmt: skip
    assert [mark.step.under for mark in drawn.marks] == ["Oct", "Nov", ""]
    assert [mark.is_first for mark in drawn.marks] == [True, False, False]


def test_tables_of_which_there_is_nothing_to_draw_are_named_and_not_drawn() -> None:
    """Harm: forty empty rows above the one that lost."""
    drawn = rows.win_and_drop([("A", 500, 1_000), ("B", -500, 200), *((f"T {n}", 0, 0) for n in range(40))])
    won, lost = drawn.rows
    assert won.win_x == drawn.zero
    assert lost.win_x + lost.win_width == pytest.approx(drawn.zero, abs=0.05)
    assert won.win_width == pytest.approx(lost.win_width, abs=0.02)
    assert len(drawn.idle) == 40
    assert rows.win_and_drop([]).rows == ()


@given(st.lists(st.tuples(st.integers(-(10**12), 10**12), st.integers(-(10**9), 10**12)), max_size=8))
def test_no_bar_leaves_its_field(pairs: list[tuple[int, int]]) -> None:
    """Harm: a bar drawn over the name or the number beside it."""
    drawn = rows.win_and_drop([(f"T {place}", *pair) for place, pair in enumerate(pairs)])
    for row in drawn.rows:
        for x, width in ((row.win_x, row.win_width), (row.drop_x, row.drop_width)):
            assert x >= 0
            assert x + width <= 100.02


@pytest.mark.parametrize(
    ("value", "outside"), [(5.0, False), (0.0, False), (10.0, False), (11.0, True), (-1.0, True), (1e9, True)]
)
def test_a_mark_outside_of_its_interval_is_drawn_outside(value: float, outside: bool) -> None:
    """Harm: a day that should be looked at looks ordinary."""
    span = rows.span(0.0, 10.0, value, ends=("0", "10", "x"))
    assert span.is_outside is outside
    assert (rows.LOW <= span.place <= rows.HIGH) is not outside
    assert 0 < span.place < 100


def test_an_interval_without_width_has_its_value_in_the_middle() -> None:
    assert rows.span(4.0, 4.0, 4.0, ends=("4", "4", "4")).place == 50
    assert rows.span(4.0, 4.0, 5.0, ends=("4", "4", "5")).is_outside


def test_names_of_lines_stand_apart_and_the_chosen_one_lies_above() -> None:
    """Harm: a chart in which nobody can tell which line is which."""
    series = [("a", [1, 2]), ("b", [1, 2.01]), ("c", [-3.3, 7])]
    panel = plot.lines("", series, "b", unit=NUMBER, top=0, height=300)
    places = sorted(line.name_y for line in panel.lines)
    assert min(high - low for low, high in pairwise(places)) >= plot.NAMES_APART
    assert [tick.label for tick in panel.ticks] == ["−4", "−2", "0", "+2", "+4", "+6", "+8"]
    assert panel.lines[-1].name == "b"
    assert panel.lines[-1].dots


@given(st.integers(1, 400))
def test_labels_below_are_few_and_the_last_is_there(count: int) -> None:
    """Harm: numbers of rounds written over each other on a phone."""
    shown = [label for label in plot.sparse([str(number) for number in range(count)]) if label]
    assert 1 <= len(shown) <= plot.FEW
    assert shown[-1] == str(count - 1)


def test_a_shoe_has_a_panel_for_its_edge_and_one_for_each_seat() -> None:
    rounds = [
        {"round": 7, "edge": 2 * shoes.A_PER_CENT, "bets": [[1, 1_000, 5]]},
        {"round": 8, "edge": -shoes.A_PER_CENT, "bets": [[1, 5_000, 5], [4, 2_000, 0]]},
    ]
    drawn = shoes.edges(rounds)
    assert drawn is not None
    assert [panel.name for panel in drawn.panels] == ["The player's edge", "Seat 1", "Seat 4"]
    assert [bar.kind for bar in drawn.panels[1].bars] == ["bet", "favoured"]
    assert [len(panel.bars) for panel in drawn.panels] == [0, 2, 1]
    assert drawn.marks[1].step.says == "Round 8: +1.00 %, seat 1 bet 50, seat 4 bet 20"
    tops = [panel.top for panel in drawn.panels]
    assert tops == sorted(tops)
    assert shoes.edges([]) is None
