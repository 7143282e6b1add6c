"""Which limit plan holds at a moment, and when that changes next."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest

from tables.log.limit_plans import Always, Facts, Hours, Occasion, Plan, layers_at, resolve, values_of
from tables.log.wall_clock import moment_of
from tests.pace import by_pace

ZONE = "America/New_York"
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
TABLE = Facts(
    table="Rocket 1",
    game="rocket",
    pit="Pit 1",
    wagers=frozenset({"tie"}),
    own={"min_cents": 1_000, "max_cents": 50_000},
)


def plan(seq: int, name: str = "", **facts: Any) -> Plan:
    return Plan(
        **{"name": name or f"plan {seq}", "version": 1, "seq": seq, "effective": LONG_AGO, "scope": "house", **facts}
    )


def minimum(least: int, seq: int = 1, **facts: Any) -> Plan:
    return plan(seq, values={"min_cents": least}, **facts)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


SCOPES: list[dict[str, Any]] = [
    {"scope": "house"},
    {"scope": "game", "of": "rocket"},
    {"scope": "pit", "of": "Pit 1"},
    {"scope": "table", "of": "Rocket 1"},
]
NIGHTS = Hours(weekdays=(4, 5), starts="20:00", ends="04:00", zone=ZONE)
DERBY = Occasion(starts="2026-05-02T16:00:00+00:00", ends="2026-05-03T04:00:00+00:00")


def test_what_is_nearer_to_the_table_lies_on_top_whenever_it_was_set() -> None:
    """Harm: a plan of the whole house that was set later takes a table's own plan from it."""
    layers = [minimum(2_000 + seq, seq=9 - seq, **scope) for seq, scope in enumerate(SCOPES)]
    for top in range(4):
        outcome = resolve(layers[: top + 1], TABLE, utc("2026-05-01T12:00"))
        assert outcome.values == {"min_cents": 2_000 + top, "max_cents": 50_000}
        minima = [layer.value for layer in outcome.stack["min_cents"]]
        assert minima == [*(2_000 + low for low in range(top, -1, -1)), 1_000]


def test_within_a_scope_an_event_lies_over_hours_and_hours_over_always() -> None:
    """Harm: the ordinary minimum holds during the tournament."""
    plans = [minimum(3_000, 3), minimum(4_000, 2, schedule=NIGHTS), minimum(5_000, 1, schedule=DERBY)]
    saturday_night, sunday = utc("2026-05-03T03:00"), utc("2026-05-03T05:00")
    assert resolve(plans, TABLE, saturday_night).values["min_cents"] == 5_000
    assert resolve(plans, TABLE, sunday).values["min_cents"] == 4_000
    assert resolve(plans, TABLE, utc("2026-05-03T09:00")).values["min_cents"] == 3_000


def test_each_limit_comes_from_the_topmost_layer_that_says_something_of_it() -> None:
    """Harm: a plan that sets a maximum alone takes away the minimum that another one sets."""
    plans = [
        minimum(2_500, 1),
        plan(2, scope="table", of="Rocket 1", values={"max_cents": 100_000, "wager tie": (500, 5_000)}),
    ]
    outcome = resolve(plans, TABLE, utc("2026-05-01T12:00"))
    assert outcome.values == {"max_cents": 100_000, "min_cents": 2_500, "wager tie": (500, 5_000)}
    assert outcome.layers["min_cents"].why == "plan plan 1: the whole house, always"
    assert resolve([], TABLE, utc("2026-05-01T12:00")).layers["min_cents"].why == "set at the table itself"


def test_a_wager_of_another_game_is_left_out() -> None:
    """Harm: a plan of the house for its ties sets a table to a wager that its game has not."""
    plans = [plan(1, values={"wager pair": (500, 5_000)})]
    assert resolve(plans, TABLE, utc("2026-05-01T12:00")).values == dict(TABLE.own)


