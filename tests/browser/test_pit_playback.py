"""One round played back in a real browser, by keyboard and by touch."""

from typing import Any

import pytest

from tests.fixtures.browser import Looking
from tests.floor import Hand, dealt

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def corrected() -> tuple[Hand, Hand]:
    """One round of one seat: a death card that was taken back and dealt as an 8, then a fold."""
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat2=1_000)
    dealer.cards(9, 3)
    dealer("take_back")
    dealer.cards(8)
    dealer("choose", seat=2, choice="fold")
    return dealer, boss


WORDS = [
    "Seat 2 bets 10",
    "No more bets",
    "Seat 2: 9",
    "Dealer: 3",
    "Takes back",
    "Dealer: 8",
    "Seat 2: fold",
]


def open_round(looking: Looking, hand: Hand, query: str = "", **options: Any) -> Any:
    return looking(hand.by, f"/pit/tables/{hand.table.pk}/rounds/1/{query}", **options)


def says(page: Any, at: int) -> str:
    page.wait_for_selector(f".playback__at:text-matches('^{at} /')")
    return str(page.inner_text(".playback__text"))


def test_the_arrows_walk_through_the_round(looking: Looking, corrected: tuple[Hand, Hand]) -> None:
    page = open_round(looking, corrected[1], "?step=1")
    words = [says(page, 1)]
    for at in range(2, 8):
        page.keyboard.press("ArrowRight")
        words.append(says(page, at))
    assert [one.split(" entry")[0] for one in words] == WORDS
    assert page.url.endswith("?step=7")
    page.keyboard.press("ArrowRight")  # there is no further one
    page.keyboard.press("ArrowLeft")
    assert says(page, 6) == "Dealer: 8"
    page.keyboard.press("Home")
    assert says(page, 1) == "Seat 2 bets 10"
    page.keyboard.press("End")
    assert says(page, 7) == "Seat 2: fold"


def test_a_step_shows_the_layout_as_it_was(looking: Looking, corrected: tuple[Hand, Hand]) -> None:
    page = open_round(looking, corrected[1], "?step=4")
    dealer_cards = ".layout__dealer .stack"
    assert page.get_attribute(dealer_cards, "aria-label") == "Cards: 3"
    assert page.locator(".playback s").inner_text() == "Dealer: 3"
    assert "death card" in page.inner_text(".decided") or "sudden death" in page.inner_text(".decided")
    page.keyboard.press("ArrowRight")
    says(page, 5)
    assert page.query_selector(dealer_cards) is None
    page.keyboard.press("ArrowRight")
    says(page, 6)
    assert page.get_attribute(dealer_cards, "aria-label") == "Cards: 8"


def test_a_touch_on_the_list_goes_to_that_input(looking: Looking, corrected: tuple[Hand, Hand]) -> None:
    page = open_round(looking, corrected[1], has_touch=True)
    assert says(page, 7) == "Seat 2: fold"
    page.tap(".timeline__list li:nth-child(3) a")
    assert says(page, 3) == "Seat 2: 9"
    assert page.get_attribute(".timeline__list [aria-current]", "data-step") == "3"
    page.tap("#step-after")
    assert says(page, 4) == "Dealer: 3"
    assert page.inner_text("#announcer") == "Dealer: 3"
    assert page.evaluate("document.activeElement.id") in ("step-after", "")


def test_a_link_to_a_step_opens_at_it(looking: Looking, corrected: tuple[Hand, Hand]) -> None:
    page = open_round(looking, corrected[1], "?step=5")
    assert says(page, 5).startswith("Takes back entry")


def test_the_record_is_downloaded_under_the_name_that_the_command_says(
    looking: Looking, corrected: tuple[Hand, Hand]
) -> None:
    page = open_round(looking, corrected[1])
    with page.expect_download() as download:
        page.click("text=Download")
    name = download.value.suggested_filename
    assert page.inner_text(".command") == f"python manage.py replay {name}"
