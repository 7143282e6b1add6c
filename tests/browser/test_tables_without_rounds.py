"""A roulette table in a real browser: its dealer sells chips by the keyboard and by touch, on every screen."""

from typing import Any

from ledger.models import LogEntry
from tables.floor import recorder
from tables.roles import Role
from tests import floor
from tests.accessibility import serious
from tests.browser.conftest import AtTable
from tests.floor import Hand
from tests.layout import fits_width, small
from tests.tables.wheel import wheel

PHONE = {"width": 390, "height": 844}


def in_play() -> Hand:
    table = wheel()
    Hand(table, floor.staff(Role.PIT_BOSS, "bella"))("open_table")
    dora = floor.staff(Role.DEALER, "dora", "101")
    recorder.sign_in(table, dora)
    return Hand(table, dora)


def test_cash_for_chips_is_the_next_step_by_keys(at_table: AtTable) -> None:
    """Harm: the dealer of a game that is not dealt here hunts for the one thing that is done there, or reads half of
    the limits."""
    hand = in_play()
    screen: Any = at_table(hand, PHONE).open()
    page = screen.page
    assert screen.due == "counted"
    assert serious(page) == []
    assert small(page, ".trade :is(button, a.button)") == []
    assert fits_width(page)
    assert page.locator(".stated__wagers tbody tr").count() == 2
    page.keyboard.press("Enter")
    page.wait_for_selector("#sheet-page h1")
    assert serious(page) == []
    page.keyboard.type("200")
    page.keyboard.press("Enter")
    page.wait_for_selector("#sheet-page button[value=confirm]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#receipt .receipt")
    bought_in = LogEntry.objects.filter(book_id=hand.table.book_id).latest("seq")
    assert bought_in.kind == "buy_in"
    page.wait_for_selector("#sheet:not([open])", state="attached")
    screen.at(bought_in.seq)
    page.keyboard.press("p")
    page.wait_for_selector("#called[data-waits]")
    assert screen.complaints == []
