"""Changes in the grid that end by themselves: they become limit plans of their tables."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tables.approvals import proposals
from tables.limits import cells, enforcement, plans, resolver
from tables.limits.cells import LimitCell, Preview, Saved, Timing
from tables.log.limit_plans import Occasion
from tables.models import LimitPlan, Staff, Table
from tables.projections.site_rows import LIMIT_PLANS
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import policies
from tests import floor
from tests.clock import Clock
from tests.tables.approvals.test_proposals import fault
from tests.tables.limits.test_plans import drafted
from tests.terms import read_again

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

NAMES = ("Rocket 1", "Rocket 2", "Rocket 3")


@pytest.fixture
def olga() -> Staff:
    for name in NAMES:
        floor.table(name)
    return floor.staff(Role.OPERATOR, "olga", "301")


def until(hours: float = 8, starts: float | None = None) -> Timing:
    now = timezone.now().replace(second=0, microsecond=0)
    effective = now + timedelta(hours=starts) if starts else None
    return Timing(effective=effective, ends=now + timedelta(hours=hours))


def seen() -> dict[str, dict[str, str]]:
    return {table.name: cells.texts_of(table) for table in Table.objects.all()}


def save(typed: dict[str, dict[str, str]], start: Timing, by: Staff) -> Saved:
    shown = cells.preview(typed, seen(), start)
    assert not shown.faults
    return cells.save(typed, seen(), start, digest=shown.digest, reason="Tournament", by=by)


def faults(typed: dict[str, dict[str, str]], start: Timing) -> dict[LimitCell, str]:
    shown: Preview = cells.preview(typed, seen(), start)
    return dict(shown.faults)


def minima() -> dict[str, int]:
    return dict(Table.objects.order_by("name").values_list("name", "min_cents"))


def test_a_change_that_ends_leaves_the_layer_below_in_force(olga: Staff, clock: Clock) -> None:
    """Harm: limits for one night stay for good, because they replaced what the tables were set to; or their plans are
    read with each page for years."""
    plans.set_plan(drafted(values={"max_cents": 5_000}), expected_version=0, by=olga)
    enforcement.bring_into_force()
    typed = {name: {"min_cents": "20", "max_cents": "80"} for name in NAMES[:2]}
    start = until(8, starts=2)
    assert save(typed, start, olga) == Saved(2, [])
    assert start.ends is not None and start.effective is not None  # noqa: PT018 -- both are facts of one fixture
    clock.stand(start.effective + timedelta(minutes=1))
    enforcement.bring_into_force()
    assert minima() == {"Rocket 1": 2_000, "Rocket 2": 2_000, "Rocket 3": 1_000}
    clock.stand(start.ends + timedelta(minutes=1))
    enforcement.bring_into_force()
    assert set(minima().values()) == {1_000}
    assert "Floor" in {plan.name for plan in resolver.plans(start.ends)}
    assert len(resolver.plans(start.ends)) == 2
    assert [plan.name for plan in resolver.plans(start.ends + timedelta(days=4))] == ["Floor"]
    assert set(Table.objects.values_list("max_cents", flat=True)) == {5_000}
    assert fault() == ""


def test_tables_with_the_same_limits_share_a_plan_and_no_plan_is_replaced(olga: Staff) -> None:
    """Harm: forty tables make forty plans; or a second change until the same moment replaces the first one."""
    start = until()
    save(
        {"Rocket 1": {"min_cents": "20"}, "Rocket 2": {"min_cents": "20"}, "Rocket 3": {"min_cents": "30"}}, start, olga
    )
    save({"Rocket 1": {"max_cents": "50"}}, start, olga)
    rows = [LIMIT_PLANS.event_of(row) for row in LimitPlan.objects.order_by("seq")]
    assert [(row.version, row.of, row.tables) for row in rows] == [
        (1, "", ("Rocket 1", "Rocket 2")),
        (1, "Rocket 3", ()),
        (1, "Rocket 1", ()),
    ]
    assert len({row.name for row in rows}) == 3
    assert all(isinstance(row.schedule, Occasion) for row in rows)
    limits = resolver.at_tables(Table.objects.filter(name="Rocket 1"), timezone.now())["Rocket 1"].outcome.values
    assert (limits["min_cents"], limits["max_cents"]) == (2_000, 5_000)


def test_what_cannot_end_is_refused_by_its_cell(olga: Staff) -> None:
    """Harm: an option or a removed cap is saved with an end, and stays after it."""
    Table.objects.filter(name="Rocket 1").update(cap_cents=50_000)
    start = until()
    assert "removes none" in faults({"Rocket 1": {"cap_cents": ""}}, start)[LimitCell("Rocket 1", "cap_cents")]
    assert "limits alone" in faults({"Rocket 1": {"options": "decks: 4"}}, start)[LimitCell("Rocket 1", "options")]
    wrong = faults({"Rocket 1": {"min_cents": "15"}}, start)
    assert "multiple of 10" in wrong[LimitCell("Rocket 1", "min_cents")]
    assert "starts before it ends" in faults({"Rocket 1": {"min_cents": "20"}}, until(1, starts=2)).popitem()[1]
    with pytest.raises(Refused, match="look at the cells"):
        cells.save({"Rocket 1": {"min_cents": "15"}}, seen(), start, digest="", reason="", by=olga)
    assert not LimitPlan.objects.exists()


def test_a_high_maximum_until_a_moment_takes_two(olga: Staff) -> None:
    """Harm: one operator raises a maximum alone, because the change ends by itself."""
    omar = floor.staff(Role.OPERATOR, "omar", "302")
    policies.change({"two_people": True, "two_people_limit_cents": 20_000}, by=olga)
    read_again()
    start = until()
    typed = {"Rocket 1": {"max_cents": "500"}, "Rocket 2": {"max_cents": "60"}}
    assert cells.preview(typed, seen(), start).takes_two == 1
    saved = save(typed, start, olga)
    assert (saved.tables, len(saved.proposals)) == (1, 1)
    proposals.approve(saved.proposals[0], by=omar)
    enforcement.bring_into_force()
    assert Table.objects.get(name="Rocket 1").max_cents == 50_000
    assert fault() == ""


def test_any_edits_that_end_leave_no_trace_after_their_end(olga: Staff, clock: Clock) -> None:
    """Harm: of many overlapping changes one outlasts its end, or the newest one does not apply until then."""
    chance = random.Random(7)
    expected: dict[str, list[tuple[Any, int]]] = {name: [] for name in NAMES}
    last = until().ends
    assert last is not None
    for _ in range(8):
        start, name, cents = until(chance.choice([2, 4, 8])), chance.choice(NAMES), chance.choice([2_000, 3_000, 4_000])
        if Table.objects.get(name=name).min_cents == cents:
            continue
        save({name: {"min_cents": str(cents // 100)}}, start, olga)
        expected[name].append((start.ends, cents))
        enforcement.bring_into_force()
    for hours in (1, 3, 5, 9):
        moment = last - timedelta(hours=8) + timedelta(hours=hours)
        clock.stand(moment)
        enforcement.bring_into_force()
        for name, changes in expected.items():
            running = [cents for ends, cents in changes if ends > moment]
            assert minima()[name] == (running[-1] if running else 1_000)
    assert fault() == ""
