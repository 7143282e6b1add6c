"""Limit plans: announced at an open table, in force, and ended; by two people; by a pit boss in an emergency."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from tables.approvals import proposals
from tables.limits import emergency, enforcement, plans
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.limit_plans import Always, Hours
from tables.models import Staff, Table
from tables.setup import policies


def for_an_hour(table: Table, operator: Staff, later: Callable[..., None]) -> None:
    """A higher minimum at an open table; when the plan is retired, the table's own holds again."""
    table.refresh_from_db()
    own = table.min_cents
    event = LimitPlanSet(
        name="Evening",
        version=0,
        scope="table",
        of=table.name,
        schedule=Always(),
        values={"min_cents": 2 * own},
        note="A full house",
        effective=policies.spelled(timezone.now() + timedelta(minutes=10)),
    )
    plans.set_plan(event, expected_version=0, by=operator)
    enforcement.bring_into_force()
    later(minutes=31)
    enforcement.bring_into_force()
    table.refresh_from_db()
    assert table.min_cents == 2 * own
    plans.set_plan(plans.retirement("Evening"), expected_version=1, by=operator)
    later(minutes=1)
    enforcement.bring_into_force()
    table.refresh_from_db()
    assert table.min_cents == own


def by_two(table: Table, operator: Staff, second: Staff) -> None:
    """Weekends to come, from a next shoe on, with seats that keep the old minimum: two people stand for it."""
    event = LimitPlanSet(
        name="Weekend",
        version=0,
        scope="game",
        of=table.game,
        schedule=Hours((4, 5), "20:00", "04:00", "Europe/Berlin"),
        values={"min_cents": 2_000, "max_cents": 2 * policies.number("two_people_limit_cents")},
        note="Longer nights",
        takes="shoe",
        keeps_seated=True,
        effective=policies.spelled(timezone.now() + timedelta(days=60)),
    )
    draft = plans.draft_of(event, expected_version=0)
    assert draft is not None
    proposals.approve(proposals.propose(draft, "As every spring", by=operator), by=second)


def in_an_emergency(table: Table, boss: Staff, later: Callable[..., None]) -> None:
    """A pit boss lowers a maximum alone; after four hours the table's own holds again."""
    table.refresh_from_db()
    own = table.max_cents
    emergency.tighten(table, {"max_cents": own // 2}, "A run of wins at seat 3", by=boss)
    later(hours=4, minutes=1)
    enforcement.bring_into_force()
    table.refresh_from_db()
    assert table.max_cents == own
