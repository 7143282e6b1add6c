"""The sign of a table in a real browser: on a television, a phone and paper, without anybody signed in."""

import pytest

from tables.limits import placard_address
from tables.models import Table
from tables.setup import table_settings
from tests import floor
from tests.accessibility import serious
from tests.fixtures.browser import PHONE, Looking
from tests.layout import fits, fits_width
from tests.tables.wheel import wheel

pytestmark = pytest.mark.django_db(transaction=True)

TELEVISION = {"width": 1920, "height": 1080}


LOOKS_AGAIN = """(amount) => {
  document.dispatchEvent(new Event("visibilitychange"));
  return [...document.querySelectorAll("dd")].some((limit) => limit.textContent.trim() === amount);
}"""


def blackjack() -> Table:
    return floor.table("Blackjack 1", game="blackjack", options={"spread": ["perfect_pairs", "twenty_one_plus_three"]})


def test_a_sign_fits_its_screen_and_follows_the_table_by_itself(looking: Looking) -> None:
    """Harm: rules below the edge of a screen that nobody can scroll; players are shown limits that hold no more."""
    table, operator = blackjack(), floor.staff(floor.Role.OPERATOR, "olga")
    address = placard_address.of_table(table)
    screen = looking(None, address, TELEVISION)
    assert fits(screen)
    assert screen.locator("dd:text-is('10')").bounding_box()["height"] > 120
    assert screen.locator(".placard__code svg").is_visible()
    phone = looking(None, address, PHONE)
    assert fits_width(phone)
    assert serious(screen) == []
    assert serious(phone) == []
    assert screen.context.cookies() == []
    table_settings.change_table(table, {"max_cents": 12_000}, by=operator)
    screen.wait_for_function(LOOKS_AGAIN, arg="120", polling=500)  # the house keeps its drawing for a while
    assert not screen.locator("#lost").is_visible()


@pytest.mark.trial(
    "a second size of screen and a second game, beside the path of a placard",
    covered_by="tests/browser/test_placards.py::test_a_sign_fits_its_screen_and_follows_the_table_by_itself",
)
@pytest.mark.parametrize("game", ["blackjack", "roulette"])
def test_the_pay_list_is_read_from_three_metres_on_any_television(looking: Looking, game: str) -> None:
    """Harm: on a screen of more pixels the list of what is paid is half as large, and the lower half stands empty."""
    table = blackjack() if game == "blackjack" else wheel("Roulette 1")
    page = looking(None, placard_address.of_table(table), TELEVISION)
    for screen in (TELEVISION, {"width": 3840, "height": 2160}):
        page.set_viewport_size(screen)
        assert fits(page)
        sizes = page.evaluate(
            "[...document.querySelectorAll('.placard__rules dt, .placard__rules dd')]"
            ".map(each => parseFloat(getComputedStyle(each).fontSize))"
        )
        assert min(sizes) >= 0.02 * screen["height"]
