"""Signing in on a tablet and at a desk, and the operator's pages, in a real browser."""

from typing import Any

import pytest

from ledger.models import Book
from tables.models import Denomination, Staff, Table
from tables.roles import Role
from tables.staff import emergency, terminals
from tests import floor, processes
from tests.accessibility import EVERY_RULE, serious
from tests.codes import answers, saves
from tests.floor import PASSWORD, PIN
from tests.layout import small

TABLET = {"width": 800, "height": 1280}


@pytest.fixture
def tablet(browser: Any, web: processes.Web, operator: Staff) -> Any:
    """A touch screen on which the operator's link was opened; it shows the pad."""
    floor.staff(Role.DEALER, "dora", "101")
    context = browser.new_context(base_url=web.url, viewport=TABLET, has_touch=True)
    context.set_default_timeout(10_000)
    page = context.new_page()
    page.goto(terminals.link_for(terminals.add("Tablet", None, by=operator), by=operator))
    page.tap("main form button")
    page.wait_for_selector(".terminal__print")
    page.tap(".terminal__ways a")
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
    """Standing, with one thumb: every key is large enough, and nothing covers the pad; no digit of a PIN that is wrong
    stays on the screen for the next in line to read."""
    assert serious(tablet, *EVERY_RULE) == []
    assert small(tablet, "[data-keys] button") == []
    key_in(tablet, "101")
    tablet.tap("[data-go]")
    key_in(tablet, "9999")
    tablet.tap("[data-go]")
    answers(tablet, "wrong_credentials")
    assert tablet.input_value("#pin") == tablet.input_value("#badge") == ""
    assert tablet.evaluate("document.activeElement.id") == "badge"
    key_in(tablet, "1019")
    tablet.tap("[data-delete]")
    tablet.tap("[data-go]")
    assert tablet.evaluate("document.activeElement.id") == "pin"
    key_in(tablet, PIN)
    assert tablet.input_value("#badge") == "101"
    tablet.tap("[data-go]")
    tablet.wait_for_url("**/tables/")


@pytest.mark.trial(
    "a second way to relieve a dealer",
    covered_by="tests/browser/test_beside.py::test_a_relief_in_mid_round_by_pad_alone",
)
def test_a_relief_takes_a_table_in_mid_round_on_the_tablet(tablet: Any) -> None:
    """Harm: a relief in mid-round needs more than badge and PIN, a tap on the table and the PIN of who goes; or a
    letter gets into a field, or Enter does not go on."""
    floor.staff(Role.DEALER, "dan", "102")
    hand = floor.dealt_by(Staff.objects.get(username="dora"))
    hand.bets(seat1=1_000)
    tablet.keyboard.type("1x02")
    tablet.keyboard.press("Enter")
    tablet.keyboard.type(PIN)
    tablet.keyboard.press("Enter")
    tablet.wait_for_url("**/tables/")
    tablet.tap(".pick")
    tablet.wait_for_selector("#pin:focus")
    assert serious(tablet, *EVERY_RULE) == []
    for key in tablet.locator("main button, main input:not([type=hidden]), main a").all():
        assert key.bounding_box()["height"] >= 48
    tablet.keyboard.type(PIN)
    tablet.tap("main form .button--primary")
    tablet.wait_for_url(f"**/tables/{hand.table.pk}/")
    assert hand.now.dealer is not None
    assert (hand.now.dealer.username, hand.now.round_open) == ("dan", True)


def test_two_operators_come_in_by_codes(page: Any, operator: Staff) -> None:
    """From the sign-in page, in letters as they were printed."""
    codes = [emergency.make(one) for one in (operator, floor.staff(Role.OPERATOR, "olga"))]
    page.goto("/sign-in/")
    page.click("a[href$='/emergency/']")
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


@pytest.mark.trial(
    "five pages that have no path of their own, for axe alone",
    covered_by="tests/browser/test_sign_in.py::test_a_dealer_signs_in_by_touch",
)
def test_axe_finds_nothing_serious_on_the_ways_in(tablet: Any, page: Any, operator: Staff) -> None:
    """Harm: a user with low vision cannot sign in."""
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


@pytest.mark.trial(
    "forms of the administration, which has its own path",
    covered_by="tests/tables/admin/test_admin.py::test_an_operator_sets_up_a_table",
)
def test_an_operator_sets_up_a_table_and_a_terminal_in_the_browser(page: Any, operator: Staff) -> None:
    """Under the policy that the admin's pages are served with: nothing of them is blocked."""
    for value, colour, face in floor.CHIPS:
        Denomination.objects.create(value_cents=value, colour=colour, face=face)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    by_name(page, "omar")
    page.goto("/admin/tables/table/add/")
    page.fill("[name=name]", "Rocket 7")
    page.fill("[name=minimum]", "10")
    page.fill("[name=maximum]", "1,000")
    page.fill("[name=unit]", "1")
    for box in page.locator("[name=denominations]").all():
        box.check()
    saves(page)
    table = Table.objects.get()
    assert (table.name, table.min_cents, table.max_cents, table.options["decks"]) == ("Rocket 7", 1_000, 100_000, 6)
    assert Book.objects.filter(name="Rocket 7").exists()
    page.goto("/admin/tables/terminal/")
    page.click("a[href$='/enrol-here/']")
    page.fill("[name=name]", "Desk")
    page.click("#content form [type=submit]")
    page.wait_for_selector(".terminal__print")
    page.goto("/sign-in/")
    page.wait_for_selector("[data-digit]")
    assert not said
