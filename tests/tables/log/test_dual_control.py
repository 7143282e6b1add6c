"""Which changes of limits take two people: the maxima that take effect are compared before and after."""

from typing import Any

import pytest

from tables.log import dual_control
from tables.log.dual_control import UNBOUNDED

TERMS: dict[str, Any] = {"two_people": True, "two_people_for": ("limits",), "two_people_limit_cents": 20_000}
SET_TO: dict[str, Any] = {
    "game": "baccarat",
    "options": {},
    "max_cents": 50_000,
    "seat_max_cents": 60_000,
    "cap_cents": 90_000,
    "wager_limits": {"tie": [500, 1_000], "banker": [500, 30_000]},
}
BANKER = {"banker": [500, 30_000]}


def of_table(after: dict[str, Any], **set_to: Any) -> str | None:
    before = SET_TO | set_to
    return dual_control.of_table({name: before[name] for name in after}, after, TERMS, lambda: before)


@pytest.mark.parametrize(
    "after",
    [
        {"max_cents": 50_001},
        {"seat_max_cents": 60_001},
        {"seat_max_cents": None},
        {"cap_cents": 90_001},
        {"cap_cents": None},
        {"wager_limits": {"tie": [500, 20_001], **BANKER}},
        {"wager_limits": BANKER},
        {"wager_limits": {}},
        {"wager_limits": BANKER, "max_cents": 40_000},
        {"wager_limits": {"tie": [500, 1_000], "banker": [500, 30_000], "player": [500, 50_001]}},
    ],
)
def test_a_limit_of_a_table_that_is_raised_or_removed_takes_two(after: dict[str, Any]) -> None:
    """Harm: one operator removes a limit, and the wager, the seat or the table takes a far higher bet."""
    assert of_table(after) == "limits"


@pytest.mark.parametrize(
    "after",
    [
        {"max_cents": 49_999},
        {"seat_max_cents": 59_999},
        {"cap_cents": 89_999},
        {"min_cents": 1},
        {"wager_limits": {"tie": [500, 999], **BANKER}},
        {"wager_limits": {"tie": [500, 20_000], **BANKER}},
        {"wager_limits": {"tie": [500, 1_000], "banker": [500, 30_000], "player": [500, 40_000]}},
    ],
)
def test_a_limit_of_a_table_that_is_lowered_or_stays_low_takes_one(after: dict[str, Any]) -> None:
    """Harm: a limit cannot be tightened at night, because a second operator is asked for nothing."""
    assert of_table(after, min_cents=500) is None


def test_a_wager_at_a_low_table_is_released_by_one() -> None:
    """Harm: two people are asked although no bet can exceed the limit above which two are asked."""
    assert of_table({"wager_limits": {}}, max_cents=20_000, wager_limits={"tie": [500, 1_000]}) is None
    assert of_table({"seat_max_cents": 20_000}, seat_max_cents=10_000) is None


def test_a_new_table_takes_two_by_what_it_sets() -> None:
    """Harm: every table without an exposure limit takes two people; or one that sets a high maximum takes one."""
    new = {"game": "baccarat", "options": {}, "max_cents": 20_000, "seat_max_cents": None, "cap_cents": None}
    assert dual_control.of_table({}, new, TERMS, dict) is None
    assert dual_control.of_table({}, new | {"wager_limits": {"tie": [1, 20_001]}}, TERMS, dict) == "limits"


PLANNED: dict[str, Any] = {
    "max_cents": 50_000, "seat_max_cents": 60_000, "cap_cents": 90_000, "wager tie": [500, 1_000]
}  # fmt: skip


def of_plan(values: dict[str, Any], beneath: int) -> str | None:
    facts = {"scope": "house", "of": "", "schedule": {"when": "always"}}
    before, after = (facts | {"values": planned} for planned in (PLANNED, values))
    return dual_control.of_plan(before, after, TERMS, lambda: dict.fromkeys(PLANNED, beneath))


@pytest.mark.parametrize("name", PLANNED)
def test_a_limit_of_a_plan_that_is_raised_or_removed_takes_two(name: str) -> None:
    """Harm: one operator raises a maximum by a plan, or by removing it from one."""
    raised = [500, 20_001] if name == "wager tie" else PLANNED[name] + 1
    assert of_plan(PLANNED | {name: raised}, 0) == "limit_plan"
    assert of_plan({other: PLANNED[other] for other in PLANNED if other != name}, UNBOUNDED) == "limit_plan"
    assert of_plan(PLANNED, UNBOUNDED) is None


def test_a_wager_that_a_plan_leaves_gets_the_maximum_of_that_plan() -> None:
    """Harm: a plan's own maximum, which two people approved, is given by one person to a wager that had a lower one."""
    assert of_plan({name: PLANNED[name] for name in PLANNED if name != "wager tie"}, 1_000) == "limit_plan"
