"""One round played back in a real browser, by keyboard and by touch."""

import re
from typing import Any

import pytest

from tests.fixtures.browser import Looking
from tests.floor import Hand, dealt

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def corrected() -> tuple[Hand, Hand]:
    """One round of one seat: a death card that was taken back and dealt as an 8, then a fold."""
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat2=1_000)
    dealer.cards(9, 3)
    dealer.reopens()
    dealer.cards(8)
    dealer("choose", seat=2, choice="fold")
    return dealer, boss


def at(page: Any, step: int) -> None:
    """Wait until the layout is that after this input."""
    page.wait_for_selector(f".timeline__list [data-step='{step}'][aria-current]")
    page.wait_for_selector(f"#playback[data-step='{step}']")


def cards(page: Any) -> list[str]:
    """What lies before the dealer."""
    stack = page.query_selector(".layout__dealer .stack")
    return re.findall("[0-9]+", stack.get_attribute("aria-label")) if stack else []


def test_a_round_is_walked_by_keys_and_by_touch(looking: Looking, corrected: tuple[Hand, Hand]) -> None:
    """Harm: who rules on a dispute sees the layout of another input than the one that is named beside it."""
    dealer, boss = corrected
    page = looking(boss.by, f"/pit/tables/{dealer.table.pk}/rounds/1/?step=1", has_touch=True)
    dealt_cards = {4: ["3"], 6: ["8"]}
    at(page, 1)
    for step in range(2, 8):
        page.keyboard.press("ArrowRight")
        at(page, step)
        assert step == 7 or cards(page) == dealt_cards.get(step, []), step
    assert page.url.endswith("?step=7")
    page.keyboard.press("ArrowRight")  # there is no further one
    page.keyboard.press("ArrowLeft")
    at(page, 6)
    page.keyboard.press("Home")
    at(page, 1)
    page.keyboard.press("End")
    at(page, 7)
    page.tap(".timeline__list [data-step='4']")
    at(page, 4)
    assert page.locator(".playback s").count() == 1, "it was taken back"
    page.tap("#step-after")
    at(page, 5)
    assert page.inner_text("#announcer") == page.inner_text(".playback__text")
    with page.expect_download() as download:
        page.click("a[download]")
    assert page.inner_text(".command").endswith(download.value.suggested_filename)
