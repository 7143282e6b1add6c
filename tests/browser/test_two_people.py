"""Two operators in two real browsers: a setting that moves money is proposed by one and approved by the other."""

import pytest

from ledger.models import LogEntry
from tables.models import Proposal
from tables.roles import Role
from tables.setup import policies
from tests import floor
from tests.accessibility import serious
from tests.codes import answers
from tests.fixtures.browser import Looking
from tests.terms import read_again

pytestmark = pytest.mark.django_db(transaction=True)


def proposal(number: int) -> str:
    """The link to a proposal."""
    return f"a[href*='/proposal/{Proposal.objects.get(number=number).pk}/']"


def test_a_limit_is_raised_and_a_profile_adopted_by_two(looking: Looking) -> None:
    """Harm: one operator raises what a table may lose; or the second approves what they could not read."""
    olga, omar = floor.staff(Role.OPERATOR, "olga", "301"), floor.staff(Role.OPERATOR, "omar", "302")
    table = floor.table()
    read_again()

    # The house opens: from here on two people.
    first = looking(olga, "/admin/tables/houseterms/")
    first.click("a[href$='/houseterms/add/']")
    first.check("[name=two_people]", force=True)
    first.click("[name=save]")
    answers(first, "entered")
    assert serious(first) == []

    # The first one proposes.
    first.goto(f"/admin/tables/table/{table.pk}/change/")
    first.fill("[name=maximum]", "5000")
    first.click("[name=_save]")
    answers(first, "proposed")
    assert first.locator("[name=approve]").count() == 0
    table.refresh_from_db()
    assert table.max_cents == 10_000

    # The second one finds it on the front page, reads it and approves.
    second = looking(omar, "/admin/")
    second.click(f"[aria-labelledby=desk-waits] {proposal(1)}")
    second.wait_for_selector("td:has-text('5,000')")
    assert serious(second) == []
    second.click("[name=approve]")
    answers(second, "approved")
    table.refresh_from_db()
    assert table.max_cents == 500_000
    assert LogEntry.objects.filter(book=table.book, subject="table").latest("seq").content["proposal"] == 1

    # A profile: proposed by the second, declined by the first without a reason, and then with one.
    second.goto("/admin/tables/houseterms/profiles/")
    second.click("a[href*='/profiles/new_jersey']")
    second.fill("[name=comment]", "For the licence")
    second.click("[name=adopt]")
    answers(second, "proposed")
    first.goto("/admin/")
    first.click(proposal(2))
    first.click("[name=decline]")
    answers(first, "no_reason")
    first.fill("[name=reason]", "Not before the season")
    first.click("[name=decline]")
    answers(first, "declined")
    assert [proposal.end.outcome for proposal in Proposal.objects.order_by("number")] == ["approved", "declined"]
    assert policies.number("least_penetration_percent") == 50
