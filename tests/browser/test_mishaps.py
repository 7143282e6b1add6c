"""Mishaps at the dealer's screen: an exposed card, and an evacuation in mid-round through to the closed table."""

from typing import Any

import pytest

from ledger.models import LogEntry
from tables.models import Staff
from tables.roles import Role
from tests import floor
from tests.browser.conftest import AtTable, entries
from tests.floor import PIN, Hand, counted
from tests.layout import fits

SMALL = {"width": 1024, "height": 768}


def signed(page: Any, badge: str) -> None:
    page.fill("[name=badge]", badge)
    page.fill("[name=pin]", PIN)


def boss_with_a_pin() -> Staff:
    """A pit boss who signs on the table's terminal."""
    return Staff.objects.filter(username="petra").first() or floor.staff(Role.PIT_BOSS, "petra", "201")


def test_an_exposed_card_is_set_aside_by_keyboard(at_table: AtTable, rocket: Hand) -> None:
    """Harm: the procedure takes so long to find that the dealer plays on by heart."""
    screen = at_table(rocket, SMALL).open()
    page = screen.page
    screen.keys("2", "0", "Enter")
    screen.pause()
    screen.keys("Enter")
    start = screen.seq
    assert screen.fits
    page.click("#mishap")
    page.wait_for_selector(".mishaps")
    assert fits(page), "the list has to fit"
    page.keyboard.press("1")
    page.wait_for_selector(".mishap")
    assert page.url.endswith("/mishaps/exposed_card/")
    page.select_option("#card", "7")
    page.click("button[value=set_aside]")
    page.wait_for_selector("#board")
    assert entries(rocket, start) == [("mishap", "entered"), ("round", "play")]
    page.goto(page.url + "mishaps/exposed_card/")
    page.fill("#called", "x" * 10)
    page.keyboard.press("Escape")
    assert page.input_value("#called") == "x" * 10, "nothing is left while something is typed"


@pytest.mark.trial(
    "a further procedure on the same screen",
    covered_by="tests/tables/floor/test_irregularities.py::test_an_abandoned_table_closes_with_its_closer",
)
def test_an_evacuation_in_mid_round_ends_in_a_closed_table(at_table: AtTable) -> None:
    """Harm: an alarm rings in mid-round, and the table can never be closed again."""
    dealer, boss = floor.dealt(source="house")
    boss_with_a_pin()
    screen = at_table(dealer).open()
    page = screen.page
    screen.keys("2", "0", "Enter", "Enter", "Enter")
    page.click("#mishap")
    page.click("a[href$='/mishaps/abandoned/']")
    page.fill("#why", "the alarm rang")
    signed(page, "101")  # a dealer's own signature is not enough
    page.click("#abandon")
    page.wait_for_selector("#refused[data-code=not_permitted]")
    page.fill("#why", "the alarm rang")
    signed(page, "201")
    page.click("#abandon")
    page.wait_for_selector(".picks")
    last = LogEntry.objects.filter(book_id=dealer.table.book_id).order_by("-seq")[:5]
    kinds = [f"{entry.subject} {entry.kind}" for entry in reversed(last)]
    assert kinds == ["mishap abandoned", "rack locked", "round voided", "shoe retired", "dealer signed_out"]
    counted(boss, "closer")
    assert not dealer.now.is_open
