"""Operators and a pit boss in real browsers: roles, limits from the floor, a cancelled change, retirement."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tables.approvals import proposals
from tables.models import Denomination, HouseTerms, Proposal
from tables.roles import Role
from tables.setup import policies, table_settings
from tests import floor
from tests.accessibility import serious
from tests.codes import answers
from tests.fixtures.browser import Looking
from tests.terms import read_again

pytestmark = pytest.mark.django_db(transaction=True)

PROPOSE = "form:has([value=propose]) button"


def proposal(number: int) -> str:
    """The link to a proposal."""
    return f"a[href*='/proposal/{Proposal.objects.get(number=number).pk}/']"


def approves(page: Any, number: int) -> None:
    """An operator finds a proposal on the desk, and approves it."""
    page.goto("/admin/")
    page.click(proposal(number))
    page.click("[name=approve]")
    answers(page, "approved")


def test_a_role_is_edited_within_its_bounds_by_two(looking: Looking) -> None:
    """Harm: one operator says what a role may do; or the box on the page is not what the floor goes by."""
    olga, omar = floor.staff(Role.OPERATOR, "olga", "301"), floor.staff(Role.OPERATOR, "omar", "302")
    boss = floor.staff(Role.PIT_BOSS, "bella", "201")
    policies.change({"two_people": True}, by=olga)
    read_again()

    first = looking(olga, "/admin/tables/houseterms/roles/")
    assert first.locator("input[value='operator+run_cage']").count() == 0, "a bound is a box"
    first.uncheck("input[value='pit_boss-confirm_code']")
    first.uncheck("input[value='fill.issued-cashier']")
    first.check("input[value='dealer+pit_boss']")
    first.fill("[name=comment]", "No dual rates at this house")
    first.click("#roles [name=save]")
    answers(first, "proposed")
    assert boss.has_perm("tables.confirm_code")

    second = looking(omar, "/admin/")
    approves(second, 1)
    read_again()
    assert not boss.has_perm("tables.confirm_code")
    assert HouseTerms.objects.latest("seq").values["signers_struck"] == ["fill.issued-cashier"]
    second.goto("/pit/access/")
    assert serious(second) == []


@pytest.mark.trial(
    "a further proposal by two people",
    covered_by="tests/browser/test_two_people.py::test_a_limit_is_raised_and_a_profile_adopted_by_two",
)
def test_a_pit_boss_proposes_limits_and_they_hold_once_they_are_approved(looking: Looking) -> None:
    """Harm: the floor sees that a limit is wrong and says so by word of mouth; or what was approved never holds."""
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    boss, table = floor.staff(Role.PIT_BOSS, "bella", "201"), floor.table()
    page = looking(boss, f"/pit/tables/{table.pk}/")
    page.click("a[href$='/limits/']")
    page.fill("[name=max_cents]", "150")
    page.fill("[name=comment]", "A guest asks for it")
    page.fill("[name=min_cents]", "200")
    page.click(PROPOSE)
    answers(page, "bad_settings")
    page.fill("[name=min_cents]", "10")
    page.click(PROPOSE)
    answers(page, "proposed")
    page.wait_for_selector("td:has-text('150')")
    assert serious(page) == []
    table.refresh_from_db()
    assert table.max_cents == 10_000
    approves(looking(olga, "/admin/"), 1)
    table.refresh_from_db()
    assert table.max_cents == 15_000
    page.reload()
    page.wait_for_selector("#next-none")


@pytest.mark.trial(
    "what holds later is called off: tests/tables/approvals/test_proposals.py has the rule",
    covered_by="tests/tables/approvals/test_dated_proposals.py::test_two_call_it_off_and_one_cannot",
)
def test_limits_that_were_approved_for_later_are_called_off_by_two(looking: Looking) -> None:
    """Harm: the operator who thinks better of it undoes alone what two decided; or cannot."""
    olga, omar = floor.staff(Role.OPERATOR, "olga", "301"), floor.staff(Role.OPERATOR, "omar", "302")
    boss, table = floor.staff(Role.PIT_BOSS, "bella", "201"), floor.table()
    page = looking(boss, f"/pit/tables/{table.pk}/limits/")
    page.fill("[name=max_cents]", "150")
    page.fill("[name=comment]", "A guest asks for it")
    moment = timezone.localtime(timezone.now() + timedelta(hours=2))
    page.fill("[name=effective]", f"{moment:%Y-%m-%d %H:%M}")
    page.click(PROPOSE)
    answers(page, "proposed")
    admin = looking(olga, "/admin/")
    approves(admin, 1)
    assert proposals.bring_into_force() == 0
    page.goto(f"/pit/tables/{table.pk}/")
    page.wait_for_selector("#proposal-1")
    admin.goto("/admin/")
    admin.click(f"[aria-labelledby=desk-coming] {proposal(1)}")
    admin.fill("[name=reason]", "The guest left")
    admin.click("[name=call_off]")
    answers(admin, "proposed")
    approves(looking(omar, "/admin/"), 2)
    assert proposals.to_come() == []
    table.refresh_from_db()
    assert table.max_cents == 10_000


@pytest.mark.trial(
    "a form of one field: the rule has its tests in tests/tables/cage",
    covered_by="tests/tables/cage/test_chip_papers.py::test_a_table_is_retired_closed_and_empty",
)
@pytest.mark.parametrize("model_name", ["table", "denomination"])
def test_a_table_or_a_chip_is_retired(looking: Looking, model_name: str) -> None:
    """Harm: a table or chip that is no longer in use stays on the floor."""
    olga, first = floor.staff(Role.OPERATOR, "olga", "301"), floor.table()
    row: Any = Denomination.objects.order_by("pk").first()
    if model_name == "table":
        empty = replace(table_settings.settings_of(first), cameras="C-1")
        row = table_settings.create_table("Rocket 2", empty, by=olga)
    page = looking(olga, f"/admin/tables/{model_name}/{row.pk}/change/")
    page.click("a[href$='/retire/']")
    page.fill("[name=why]", "Worn out")
    assert serious(page) == []
    page.click("#content form [type=submit]")
    answers(page, "retired")
    row.refresh_from_db()
    assert row.retired_why == "Worn out"