def test_a_table_that_moves_leaves_the_plan_of_its_pit() -> None:
    """Harm: a table in another pit goes on at the limits of the one that it was taken from."""
    plans = [minimum(2_500, scope="pit", of="Pit 1")]
    for pit, least in (("Pit 1", 2_500), ("Pit 2", 1_000), ("", 1_000)):
        facts = Facts(table="Rocket 1", game="rocket", pit=pit, own=TABLE.own)
        assert resolve(plans, facts, utc("2026-05-01T12:00")).values["min_cents"] == least


@pytest.mark.parametrize(
    ("before", "moments"),
    [
        # Hours past midnight belong to the day on which they start: Friday's and Saturday's nights, and no Sunday's.
        ("2026-05-01T12:00", ("2026-05-02T00:00", "2026-05-02T08:00", "2026-05-03T00:00", "2026-05-03T08:00")),
        # The night on which clocks go forward lasts seven hours; it ends at 04:00 as the clock shows it.
        ("2026-03-07T12:00", ("2026-03-08T01:00", "2026-03-08T08:00", "2026-03-14T00:00")),
        # The night on which they go back lasts nine.
        ("2026-10-31T12:00", ("2026-11-01T00:00", "2026-11-01T09:00", "2026-11-07T01:00")),
    ],
)  # fmt: skip
def test_hours_go_by_the_wall_clock_through_midnight_and_when_clocks_change(
    before: str, moments: tuple[str, ...]
) -> None:
    """Harm: the night's minimum ends an hour early or late, or on the wrong day."""
    plans, moment, changes = [minimum(2_500, schedule=NIGHTS)], utc(before), []
    for _ in moments:
        change = resolve(plans, TABLE, moment).next
        assert change is not None
        moment = change.moment
        changes.append(moment)
    assert changes == [utc(text) for text in moments]


def test_hours_that_start_at_a_time_that_clocks_leap_over_start_with_the_leap() -> None:
    """Harm: on one day of the year a plan does not hold at all."""
    early = Hours(weekdays=(6,), starts="02:30", ends="05:00", zone=ZONE)
    change = resolve([minimum(2_500, schedule=early)], TABLE, utc("2026-03-08T01:00")).next
    assert change is not None
    assert change.moment == utc("2026-03-08T07:00") == moment_of(ZONE, date(2026, 3, 8), time(2, 30))


def test_a_version_that_is_dated_holds_from_its_moment_and_retiring_ends_a_plan() -> None:
    """Harm: a change that was announced for Friday holds on Thursday, or a retired plan goes on."""
    version_1, version_2 = (
        minimum(2_500, name="Floor"),
        minimum(4_000, 2, name="Floor", version=2, effective=utc("2026-05-08T12:00")),
    )
    ended = plan(3, name="Floor", version=3, effective=utc("2026-05-09T12:00"), retired=True)
    before = resolve([version_1, version_2, ended], TABLE, utc("2026-05-01T12:00"))
    assert before.values["min_cents"] == 2_500
    assert before.next is not None
    assert (before.next.moment, before.next.layers["min_cents"].value) == (version_2.effective, 4_000)
    after = resolve([version_1, version_2, ended], TABLE, version_2.effective)
    assert after.values["min_cents"] == 4_000
    assert after.next is not None
    assert (after.next.moment, values_of(after.next.layers)["min_cents"]) == (ended.effective, 1_000)
    assert resolve([version_1, version_2, ended], TABLE, ended.effective).next is None


def test_a_version_for_another_table_ends_the_plan_here() -> None:
    """Harm: a plan that was given to another table goes on at both."""
    plan_here = minimum(2_500, name="Floor", scope="table", of="Rocket 1")
    plan_elsewhere = minimum(
        2_500, 2, name="Floor", version=2, scope="table", of="Rocket 2", effective=utc("2026-05-08T12:00")
    )
    change = resolve([plan_here, plan_elsewhere], TABLE, utc("2026-05-01T12:00")).next
    assert change is not None
    assert (change.moment, change.changed) == (plan_elsewhere.effective, ("min_cents",))


