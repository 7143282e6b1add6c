"""The search of rounds in a real browser."""

import pytest

from tests.accessibility import EVERY_RULE, serious
from tests.fixtures.browser import Looking
from tests.floor import dealt
from tests.layout import small

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_complaint_typed_into_find_leads_to_its_round(looking: Looking) -> None:
    """Harm: the palette drops what was typed, the fields for times stay empty, or *Last hour* ends before now."""
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat1=1_000, seat3=3_000)
    dealer.cards(8, 9, 3)
    dealer.pay()
    page = looking(boss.by, "/pit/")
    page.keyboard.press("Control+k")
    page.keyboard.type("rocket 1 seat 3 30")
    page.wait_for_selector("#find-list li:has-text('Search rounds')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/pit/rounds/?*")
    assert page.input_value("#id_seat") == "3"
    assert page.inner_text("#hits-title") == "1 round"
    page.click("nav[aria-label=When] >> text=Last hour")
    assert page.input_value("#id_since") != ""
    assert page.inner_text("#hits-title") == "1 round"
    page.fill("#id_amount", "77")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=No match")
    assert page.locator("text=another amount").count() == 1
    assert serious(page, EVERY_RULE) == []
    assert small(page) == []
