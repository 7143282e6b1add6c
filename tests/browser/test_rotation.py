"""The rotation page in a browser: an early push is confirmed by keyboard, taken back, and a dormant string is grey."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tables.models import LineUp
from tables.roles import Role
from tables.rotation import line_ups
from tables.rotation.line_ups import Basis, LineUpChange
from tests import floor
from tests.accessibility import EVERY_RULE, serious
from tests.browser.conftest import PORTRAIT
from tests.fixtures.browser import LAPTOP, PHONE, Looking
from tests.layout import fits_width, small

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_early_push_is_confirmed_by_keyboard_and_taken_back(looking: Looking) -> None:
    """Harm: a key that is pressed twice pushes a string before its time, the way back is out of reach of a finger, or
    the page does not fit a phone."""
    _, boss = floor.dealt()
    floor.table("Rocket 2")
    floor.staff(Role.DEALER, "dan", "102")
    moment = timezone.now()
    for string, tables, dealers in (("A", ("Rocket 1",), ("dora", "dan")), ("B", ("Rocket 2",), ("", ""))):
        change = LineUpChange(
            string=string, tables=tables, dealers=dealers, turn_minutes=20,
            push_at=moment + timedelta(minutes=15), ends=moment + timedelta(hours=8),
        )  # fmt: skip
        line_ups.set_line_up(change, by=boss.by, basis=Basis(0))
    page = looking(boss.by, "/pit/rotation/", LAPTOP)
    assert page.locator(".string--dormant").count() == 1
    page.focus("a[href$='push=1#push']")
    page.keyboard.press("Enter")
    page.wait_for_selector("#push:focus")
    page.keyboard.press("Enter")
    assert not LineUp.objects.filter(pushed=True).exists()
    for viewport in (LAPTOP, PORTRAIT, PHONE):
        page.set_viewport_size(viewport)
        assert fits_width(page), viewport
        assert small(page, "main :is(button, a.button)") == [], viewport
        assert serious(page, *EVERY_RULE) == [], viewport
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("form[action$='/take-back'] button")
    assert line_ups.of_string("A").line_up.dealers == ("dan", "dora")
    page.dblclick("form[action$='/take-back'] button")
    page.wait_for_selector("form[action$='/take-back']", state="detached")
    assert line_ups.of_string("A").line_up.dealers == ("dora", "dan")
    assert LineUp.objects.filter(string="A").count() == 3
