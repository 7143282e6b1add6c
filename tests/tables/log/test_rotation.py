"""Rotation: positions after pushes and reliefs, and the hours of dealers, computed from facts alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tables.log.rotation import LineUp, Session, TableStatus, Tap, fault_of, hours_of, is_push, moved_on

START = datetime(2026, 3, 2, 18, tzinfo=UTC)
TURN = timedelta(minutes=20)
STRING = LineUp(
    string="A",
    tables=("Rocket 1", "Rocket 2", "Blackjack 1"),
    dealers=("ann", "ben", "cy", "dee"),
    turn=TURN,
    push_at=START + TURN,
    ends=START + timedelta(hours=8),
    at=START,
)


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def test_a_push_moves_each_dealer_on_and_the_break_to_the_first_table() -> None:
    """Harm: two dealers are sent to one table, and the dealer on a break stays there."""
    pushed = STRING.pushed(at(20))
    assert pushed.dealers == ("dee", "ann", "ben", "cy")
    assert (pushed.on_break, pushed.push_at) == (("cy",), at(40))
    assert [STRING.relief_of(table) for table in STRING.tables] == ["dee", "ann", "ben"]


def test_a_late_push_gives_the_next_turn_its_whole_length() -> None:
    """Harm: after a push that came an hour late, three more are due at once."""
    assert STRING.pushed(at(32)).push_at == at(40), "a little late: the plan keeps its clock times"
    assert STRING.pushed(at(75)).push_at == at(95)


def test_an_early_push_does_not_prolong_the_turn() -> None:
    """Harm: two pushes in a row leave every dealer at the table for two turns."""
    assert STRING.pushed(at(12)).push_at == at(40), "a little early: the plan keeps its clock times"
    assert STRING.pushed(at(20)).pushed(at(21)).push_at == at(41)


def test_the_first_relief_moves_the_line_up_on_once() -> None:
    """Harm: each of three taps of one push moves the whole string on."""
    taps = [Tap("Rocket 2", "ann", at(21)), Tap("Rocket 1", "dee", at(22)), Tap("Blackjack 1", "ben", at(24))]
    moved = moved_on(STRING, taps)
    assert (moved.dealers, moved.push_at, moved.at) == (("dee", "ann", "ben", "cy"), at(40), at(21))


def test_a_relief_outside_the_rotation_moves_nothing() -> None:
    """Harm: a dealer who covers five minutes at the start of a turn pushes the whole string."""
    early, other, before = Tap("Rocket 1", "dee", at(5)), Tap("Rocket 1", "zoe", at(20)), Tap("Rocket 1", "dee", at(-1))
    elsewhere = Tap("Roulette 1", "dee", at(20))
    assert moved_on(STRING, [early, other, before, elsewhere]) == STRING


@given(pushes=st.integers(0, 12), breaks=st.integers(0, 3), tables=st.integers(1, 6))
def test_every_dealer_deals_every_table_and_has_every_break(pushes: int, breaks: int, tables: int) -> None:
    """Harm: after some pushes a dealer is missing, and another deals twice as long."""
    names = tuple(f"Rocket {number}" for number in range(tables))
    dealers = tuple(f"dealer {number}" for number in range(tables + breaks))
    line_up = replace(STRING, tables=names, dealers=dealers)
    positions = {dealer: [] for dealer in dealers}
    for _ in range(len(dealers)):
        for position, dealer in enumerate(line_up.dealers):
            positions[dealer].append(position)
        assert is_push(dealers, line_up.dealers)
        line_up = line_up.pushed(line_up.push_at)
    assert line_up.dealers == dealers
    assert all(sorted(each) == list(range(len(dealers))) for each in positions.values())


def test_positions_that_cannot_be_dealt_are_named() -> None:
    """Harm: a table has no position, or one dealer stands at two tables."""
    assert fault_of(("A", "B"), ("ann", "ben")) == fault_of(("A", "B"), ("", "", "")) == ""
    assert "each table" in fault_of(("A", "A"), ("ann", "ben"))
    assert "one position" in fault_of(("A", "B"), ("ann", "ann"))
    assert "2 positions" in fault_of(("A", "B"), ("ann",))


def test_hours_count_what_was_dealt_and_only_real_breaks() -> None:
    """Harm: the walk from table to table counts as a break, and a dealer without any passes for rested."""
    ann = [
        Session("ann", "Ann", "Rocket 1", at(0), at(20)),
        Session("ann", "Ann", "Rocket 2", at(21), at(60)),
        Session("ann", "Ann", "Rocket 1", at(80), at(100)),
    ]
    ben = [Session("ben", "Ben", "Rocket 1", at(20), at(80))]
    of_ann, of_ben = hours_of([*ben, *reversed(ann)], at(100))
    assert (of_ann.dealt, of_ann.breaks, of_ann.on_break) == (
        timedelta(minutes=79),
        1,
        timedelta(minutes=20),
    )
    assert (of_ann.longest, of_ann.stretch) == (timedelta(minutes=60), timedelta(minutes=20))
    assert of_ann.tables == ("Rocket 1", "Rocket 2")
    assert (of_ben.breaks, of_ben.stretch) == (0, timedelta())


def test_a_string_without_an_open_table_is_dormant_and_wakes_for_a_whole_turn() -> None:
    """Harm: a string whose tables were closed for three hours has a push that is three hours late when one opens."""
    closed = [TableStatus(table, False, at(5 + number)) for number, table in enumerate(STRING.tables)]
    dormant = moved_on(STRING, closed)
    assert (dormant.is_dormant, dormant.push_at) == (True, at(20))
    assert not moved_on(STRING, closed[:2]).is_dormant
    awake = moved_on(STRING, [*closed, TableStatus("Rocket 2", True, at(90)), TableStatus("Rocket 1", True, at(100))])
    assert (awake.is_dormant, awake.push_at, awake.at) == (False, at(110), STRING.at)
    assert moved_on(STRING, [*closed, TableStatus("Rocket 2", True, at(9))]).push_at == at(20), "it was not due yet"


def test_openings_before_the_entry_change_no_push() -> None:
    """Harm: a line-up that is set an hour after its tables opened has its push moved by their opening."""
    planned = replace(STRING, push_at=at(-1), closed=frozenset(STRING.tables))
    opened = moved_on(planned, [TableStatus("Rocket 1", True, at(-60))])
    assert (opened.is_dormant, opened.push_at) == (False, at(-1))
    assert opened.closed == {"Rocket 2", "Blackjack 1"}


def test_a_push_taken_back_restores_the_positions() -> None:
    """Harm: a correction of a push sends the dealers on instead of back."""
    assert STRING.pushed(at(20)).former == STRING.dealers
