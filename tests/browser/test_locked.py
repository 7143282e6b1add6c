"""Voiding a round under dual control, and locking and unlocking a rack, as dealer and pit boss do them."""

from typing import Any

from ledger.models import LogEntry
from tables.models import Staff
from tables.roles import Role
from tables.setup import policies
from tests import floor, processes
from tests.browser.conftest import AtTable
from tests.browser.test_mishaps import boss_with_a_pin, signed
from tests.floor import PIN, Hand
from tests.patience import eventually


def house_wants(**values: object) -> None:
    """As an operator sets it; another process may go by what it read before for a few seconds."""
    policies.change(values, by=floor.staff(Role.OPERATOR, "otto"))


def test_a_void_takes_two_and_a_locked_rack_stops_the_table(at_table: AtTable, web: processes.Web) -> None:
    """Harm: one person ends a round that takes two; or a locked rack is a word on a page."""
    house_wants(void_second_roles=("security",))
    dealer, _ = floor.dealt()
    petra, guard = boss_with_a_pin(), floor.staff(Role.SECURITY, "greta", "501")
    screen = at_table(dealer).open()
    page = screen.page
    screen.keys("2", "0", "Enter")
    screen.pause()
    screen.keys("Enter")
    eventually(lambda: asks_for_a_second(page, dealer), "one signature is enough")
    page.fill("#why", "the hand is fouled")
    signed(page, "201")
    page.fill("#second_badge", "201")
    page.fill("#second_pin", PIN)
    page.click("#void")
    page.wait_for_selector("#refused[data-code=wrong_role]")
    page.fill("#why", "the hand is fouled")
    signed(page, "201")
    page.fill("#second_badge", "501")
    page.fill("#second_pin", PIN)
    page.click("#void")
    page.wait_for_selector("#board")
    assert not dealer.now.round_open
    voided = LogEntry.objects.filter(book_id=dealer.table.book_id, kind="voided").get()
    assert f'"username":"{guard.username}"'.encode() in bytes(voided.body)
    page.goto(f"/tables/{dealer.table.pk}/mishaps/abandoned/")
    page.fill("#lock-note", "smoke in the corridor")
    page.click("button[value=lock]")
    page.wait_for_selector("#board")
    assert screen.due == "locked"
    _pit_unlocks(at_table, web, petra, dealer)
    page.goto(f"/tables/{dealer.table.pk}/")
    assert screen.due == "bets"


def asks_for_a_second(page: Any, dealer: Hand) -> bool:
    """Whether the form to void a round has a second signature by now."""
    page.goto(f"/tables/{dealer.table.pk}/mishaps/dead_hand/")
    return bool(page.locator("#second_badge").count())


def _pit_unlocks(at_table: AtTable, web: processes.Web, petra: Staff, dealer: Hand) -> None:
    page = at_table(Hand(dealer.table, petra)).page
    page.goto("/pit/")
    page.wait_for_selector(f"[data-live='{dealer.table.pk}']")
    page.click(f"#more-{dealer.table.pk}")
    page.click("a[href*='unlock-rack']")
    page.fill("#note", "it was a pan")
    page.fill("#second_badge", "501")
    page.fill("#second_pin", PIN)
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#to-table-{dealer.table.pk}")
    assert dealer.now.lock is None
