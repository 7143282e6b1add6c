"""A limit plan: announced at an open table, in force, and ended."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.limit_plans import Always
from tables.models import Staff, Table
from tables.setup import house_terms, limit_plans, limits


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
        effective=house_terms.spelled(timezone.now() + timedelta(minutes=10)),
    )
    limit_plans.set_plan(event, expected_version=0, by=operator)
    limits.bring_into_force()
    later(minutes=31)
    limits.bring_into_force()
    table.refresh_from_db()
    assert table.min_cents == 2 * own
    limit_plans.retire("Evening", expected_version=1, by=operator)
    later(minutes=1)
    limits.bring_into_force()
    table.refresh_from_db()
    assert table.min_cents == own
