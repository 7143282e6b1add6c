"""Operators and a pit boss in real browsers: roles, limits from the floor, what holds later, what is used no more."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ledger.models import HOUSE, Book
from tables.audit import proofs
from tables.models import Denomination, HouseTerms, Proposal, Terminal
from tables.roles import Role
from tables.setup import house_terms, proposals, table_settings
from tests import floor
from tests.accessibility import serious
from tests.terms import read_again

pytestmark = pytest.mark.django_db(transaction=True)


def sound(*books: Book) -> bool:
    return all(proofs.verify(book).fault is None for book in (Book.objects.get(name=HOUSE), *books))


def test_a_role_is_edited_within_its_bounds_by_two(looking: Any) -> None:
    """Harm: one operator says what a role may do; or the box on the page is not what the floor goes by."""
    olga, omar = floor.staff(Role.OPERATOR, "olga", "301"), floor.staff(Role.OPERATOR, "omar", "302")
    boss = floor.staff(Role.PIT_BOSS, "bella", "201")
    house_terms.change({"two_people": True}, by=olga)
    read_again()

    first = looking(olga, "/admin/tables/houseterms/roles/")
    assert first.locator("input[value='operator+run_cage']").count() == 0, "a bound is a box"
    assert serious(first) == []
    first.uncheck("input[value='pit_boss-confirm_code']")
    first.uncheck("input[value='fill.issued-cashier']")
    first.check("input[value='dealer+pit_boss']")
    first.fill("[name=comment]", "No dual rates at this house")
    first.click("text=Propose the change")
    first.wait_for_selector("text=waits for a second operator")
    assert boss.has_perm("tables.confirm_code")

    # Whoever writes the request by hand finds the same bounds.
    second = looking(omar, "/admin/tables/houseterms/roles/")
    box = "document.querySelector('input[name=has]')"
    second.evaluate(f"{box}.value = 'operator+run_cage'; {box}.checked = true")
    second.click("text=Propose the change")
    second.wait_for_selector("text=That is not for a house to choose")

    second.goto("/admin/")
    second.click("text=Proposal 1")
    second.wait_for_selector("text=pit boss: may not give the second half of codes")
    assert serious(second) == []
    second.click("button[name=approve]")
    second.wait_for_selector("text=Proposal 1 is approved, and done.")
    read_again()
    assert not boss.has_perm("tables.confirm_code")
    assert HouseTerms.objects.latest("seq").values["signers_struck"] == ["fill.issued-cashier"]

    # The review of access says so.
    second.goto("/pit/access/")
    second.wait_for_selector("text=pit boss: may not give the second half of codes")
    assert serious(second) == []
    assert sound()


def test_a_pit_boss_proposes_limits_and_they_hold_from_their_moment(looking: Any) -> None:
    """Harm: the floor sees that a limit is wrong and says so by word of mouth; or what was approved never holds."""
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    boss, table = floor.staff(Role.PIT_BOSS, "bella", "201"), floor.table()

    page = looking(boss, f"/pit/tables/{table.pk}/")
    page.click("text=Limits")
    page.fill("[name=max_cents]", "150")
    page.click("text=Propose in your name")
    assert Proposal.objects.count() == 0, "nobody said why"
    page.fill("[name=comment]", "A guest asks for it")
    page.fill("[name=min_cents]", "200")
    page.click("text=Propose in your name")
    page.wait_for_selector("text=The maximum is under the minimum")
    page.fill("[name=min_cents]", "10")
    moment = timezone.localtime(timezone.now() + timedelta(hours=2))
    page.fill("[name=effective]", f"{moment:%Y-%m-%d %H:%M}")
    page.click("text=Propose in your name")
    page.wait_for_selector("text=Proposal 1 waits for an operator.")
    page.wait_for_selector("td:has-text('150')")
    assert serious(page) == []

    admin = looking(olga, "/admin/")
    admin.click("text=Proposal 1")
    admin.wait_for_selector("text=A guest asks for it")
    admin.click("button[name=approve]")
    admin.wait_for_selector("text=Proposal 1 is approved, and waits: it holds from")
    admin.goto("/admin/")
    admin.wait_for_selector("text=Changes next")
    page.goto(f"/pit/tables/{table.pk}/")
    page.wait_for_selector("text=holds from")
    table.refresh_from_db()
    assert table.max_cents == 10_000
    assert proposals.bring_into_force() == 0

    # One who thinks better of it cannot undo it alone.
    admin.click("text=Proposal 1")
    admin.fill("[name=reason]", "The guest left")
    admin.click("button[name=call_off]")
    admin.wait_for_selector("text=it calls off Proposal 1")
    omar = floor.staff(Role.OPERATOR, "omar", "302")
    second = looking(omar, "/admin/")
    second.click("text=Proposal 2")
    second.click("button[name=approve]")
    second.wait_for_selector("text=Proposal 2 is approved, and done.")
    assert proposals.to_come() == []

    # Once more, from a moment that comes at once.
    page.goto(f"/pit/tables/{table.pk}/limits/")
    page.fill("[name=max_cents]", "150")
    page.fill("[name=comment]", "Another guest")
    soon = timezone.now() + timedelta(seconds=15)
    page.fill("[name=effective]", f"{timezone.localtime(soon):%Y-%m-%d %H:%M:%S}")
    page.click("text=Propose in your name")
    page.wait_for_selector("text=Proposal 3 waits for an operator.")
    second.goto("/admin/")
    second.click("text=Proposal 3")
    second.click("button[name=approve]")
    second.wait_for_selector("text=Proposal 3 is approved, and waits")
    while timezone.now() <= soon:
        page.wait_for_timeout(500)
    assert proposals.bring_into_force() == 1
    page.reload()
    page.wait_for_selector("text=Nothing was proposed or approved")
    table.refresh_from_db()
    assert table.max_cents == 15_000
    assert sound(table.book)


def test_what_nobody_has_together_is_refused_and_reviewed(looking: Any) -> None:
    """Harm: an operator makes somebody a cashier who deals; or nobody looks at who may do what."""
    olga, ada = floor.staff(Role.OPERATOR, "olga", "301"), floor.staff(Role.AUDITOR, "ada", "401")
    nia = floor.staff(Role.DEALER, "nia", "601")
    page = looking(olga, f"/admin/tables/staff/{nia.pk}/change/")
    page.check("input[name=further][value=cashier]", force=True)
    page.click("button[name=_save], input[name=_save]")
    page.wait_for_selector("text=Nobody is dealer and cashier at once")
    page.uncheck("input[name=further][value=cashier]", force=True)
    page.check("input[name=further][value=pit_boss]", force=True)
    page.click("button[name=_save], input[name=_save]")
    page.wait_for_selector("text=was changed successfully")

    review = looking(ada, "/pit/access/")
    review.wait_for_selector("tr:has-text('Nia'):has-text('pit boss')")
    review.wait_for_selector("text=Never given to one person together")
    assert serious(review) == []
    assert sound()


@pytest.mark.parametrize("thing", ["table", "denomination", "terminal"])
def test_what_is_used_no_more_is_retired(looking: Any, thing: str) -> None:
    """Harm: what is used no more stays on the floor for ever; or is deleted, and its log speaks of nothing."""
    olga, first = floor.staff(Role.OPERATOR, "olga", "301"), floor.table()
    empty = replace(table_settings.settings_of(first), cameras="C-1")
    rows = {
        "table": lambda: table_settings.create_table("Rocket 2", empty, by=olga),
        "denomination": lambda: Denomination.objects.order_by("pk").first(),
        "terminal": lambda: floor.terminal_cookie(olga) and Terminal.objects.get(),
    }
    row: Any = rows[thing]()
    page = looking(olga, f"/admin/tables/{thing}/{row.pk}/change/")
    if thing == "terminal":
        page.click("text=Revoke")
        assert serious(page) == []
        page.click("button:has-text('Revoke')")
        page.wait_for_selector("text=is revoked.")
    else:
        page.click("text=Retire")
        page.fill("[name=why]", "Worn out")
        assert serious(page) == []
        page.click("button:has-text('Retire')")
        page.wait_for_selector("text=is retired.")
        assert "Worn out" in page.inner_text("main, #main, body")
    row.refresh_from_db()
    assert row.is_active is False if thing == "terminal" else row.retired_why == "Worn out"
    assert sound()
