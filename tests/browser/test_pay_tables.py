"""An operator makes a pay table in a real browser: what it is worth is seen before it is saved."""

from typing import Any

import pytest

from ledger.models import LogEntry
from tables.models import PayTable
from tables.roles import Role
from tests import floor
from tests.codes import answers, saves

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
    page.click("a[href='?game=baccarat']")
    fill(page, name="High tie", tie__tie="90 to 1", player_pair__player_pair="12:1")
    page.click("[name=preview]")
    answers(page, "tie.tie")
    assert page.locator("[name=save]").count() == 0
    fill(page, tie__tie="10 to 1")
    page.click("[name=preview]")
    page.wait_for_selector("#worth")
    assert page.locator("#worth [data-lost]:has-text('-4.6716%')").count() == 1
    fill(page, tie__tie="11:1")
    page.click("[name=save]")
    answers(page, "not_shown")
    page.click("[name=save]")
    answers(page, "not_confirmed")
    assert not PayTable.objects.exists()
    fill(page, tie__tie="9:1")
    page.click("[name=preview]")
    page.wait_for_selector("#worth >> text=4.8440%")
    page.click("[name=save]")
    answers(page, "pay_table_made")
    row = PayTable.objects.get()
    assert row.wagers == {"tie": {"tie": "9:1"}, "player_pair": {"player_pair": "12:1"}}
    page.click("a[href*='/new-version']")
    page.wait_for_selector("[name=name][value='High tie']")
    page.goto(f"/admin/tables/table/{dealer.table.pk}/change/")
    page.select_option("[name=option_pays]", str(row.pk))
    saves(page)
    page.goto(f"/pit/tables/{dealer.table.pk}/")
    page.click("#pays summary")
    assert "9 to 1" in page.inner_text("#pays")
    entry = LogEntry.objects.filter(book=dealer.table.book, subject="table").latest("seq")
    assert entry.content["after"]["options"]["pays"] == {
        "name": "High tie", "version": 1, "wagers": row.wagers, "sha256": row.sha256,
    }  # fmt: skip
