"""Signing in on a tablet and at a desk, and the operator's pages, in a real browser."""

from typing import Any

import pytest

from ledger.models import Book
from tables.models import Denomination, Staff, Table
from tables.roles import Role
from tables.staff import emergency, terminals
from tests import floor, processes
from tests.accessibility import EVERY_RULE, serious
from tests.floor import PASSWORD, PIN

pytestmark = pytest.mark.browser
TABLET = {"width": 800, "height": 1280}


@pytest.fixture
def tablet(browser: Any, web: processes.Web, operator: Staff) -> Any:
    """A touch screen on which the operator's link was opened; it shows the pad."""
    floor.staff(Role.DEALER, "dora", "101")
    context = browser.new_context(base_url=web.url, viewport=TABLET, has_touch=True)
    context.set_default_timeout(10_000)
    page = context.new_page()
    page.goto(terminals.link_for(terminals.add("Tablet", None, by=operator), by=operator))
    page.tap("text=Enrol this device >> nth=-1")
    page.wait_for_selector(".terminal__print")
    page.tap("text=Sign in")
    page.wait_for_selector("[data-digit]")
    yield page
    context.close()


def key_in(page: Any, digits: str) -> None:
    for digit in digits:
        page.tap(f"[data-digit='{digit}']")


def by_name(page: Any, username: str) -> None:
    page.goto("/sign-in/")
    page.fill("#username", username)
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "sign-in" not in url)


def test_a_dealer_signs_in_by_touch(tablet: Any) -> None:
    """Standing, with one thumb: every key is large enough, and nothing covers the pad."""
    for key in tablet.locator("[data-keys] button").all():
        box = key.bounding_box()
        assert min(box["width"], box["height"]) >= 48
    key_in(tablet, "1019")
    tablet.tap("[data-delete]")
    tablet.tap("[data-go]")
    assert tablet.evaluate("document.activeElement.id") == "pin"
    key_in(tablet, PIN)
    assert tablet.input_value("#badge") == "101"
    tablet.tap("[data-go]")
    tablet.wait_for_url("**/tables/")


def test_a_dealer_signs_in_by_keyboard(tablet: Any) -> None:
    """Enter goes on to the PIN, then in; letters never get into the fields."""
    tablet.keyboard.type("1x01")
    tablet.keyboard.press("Enter")
    tablet.keyboard.type(PIN)
    tablet.keyboard.press("Enter")
    tablet.wait_for_url("**/tables/")


def test_a_wrong_pin_gets_one_sentence_and_the_pad_again(tablet: Any) -> None:
    """No digit of it stays on the screen for the next in line to read."""
    key_in(tablet, "101")
    tablet.tap("[data-go]")
    key_in(tablet, "9999")
    tablet.tap("[data-go]")
    tablet.wait_for_selector("[role=alert]")
    assert tablet.inner_text("[role=alert]") == "Badge number or PIN is wrong."
    assert tablet.input_value("#pin") == tablet.input_value("#badge") == ""
    assert tablet.evaluate("document.activeElement.id") == "badge"


def test_the_pad_works_without_scripts(browser: Any, web: processes.Web, tablet: Any) -> None:
    """A terminal whose script did not load is slower, not closed."""
    context = browser.new_context(
        base_url=web.url, java_script_enabled=False, storage_state=tablet.context.storage_state()
    )
    page = context.new_page()
    page.goto("/sign-in/")
    page.fill("#badge", "101")
    page.fill("#pin", PIN)
    page.click("[data-plain]")
    page.wait_for_url("**/tables/")
    context.close()


def test_a_relief_takes_a_table_in_mid_round_on_the_tablet(tablet: Any) -> None:
    """Badge and PIN of who comes, a tap on the table, the PIN of who goes: nothing else is typed."""
    floor.staff(Role.DEALER, "dan", "102")
    hand = floor.dealt_by(Staff.objects.get(username="dora"))
    hand.bets(seat1=1_000)
    tablet.keyboard.type("102")
    tablet.keyboard.press("Enter")
    tablet.keyboard.type(PIN)
    tablet.keyboard.press("Enter")
    tablet.wait_for_url("**/tables/")
    tablet.tap(".pick")
    tablet.wait_for_selector("text=Relieve Dora at Rocket 1?")
    assert serious(tablet, *EVERY_RULE) == []
    assert tablet.evaluate("document.activeElement.id") == "pin"
    for key in tablet.locator("main button, main input:not([type=hidden]), main a").all():
        assert key.bounding_box()["height"] >= 48
    tablet.keyboard.type(PIN)
    tablet.tap("text=Agreed: hand over")
    tablet.wait_for_url(f"**/tables/{hand.table.pk}/")
    assert hand.now.dealer is not None
    assert (hand.now.dealer.username, hand.now.round_open) == ("dan", True)


def test_two_operators_come_in_by_codes(page: Any, operator: Staff) -> None:
    """From the sign-in page, in letters as they were printed."""
    codes = [emergency.make(one) for one in (operator, floor.staff(Role.OPERATOR, "olga"))]
    page.goto("/sign-in/")
    page.click("text=Two operators’ emergency codes")
    assert serious(page, *EVERY_RULE) == []
    page.fill("#first", codes[0].lower())
    page.fill("#second", codes[1])
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/")
    page.goto("/emergency/code/")
    assert serious(page, *EVERY_RULE) == []
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector(".code")
    assert serious(page, *EVERY_RULE) == []


def test_axe_finds_nothing_serious_on_the_ways_in(tablet: Any, page: Any, operator: Staff) -> None:
    """Whoever cannot see the keys well still gets in."""
    assert serious(tablet, *EVERY_RULE) == []
    tablet.goto("/sign-in/?way=name")
    assert serious(tablet, *EVERY_RULE) == []
    page.goto("/sign-in/")
    assert serious(page, *EVERY_RULE) == []
    page.goto(terminals.link_for(terminals.add("Another", None, by=operator), by=operator))
    assert serious(page, *EVERY_RULE) == []
    page.goto("/enrol/nonsense/")
    assert serious(page, *EVERY_RULE) == []
    by_name(page, "omar")
    page.goto("/password/")
    assert serious(page, *EVERY_RULE) == []


def test_an_operator_sets_up_a_table_and_a_terminal_in_the_browser(page: Any, operator: Staff) -> None:
    """Under the policy that the admin's pages are served with: nothing of them is blocked."""
    for value, colour, face in floor.CHIPS:
        Denomination.objects.create(value_cents=value, colour=colour, face=face)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    by_name(page, "omar")
    page.click("text=Tables >> nth=0")
    page.goto("/admin/tables/table/add/")
    page.fill("[name=name]", "Rocket 7")
    page.fill("[name=minimum]", "10")
    page.fill("[name=maximum]", "1,000")
    page.fill("[name=unit]", "1")
    for box in page.locator("[name=denominations]").all():
        box.check()
    page.click("button[name=_save], input[name=_save]")
    page.wait_for_selector("text=was added successfully")
    table = Table.objects.get()
    assert (table.name, table.min_cents, table.max_cents, table.options["decks"]) == ("Rocket 7", 1_000, 100_000, 6)
    assert Book.objects.filter(name="Rocket 7").exists()
    page.goto("/admin/tables/terminal/")
    page.click("text=Enrol this device")
    page.fill("[name=name]", "Desk")
    page.click("button:has-text('Enrol this device')")
    page.wait_for_selector(".terminal__print")
    page.goto("/sign-in/")
    page.wait_for_selector("[data-digit]")
    assert not said
