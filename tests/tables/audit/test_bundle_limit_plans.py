"""Limit plans for several tables, exported with a sealed day and verified outside of the site."""

from __future__ import annotations

import pytest

from tables.limits import enforcement, plans
from tables.roles import Role
from tests import floor
from tests.tables.audit.sealed_days import SealedDays, verified
from tests.tables.bundles import ONE
from tests.tables.limits.test_plans import drafted

pytestmark = [pytest.mark.django_db, pytest.mark.slow("seals a day")]


def test_the_outside_verifier_accepts_plans_with_lists_of_tables(days: SealedDays) -> None:
    """Harm: an auditor's verifier rejects a day as forged because a plan names several tables, or excludes one."""
    floor.dealt(options={"decks": 6})
    floor.table("Rocket 2")
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    for event in (
        drafted("Set", scope="table", tables=("Rocket 1", "Rocket 2"), values={"max_cents": 9_000}),
        drafted("Site", excluded=("Rocket 2",), values={"cap_cents": 50_000}),
    ):
        plans.set_plan(event, expected_version=0, by=olga)
    assert enforcement.bring_into_force() == 2
    days.end(ONE)
    assert verified(days.bundle(ONE))
