"""The exact values that ship with the demo: complete, of today's methods, and what computing them gives."""

import json
from typing import Any

import pytest

from casino.demo import sheets
from tables.edge import cached_sheets


@pytest.mark.django_db
def test_no_game_of_a_new_demo_is_still_to_be_valued() -> None:
    """Harm: the only worker of a new demo computes for minutes while a newcomer waits for the proof of a day.

    If this fails, compute the values again: `python -m casino.demo.sheets` (a minute)."""
    sheets.load()
    assert not any(worths.pending for worths in cached_sheets.of(sheets.games()))


@pytest.mark.trial(
    "values blackjack exactly",
    covered_by="tests/casino/demo/test_sheets.py::test_no_game_of_a_new_demo_is_still_to_be_valued",
)
def test_the_values_are_those_that_are_computed() -> None:
    """Harm: the demo shows edges of an earlier method or of other rules as those of its tables."""
    assert json.loads(sheets.FILE.read_text()) == Near(sheets.compute())


class Near:
    """Equal to what differs from it in the last digits of floats alone: processors round differently."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        match self.value, other:
            case dict(), dict():
                return self.value.keys() == other.keys() and all(Near(self.value[key]) == other[key] for key in other)
            case list() | tuple(), list():
                return len(self.value) == len(other) and all(map(Near.__eq__, map(Near, self.value), other))
            case float(), float():
                return bool(self.value == pytest.approx(other, rel=1e-9))
            case _:
                return bool(self.value == other)

    def __repr__(self) -> str:
        return repr(self.value)
