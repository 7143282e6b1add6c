"""Two operators in two real browsers: a setting that moves money is proposed by one and approved by the other."""

from typing import Any

import pytest

from ledger.models import HOUSE, Book, LogEntry
from tables.audit import proofs
from tables.models import Proposal
from tables.roles import Role
from tables.setup import house_terms
from tests import floor
from tests.accessibility import serious
from tests.terms import read_again

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_limit_is_raised_and_a_profile_adopted_by_two(looking: Any) -> None:
    """Harm: one operator raises what a table may lose; or the second approves what they could not read."""
    olga, omar = floor.staff(Role.OPERATOR, "olga", "301"), floor.staff(Role.OPERATOR, "omar", "302")
    table = floor.table()
    read_again()

    # The house opens: from here on two people.
    first = looking(olga, "/admin/tables/houseterms/")
    first.click("text=Change terms")
    first.check("[name=two_people]", force=True)
    first.click("text=Enter the change")
    first.wait_for_selector("text=The change is entered.")
    assert serious(first) == []

    # The first one proposes.
    first.goto(f"/admin/tables/table/{table.pk}/change/")
    first.fill("[name=maximum]", "5000")
    first.click("button[name=_save], input[name=_save]")
    first.wait_for_selector("text=waits for a second operator")
    assert first.locator("button[name=approve]").count() == 0
    table.refresh_from_db()
    assert table.max_cents == 10_000

    # The second one finds it on the front page, reads it and approves.
    second = looking(omar, "/admin/")
    second.wait_for_selector("text=Waits for you")
    second.click("text=Proposal 1")
    second.wait_for_selector("td:has-text('5,000')")
    assert serious(second) == []
    second.click("button[name=approve]")
    second.wait_for_selector("text=Proposal 1 is approved, and done.")
    table.refresh_from_db()
    assert table.max_cents == 500_000
    assert LogEntry.objects.filter(book=table.book, subject="table").latest("seq").content["proposal"] == 1

    # A profile: proposed by the second, declined by the first without a reason, and then with one.
    second.goto("/admin/tables/houseterms/profiles/")
    second.click("text=New Jersey")
    second.wait_for_selector("text=13:69F-2.5")
    second.fill("[name=comment]", "For the licence")
    second.click("text=Propose the change")
    second.wait_for_selector("text=waits for a second operator")
    first.goto("/admin/")
    first.click("text=Proposal 2")
    first.click("button[name=decline]")
    first.wait_for_selector("text=Say why in a few words.")
    first.fill("[name=reason]", "Not before the season")
    first.click("button[name=decline]")
    first.wait_for_selector("text=Proposal 2 is declined.")
    assert [proposal.end.outcome for proposal in Proposal.objects.order_by("number")] == ["approved", "declined"]
    assert house_terms.number("least_penetration_percent") == 50
    for book in (Book.objects.get(name=HOUSE), table.book):
        assert proofs.verify(book).fault is None
