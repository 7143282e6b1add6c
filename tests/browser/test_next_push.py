"""The next push on the dealer's screen: the line stays with each input, follows a push, and fits every screen."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tables.models import Staff
from tables.roles import Role
from tables.rotation import line_ups
from tables.rotation.line_ups import Basis, LineUpChange
from tests import floor
from tests.accessibility import serious
from tests.browser.conftest import AtTable
from tests.floor import Hand
from tests.layout import fits_width, overlapping, small

ONE_ROW = 54
"""Pixels of the top line that wraps nothing."""
MINUTE_MS = 60_000
"""How often the screen reads the line."""
SIZES = tuple(
    {"width": width, "height": height} for width, height in ((1280, 800), (1024, 768), (800, 1280), (390, 844))
)
TOP_LINE = ".topline > *"


def in_string() -> Hand:
    """Dora's table in a string with Rocket 2 and one break."""
    hand = floor.dealt(options={"decks": 6}, max_cents=50_000)[0]
    floor.table("Rocket 2")
    floor.staff(Role.DEALER, "dan", "102")
    moment = timezone.now()
    change = LineUpChange(
        string="A", tables=(hand.table.name, "Rocket 2"), dealers=("dora", "", "dan"), turn_minutes=20,
        push_at=moment + timedelta(minutes=15), ends=moment + timedelta(hours=8),
    )  # fmt: skip
    line_ups.set_line_up(change, by=Staff.objects.get(username="bella"), basis=Basis(0))
    return hand


@pytest.mark.django_db(transaction=True)
def test_the_line_stays_with_an_input_and_follows_a_push(at_table: AtTable) -> None:
    """Harm: the first bet empties the line about the next push, or it still names a push that was called long ago."""
    hand = in_string()
    screen = at_table(hand).open()
    line = screen.page.locator("#next-push")
    before = line.inner_text()
    assert before.endswith("relieved by Dan · then Rocket 2")
    screen.keys("1", "2", "5", "Enter")
    assert line.inner_text() == before
    line_ups.push("A", by=Staff.objects.get(username="bella"), basis=line_ups.of_string("A").basis)
    with screen.page.expect_response("**/next-push"):
        screen.page.clock.fast_forward(MINUTE_MS)
    screen.page.wait_for_function("before => document.getElementById('next-push').innerText !== before", arg=before)
    assert line.inner_text() == "Dan is due here · then Rocket 2"
    assert screen.page.is_hidden("#line")
    screen.keys("Enter")
    assert line.inner_text() == "Dan is due here · then Rocket 2"


@pytest.mark.django_db(transaction=True)
def test_the_line_has_room_on_every_screen(at_table: AtTable) -> None:
    """Harm: the line about the next push covers a button, or pushes the keys of the dealer off the screen."""
    hand = in_string()
    hand.bets(**{f"seat{seat}": 36_000 + 1_000 * seat for seat in range(1, 7)})
    screen = at_table(hand).open()
    screen.page.set_viewport_size({"width": 1024, "height": 768})
    assert screen.page.evaluate("document.querySelector('.topline').offsetHeight") <= ONE_ROW
    for viewport in SIZES:
        screen.page.set_viewport_size(viewport)
        assert fits_width(screen.page), viewport
        assert overlapping(screen.page, TOP_LINE) == [], viewport
        assert screen.page.is_visible("#next-push"), viewport
        assert small(screen.page, "button, summary, a.button") == [], viewport
    assert serious(screen.page) == []
