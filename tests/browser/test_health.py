"""How the house is, read by an operator in a real browser: on a laptop, on a phone, and by whoever sees no colour."""

from typing import Any

import pytest

from tables.alerting import channels
from tables.alerting.channels import ChannelDraft
from tables.alerting.rows import Tells
from tables.feed import order
from tables.roles import Role
from tests import floor
from tests.accessibility import EVERY_RULE, serious
from tests.fixtures.browser import Looking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 390, "height": 844}


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 800}, PHONE])
def test_what_is_wrong_stands_first_in_words(looking: Looking, viewport: dict[str, int]) -> None:
    """Harm: at night an operator sees a red dot, and neither what it is nor what to do."""
    page: Any = looking(floor.staff(Role.OPERATOR, "olga"), "/pit/health/", viewport)
    assert serious(page, EVERY_RULE) == []
    states = page.locator("tbody tr td:nth-child(2)").all_inner_texts()
    assert states == sorted(states, key=lambda text: ("Wrong" not in text, "Look" not in text))
    assert "PostgreSQL" in page.inner_text("tr:has-text('Database')")
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_how_far_a_channel_has_told_the_feed_stands_on_its_page(looking: Looking) -> None:
    """Harm: a receiver has taken nothing for a day, and nobody sees it."""
    olga = floor.staff(Role.OPERATOR, "olga")
    asked = ChannelDraft("Players", "webhook", "https://players.example/hook", "f" * 32, tells=Tells.EVENTS)
    channels.set_channel(asked, by=olga)
    floor.dealt()
    order.extend()
    page: Any = looking(olga, "/pit/alerts/delivery/")
    assert serious(page, EVERY_RULE) == []
    assert "behind, since" in page.inner_text("section:has(#events-title)")
