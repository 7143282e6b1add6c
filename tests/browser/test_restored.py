"""A house that was put back to an earlier moment, in a browser: the dealer's screen says so, a pit boss confirms."""

from typing import Any

import pytest

from ledger.models import Book, LogEntry
from tables.audit import proofs
from tables.roles import Role
from tests import floor
from tests.accessibility import EVERY_RULE, serious
from tests.browser.conftest import PORTRAIT, AtTable
from tests.database import put_back_after
from tests.fixtures.browser import LAPTOP, Looking
from tests.layout import fits_width
from tests.patience import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def back(page: Any, address: str, sign: str) -> None:
    """A page is loaded anew, as often as it takes until the house has its database again."""

    def is_back() -> bool:
        page.goto(address)
        return bool(page.locator(sign).count())

    eventually(is_back, "the database is not back")


def readable(page: Any) -> None:
    for viewport in (LAPTOP, PORTRAIT):
        page.set_viewport_size(viewport)
        assert serious(page, *EVERY_RULE) == []
        assert fits_width(page)


@pytest.mark.usefixtures("own_processes")
def test_a_screen_comes_back_to_a_house_that_was_put_back(at_table: AtTable, looking: Looking) -> None:
    """Harm: an older copy is put back while a round lies on the felt; the dealer deals on, and what was acknowledged is
    missed by nobody."""
    dealer, _ = floor.dealt()
    bruno = floor.staff(Role.PIT_BOSS, "bruno", "201")
    screen = at_table(dealer).open()
    boss = looking(bruno, "/pit/restored/")
    assert boss.locator("input[name=note]").count() == 0, "no table waits"
    felt = f"/tables/{screen.table.pk}/"
    with put_back_after():
        back(screen.page, felt, "#board")
        screen.keys("2", "0", "Enter")
    back(screen.page, felt, "#board")
    assert screen.due == "restored"
    readable(screen.page)
    back(boss, "/pit/restored/", "input[name=note]")
    assert "Rocket 1" in boss.inner_text("main")
    readable(boss)
    boss.fill("input[name=note]", "A bet of 10 lies at seat 2")
    boss.fill("input[name=badge]", "201")
    boss.fill("input[name=pin]", floor.PIN)
    with boss.expect_navigation():
        boss.keyboard.press("Enter")
    assert boss.locator("input[name=note]").count() == 0, "it is confirmed"
    readable(boss)

    screen.at(LogEntry.objects.filter(book=dealer.table.book).latest("seq").seq)
    assert screen.due == "bets"
    for book in Book.objects.order_by("pk"):
        assert proofs.verify(book).fault is None
