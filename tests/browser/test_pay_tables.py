"""An operator makes a pay table in a real browser: what it is worth is seen before it is saved."""

from typing import Any

import pytest

from ledger.models import LogEntry
from tables.models import PayTable
from tables.roles import Role
from tests import floor

pytestmark = pytest.mark.django_db(transaction=True)


def fill(page: Any, **lines: str) -> None:
    for line, odds in lines.items():
        page.fill(f"[name='{line.replace('__', '.')}']", odds)


def test_an_operator_makes_a_pay_table_and_sets_a_table_to_it(looking: Any) -> None:
    """Harm: odds come into force whose worth nobody saw, or the house loses on a wager and nobody meant it."""
    olga = floor.staff(Role.OPERATOR, "olga")
    dealer, _ = floor.dealt(name="Table 1", game="baccarat", source="keyed", options={"decks": 8}, seats=3)
    page = looking(olga, "/admin/tables/paytable/")
    page.click("a[href$='/paytable/add/']")
    page.click("text=Baccarat")
    fill(page, name="High tie", tie__tie="90 to 1", player_pair__player_pair="12:1")
    page.click("text=What is it worth?")
    page.wait_for_selector("text=Tie, both have the same points: pays 5:1 to 12:1, not 90:1.")
    assert page.locator("text=Save these lines").count() == 0
    fill(page, tie__tie="10 to 1")
    page.click("text=What is it worth?")
    page.wait_for_selector("#worth")
    assert page.locator("#worth >> text=The house loses: -4.6716%").count() == 1
    fill(page, tie__tie="11:1")
    page.click("text=Save these lines")
    page.wait_for_selector("text=These lines were not shown yet")
    page.click("text=Save these lines")
    page.wait_for_selector("text=The house loses on a wager: say that it is meant so")
    assert not PayTable.objects.exists()
    fill(page, tie__tie="9:1")
    page.click("text=What is it worth?")
    page.wait_for_selector("#worth >> text=4.8440%")
    page.click("text=Save these lines")
    page.wait_for_selector("text=High tie version 1 of Baccarat is made")
    row = PayTable.objects.get()
    assert row.wagers == {"tie": {"tie": "9:1"}, "player_pair": {"player_pair": "12:1"}}
    page.click("text=New version")
    page.wait_for_selector("[name=name][value='High tie']")
    page.goto(f"/admin/tables/table/{dealer.table.pk}/change/")
    page.select_option("[name=option_pays]", str(row.pk))
    page.click("button[name=_save], input[name=_save]")
    page.wait_for_selector("text=was changed successfully")
    page.goto(f"/admin/tables/table/{dealer.table.pk}/change/")
    page.wait_for_selector("text=Tie: 9 to 1")
    page.goto(f"/pit/tables/{dealer.table.pk}/")
    page.click("text=Pays by High tie version 1")
    page.wait_for_selector("text=Tie: 9 to 1")
    entry = LogEntry.objects.filter(book=dealer.table.book, subject="table").latest("seq")
    assert entry.content["after"]["options"]["pays"] == {
        "name": "High tie", "version": 1, "wagers": row.wagers, "sha256": row.sha256,
    }  # fmt: skip
