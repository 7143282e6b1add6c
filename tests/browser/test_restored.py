"""A house that was put back to an earlier moment, in a browser: the dealer's screen says so, a pit boss confirms."""

from collections.abc import Callable
from typing import Any

import pytest

from ledger.models import Book, LogEntry
from tables.audit import proofs
from tables.roles import Role
from tests import floor
from tests.accessibility import EVERY_RULE, serious
from tests.browser.conftest import PORTRAIT, Screen
from tests.database import put_back_after
from tests.fixtures.browser import LAPTOP, Looking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SAYS = "A pit boss confirms before it opens"


def back(page: Any, address: str, sign: str) -> None:
    """A page is loaded anew, as often as it takes until the house has its database again."""
    for _ in range(30):
        page.goto(address)
        if page.locator(sign).count():
            return
        page.wait_for_timeout(500)
    raise AssertionError(page.inner_text("body"))


@pytest.mark.parametrize("viewport", [LAPTOP, PORTRAIT], ids=["laptop", "portrait"])
def test_a_screen_comes_back_to_a_house_that_was_put_back(
    at_table: Callable[..., Screen], looking: Looking, viewport: dict[str, int]
) -> None:
    """Harm: an older copy is put back while a round lies on the felt; the dealer deals on, and what was acknowledged is
    missed by nobody."""
    dealer, _ = floor.dealt()
    bruno = floor.staff(Role.PIT_BOSS, "bruno", "201")
    screen = at_table(dealer, viewport).open()
    boss = looking(bruno, "/pit/restored/", viewport)
    assert "No table waits" in boss.inner_text("main")
    felt = f"/tables/{screen.table.pk}/"
    with put_back_after():
        back(screen.page, felt, "#board")
        screen.keys("2", "0", "Enter")
    back(screen.page, felt, "#board")
    assert SAYS in screen.prompt, screen.prompt
    assert "more was acknowledged" in screen.prompt
    assert serious(screen.page, *EVERY_RULE) == []
    assert screen.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    back(boss, "/pit/restored/", "input[name=note]")
    assert "Rocket 1" in boss.inner_text("main")
    assert serious(boss, *EVERY_RULE) == []
    assert boss.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    boss.fill("input[name=note]", "A bet of 10 lies at seat 2")
    boss.fill("input[name=badge]", "201")
    boss.fill("input[name=pin]", floor.PIN)
    boss.keyboard.press("Enter")
    boss.wait_for_selector("text=is confirmed by Bruno")
    assert serious(boss, *EVERY_RULE) == []

    screen.at(LogEntry.objects.filter(book=dealer.table.book).latest("seq").seq)
    assert SAYS not in screen.prompt
    for book in Book.objects.order_by("pk"):
        assert proofs.verify(book).fault is None
