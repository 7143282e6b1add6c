"""How the house is, read by an operator in a real browser: on a laptop, on a phone, and by whoever sees no colour."""

from typing import Any

import pytest

from tables.alerts import channels
from tables.alerts.channels import ChannelDraft
from tables.alerts.models import ChannelContent
from tables.feed import order
from tables.roles import Role
from tests import floor
from tests.accessibility import EVERY_RULE, serious
from tests.fixtures.browser import PHONE, Looking
from tests.layout import fits_width

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_is_wrong_stands_first_in_words(looking: Looking) -> None:
    """Harm: at night an operator sees a red dot, and neither what it is nor what to do."""
    page: Any = looking(floor.staff(Role.OPERATOR, "olga"), "/pit/health/", PHONE)
    assert serious(page, EVERY_RULE) == []
    states = [mark.get_attribute("class") for mark in page.locator("tbody .severity").all()]
    order = ("urgent", "attention", "well")
    assert states == sorted(states, key=lambda classes: order.index(classes.rpartition("--")[2]))
    assert fits_width(page)


@pytest.mark.trial(
    "the page of deliveries has its path with a dead letter",
    covered_by="tests/browser/test_alerts.py::test_a_dead_letter_is_looked_at_and_sent_again",
)
def test_how_far_a_channel_has_told_the_feed_stands_on_its_page(looking: Looking) -> None:
    """Harm: a receiver has taken nothing for a day, and nobody sees it."""
    olga = floor.staff(Role.OPERATOR, "olga")
    asked = ChannelDraft("Players", "webhook", "https://players.example/hook", "f" * 32, tells=ChannelContent.EVENTS)
    channels.set_channel(asked, by=olga)
    floor.dealt()
    order.extend()
    page: Any = looking(olga, "/pit/alerts/delivery/")
    assert serious(page, EVERY_RULE) == []
    assert page.is_visible("[aria-labelledby=events-title] td time")