def some_plan(chance: random.Random, seq: int) -> Plan:
    kind = chance.choice(["always", "hours", "event"])
    starts = LONG_AGO + timedelta(hours=chance.randrange(24 * 400))
    ends = starts + timedelta(hours=chance.randrange(1, 300))
    schedules = {
        "always": Always(),
        "hours": Hours(
            weekdays=tuple(sorted(chance.sample(range(7), chance.randrange(1, 4)))),
            starts=f"{chance.randrange(24):02}:{chance.choice((0, 30)):02}",
            ends=f"{chance.randrange(24):02}:00",
            zone=chance.choice([ZONE, "Europe/Berlin", "UTC"]),
        ),
        "event": Occasion(starts=starts.isoformat(), ends=ends.isoformat()),
    }
    return plan(
        seq,
        name=chance.choice("ABC"),
        version=seq,
        effective=LONG_AGO + timedelta(hours=chance.choice([0, chance.randrange(24 * 400)])),
        schedule=schedules[kind],
        values={chance.choice(["min_cents", "max_cents"]): 1_000 * seq},
        retired=chance.random() < 0.1,
        **chance.choice(PLACES),
    )


PLACES: list[dict[str, Any]] = [
    *SCOPES,
    {"scope": "table", "tables": ("Rocket 1", "Rocket 2")},
    {"scope": "table", "tables": ("Rocket 2", "Rocket 3")},
    {"scope": "house", "excluded": ("Rocket 1",)},
    {"scope": "pit", "of": "Pit 1", "excluded": ("Rocket 2",)},
]


def simplified(plan: Plan) -> Plan:
    """The plan as it applies to a single table: with that table as its place, and without a list."""
    if TABLE.table in plan.excluded or (plan.tables and TABLE.table not in plan.tables):
        return replace(plan, scope="table", of="Elsewhere", tables=(), excluded=())
    return replace(plan, of=TABLE.table if plan.tables else plan.of, tables=(), excluded=())


@pytest.mark.parametrize("seed", range(by_pace(20, 60, 400)))
def test_lists_of_tables_resolve_as_one_plan_for_each_table(seed: int) -> None:
    """Harm: a plan for several tables, or one that excludes a table, has another rank, another end, or another next
    change at a table than a plan for that table alone."""
    chance = random.Random(seed)
    plans = [some_plan(chance, seq) for seq in range(1, chance.randrange(2, 7))]
    moment = LONG_AGO + timedelta(minutes=chance.randrange(60 * 24 * 400))
    outcome, expected = (resolve(of_all, TABLE, moment) for of_all in (plans, [simplified(plan) for plan in plans]))
    assert outcome.values == expected.values
    changes = [(change.moment, change.changed) if change else None for change in (outcome.next, expected.next)]
    assert changes[0] == changes[1]


@pytest.mark.parametrize("seed", range(by_pace(20, 60, 400)))
def test_nothing_changes_before_the_next_change_and_order_does_not_matter(seed: int) -> None:
    """Harm: a screen promises limits until a moment, and they are others before it; or two workers that read the rows
    in another order set a table to two things in turn."""
    chance = random.Random(seed)
    plans = [some_plan(chance, seq) for seq in range(1, chance.randrange(2, 7))]
    moment = LONG_AGO + timedelta(minutes=chance.randrange(60 * 24 * 400))
    outcome = resolve(plans, TABLE, moment)
    shuffled = chance.sample(plans, len(plans))
    assert resolve(shuffled, TABLE, moment) == outcome
    change = outcome.next
    end = change.moment if change else moment + timedelta(days=500)
    for _ in range(40):
        between = moment + (end - moment) * chance.random()
        assert values_of(layers_at(plans, TABLE, between)) == outcome.values
    if change:
        assert values_of(layers_at(plans, TABLE, change.moment)) == values_of(change.layers) != outcome.values
