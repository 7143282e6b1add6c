"""The form of a limit plan in a real browser: a plan that does not fit every table, confirmed by keyboard."""

import pytest
from playwright.sync_api import expect

from tables.models import LimitPlan
from tables.roles import Role
from tests import floor
from tests.accessibility import serious
from tests.codes import answers
from tests.fixtures.browser import Looking

pytestmark = pytest.mark.django_db(transaction=True)


def test_misfits_are_confirmed_by_keyboard(looking: Looking) -> None:
    """Harm: the list of misfits is a dead end for an operator without a mouse or without sight; or Enter retires the
    plan in place of saving it."""
    floor.table("Rocket 1")
    floor.table("Rocket 2", unit_cents=1_000, min_cents=10_000, max_cents=100_000)
    page = looking(floor.staff(Role.OPERATOR, "olga"), "/admin/tables/limitplan/add/")
    page.fill("[name=name]", "Derby")
    page.fill("[name=min_cents]", "20")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Rocket 2")
    page.keyboard.press("Tab")
    expect(page.locator("[name=confirm]")).to_be_focused()
    assert serious(page) == []
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    answers(page, "plan_set")
    assert LimitPlan.objects.get().excluded == ["Rocket 2"]
    page.goto(f"/admin/tables/limitplan/{LimitPlan.objects.get().pk}/change/")
    page.fill("[name=note]", "Derby day")
    page.keyboard.press("Enter")
    page.wait_for_selector("[name=confirm]")
    assert LimitPlan.objects.count() == 1
