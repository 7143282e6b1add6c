"""The same screen without JavaScript: every button is a form, and every answer a page."""

from collections.abc import Callable

import pytest

from tests.browser.conftest import Screen, entries
from tests.floor import Hand

pytestmark = pytest.mark.browser

Come = Callable[..., Screen]


def test_a_round_without_a_script(at_table: Come, rocket: Hand) -> None:
    screen = at_table(rocket, java_script_enabled=False)
    page = screen.page
    page.goto(f"/tables/{rocket.table.pk}/")
    page.click(".seat[data-seat='2'] .seat__plate")
    page.fill("#amount", "20")
    page.click("#place")
    assert page.inner_text(".seat[data-seat='2'] .seat__amount") == "20"
    page.click("#close")
    page.click("#key-8")
    page.click("#key-10")
    assert page.inner_text("#prompt") == "Seat 2: hit, or fold for 16."
    page.click("#key-7")
    page.click("#key-10")
    assert page.inner_text("#prompt") == "Seat 2: pay 20"
    page.click(".steps button")
    assert page.inner_text("#prompt") == "Take the bets, then close them."
    page.click(".seat__again")
    assert rocket.board.seats[1].bet_cents == 2_000
    assert len(entries(rocket)) == rocket.now.seq


def test_a_refusal_without_a_script_is_a_page(at_table: Come, rocket: Hand) -> None:
    screen = at_table(rocket, java_script_enabled=False)
    page = screen.page
    page.goto(f"/tables/{rocket.table.pk}/")
    page.fill("#amount", "5")
    page.click("#place")
    assert page.inner_text("#refused span") == "Seat 1: 5 is under the minimum of 10; the nearest legal bet is 10."
    page.click("#refused button")
    assert rocket.board.seats[0].bet_cents == 1_000
