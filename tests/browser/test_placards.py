"""The sign of a table in a real browser: on a television, a phone and paper, without anybody signed in."""

import pytest

from tables.models import Table
from tables.setup import placards, table_settings
from tests import floor
from tests.accessibility import serious
from tests.fixtures.browser import Looking
from tests.tables.wheel import wheel

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TELEVISION = {"width": 1920, "height": 1080}
PHONE = {"width": 390, "height": 844}


def blackjack() -> Table:
    return floor.table("Blackjack 1", game="blackjack", options={"spread": ["perfect_pairs", "twenty_one_plus_three"]})


def test_a_television_shows_all_of_it_and_a_phone_needs_no_sideways_scrolling(looking: Looking) -> None:
    """Harm: rules below the edge of a screen that nobody can scroll; limits cut off on a phone."""
    address = placards.of_table(blackjack())
    screen = looking(None, address, TELEVISION)
    assert screen.evaluate("document.documentElement.scrollHeight") <= 1080
    assert screen.evaluate("document.documentElement.scrollWidth") <= 1920
    assert screen.locator("dd:text-is('10')").bounding_box()["height"] > 120
    assert screen.locator(".placard__code svg").is_visible()
    phone = looking(None, address, PHONE)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert serious(screen) == []
    assert serious(phone) == []
    assert screen.context.cookies() == []


@pytest.mark.parametrize("screen", [TELEVISION, {"width": 3840, "height": 2160}], ids=["1080 lines", "2160 lines"])
@pytest.mark.parametrize("game", ["blackjack", "roulette"])
def test_the_pay_list_is_read_from_three_metres_on_any_television(
    looking: Looking, screen: dict[str, int], game: str
) -> None:
    """Harm: on a screen of more pixels the list of what is paid is half as large, and the lower half stands empty."""
    table = blackjack() if game == "blackjack" else wheel("Roulette 1")
    page = looking(None, placards.of_table(table), screen)
    assert page.evaluate("document.documentElement.scrollHeight") <= screen["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= screen["width"]
    sizes = page.evaluate(
        "[...document.querySelectorAll('.placard__rules dt, .placard__rules dd')]"
        ".map(each => parseFloat(getComputedStyle(each).fontSize))"
    )
    assert min(sizes) >= 0.02 * screen["height"]


def test_a_sign_follows_the_table_by_itself(looking: Looking) -> None:
    """Harm: players are shown limits that hold no more."""
    operator, table = floor.staff(floor.Role.OPERATOR, "olga"), floor.table()
    screen = looking(None, placards.of_table(table), TELEVISION)
    screen.wait_for_selector("dd:text-is('100')")
    table_settings.change_table(table, {"max_cents": 20_000}, by=operator)
    for _ in range(20):
        screen.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        screen.wait_for_timeout(500)
        if screen.locator("dd:text-is('200')").count():
            break
    assert screen.locator("dd:text-is('200')").count() == 1
    assert not screen.locator("#lost").is_visible()
