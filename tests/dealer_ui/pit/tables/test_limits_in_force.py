"""The limits page of a table: what is in force now and why, what changes next, and where it is changed."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from dealer_ui.pit.tables.limits_in_force import LimitInForce, limits_in_force
from tables.limits import emergency, enforcement, plans
from tables.log.limit_plans import Occasion
from tables.models import LimitPlan, Staff, Table
from tables.roles import Role
from tables.setup import policies
from tables.state import table_state
from tests import floor
from tests.ready import ready_made
from tests.tables.limits.test_plans import drafted

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
@ready_made
def olga() -> Staff:
    floor.table("Rocket 1")
    floor.staff(Role.PIT_BOSS, "bella", "201")
    return floor.staff(Role.OPERATOR, "olga", "301")


@pytest.fixture
def boss(olga: Staff) -> Staff:
    return Staff.objects.get(username="bella")


def shown(viewer: Staff) -> dict[str, LimitInForce]:
    """The limits of the table for a viewer, by their titles."""
    table = Table.objects.get()
    return {limit.title: limit for limit in limits_in_force(table, viewer, table_state.of(table)).limits}


def test_a_limit_names_its_layer_author_and_page(olga: Staff, boss: Staff) -> None:
    """Harm: a patron disputes a limit, and nobody at the table can tell who set it, when and why."""
    row = plans.set_plan(drafted(note="Full house"), expected_version=0, by=olga)
    waiting = shown(olga)["minimum"]
    assert (waiting.value, waiting.layer, waiting.next) == ("10", "Previous setting", "20 within a minute")
    enforcement.bring_into_force()
    minimum, maximum = (shown(olga)[name] for name in ("minimum", "maximum"))
    assert minimum.reason is not None
    assert (minimum.value, minimum.layer, minimum.reason.origin.by) == ("20", "Limit plan", "301 Olga")
    assert minimum.reason.origin.at == row.at
    assert [(value, other.state) for value, other in minimum.others] == [("10", "covered")]
    assert minimum.address == reverse("admin:tables_limitplan_change", args=[row.pk])
    assert (maximum.layer, maximum.address) == (
        "Table settings",
        f"{reverse('limit-grid')}#table-{Table.objects.get().pk}",
    )
    assert shown(boss)["minimum"].address == ""
    page = floor.client(boss).get(f"/pit/tables/{Table.objects.get().pk}/limits/").content.decode()
    for text in ("Limit plan: plan Floor (Full house)", "301 Olga", "Without a limit:", "#propose-title"):
        assert text in page
    desk = floor.client(olga).get(reverse("admin:tables_limitplan_changelist")).content.decode()
    assert "Limit plan: plan Floor (Full house)" in desk


def test_the_next_change_of_each_limit_is_shown(olga: Staff) -> None:
    """Harm: a pit boss promises a limit that ends in an hour."""
    now = timezone.now()
    start, end = (now + timedelta(hours=hours) for hours in (1, 2))
    event = Occasion(starts=policies.spelled(start), ends=policies.spelled(end))
    plans.set_plan(drafted(schedule=event), expected_version=0, by=olga)
    limits = shown(olga)
    assert limits["minimum"].next.startswith(f"{timezone.localtime(start):%a %Y-%m-%d %H:%M}: 20, plan Floor")
    assert limits["maximum"].next == ""


def test_an_emergency_limit_is_named_as_one(olga: Staff, boss: Staff) -> None:
    """Harm: an operator takes a pit boss's limit of four hours for a setting of the table."""
    emergency.tighten(Table.objects.get(), {"max_cents": 5_000}, "Past-posting", by=boss)
    maximum = shown(olga)["maximum"]
    assert maximum.reason is not None
    assert (maximum.value, maximum.layer, maximum.reason.origin.by) == ("50", "Emergency limit", "201 Bella")
    assert maximum.address == reverse("admin:tables_limitplan_change", args=[LimitPlan.objects.get().pk])
