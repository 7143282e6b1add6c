"""Alerts in a real browser: the inbox, failed deliveries, the browser's clock, and the surveillance bookmark."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from ledger import alerts
from ledger.models import Acknowledgement, Bookmark
from tables.alerts import channels, overdue, rules_in_force
from tables.alerts.channels import ChannelDraft
from tables.alerts.models import Delivery, DeliveryAttempt, Outcome, Resending
from tables.roles import Role
from tests import floor
from tests.accessibility import EVERY_RULE, serious
from tests.codes import answers
from tests.fixtures.browser import Looking
from tests.floor import dealt
from tests.layout import small

pytestmark = pytest.mark.django_db(transaction=True)

GENEROUS = 30_000  # milliseconds


LARGE_BET = "#alerts [data-kind=large_bet]"


def test_a_repeat_is_counted_on_the_line_that_is_open(looking: Looking) -> None:
    """Harm: a wrong deck count again and again, and the inbox shows it as of its first time."""
    dealer, boss = dealt(options={"decks": 6})
    evidence = {"cause": "shoe 1", "seq": 3}
    alerts.raise_event(dealer.table.book, "deck_check_failed", "59 tens", evidence)
    page = looking(boss.by, "/pit/alerts/?table=")
    page.wait_for_selector("#inbox-live[data-state=live]")
    page.click("#inbox .alert__take > summary")
    page.fill("#inbox .alert__take [name=note]", "half a note")
    alerts.raise_event(dealer.table.book, "deck_check_failed", "58 tens", evidence | {"seq": 4})
    page.wait_for_selector("#inbox > li:has-text('Again 1 time') >> text=58 tens", timeout=GENEROUS)
    assert page.inner_text("#open-title") == "1 open alert"
    assert page.locator("[data-news]:visible").count() == 0
    assert page.input_value("#inbox .alert__take [name=note]") == "half a note"


def test_the_inbox_is_worked_by_keyboard_and_nothing_moves_under_a_finger(looking: Looking) -> None:
    """Harm: a hand on the mouse for each of forty alerts; or a note that goes to the alert which has just come in."""
    dealer, boss = dealt(options={"decks": 6})
    book = dealer.table.book
    alerts.raise_alert(book, "card_refused", "A 4 that cannot be", {"seq": 3})
    alerts.raise_alert(book, "card_refused", "A 5 that cannot be", {"seq": 4})
    alerts.raise_alert(None, "unbalanced", "The chips do not add up")
    alerts.raise_alert(book, "negative", "Less than nothing")
    page = looking(boss.by, "/pit/alerts/?table=")
    page.wait_for_selector("#inbox-live[data-state=live]")
    assert serious(page, EVERY_RULE) == []
    keys = page.keyboard
    keys.press("j")
    keys.press("j")
    assert page.evaluate("document.activeElement.innerText") == "The chips do not add up"
    keys.press("x")
    keys.press("j")
    keys.press("x")
    assert page.get_attribute("[data-chosen]", "data-chosen") == "3", "two alike are a line"
    keys.press("a")
    keys.type("looked at j")
    alerts.raise_alert(None, "log_broken", "The log does not hold")
    page.wait_for_selector("[data-news='1']", timeout=GENEROUS)
    assert page.locator("#inbox > li").count() == 3, "it waits behind the bar"
    assert page.input_value("#chosen-note") == "looked at j"
    assert serious(page, EVERY_RULE) == []
    page.click("[data-news]")
    page.wait_for_selector("#inbox > li:first-child :text('The log does not hold')")
    assert page.get_attribute("[data-chosen]", "data-chosen") == "3"
    page.focus("#chosen-note")
    keys.press("Enter")
    answers(page, "acknowledged")
    assert {taken.note for taken in Acknowledgement.objects.all()} == {"looked at j"}
    keys.press("j")
    keys.press("j")
    usual = page.get_attribute(".inbox__line:focus-within [name=usual]", "value")
    keys.press("a")
    with page.expect_navigation():
        keys.press("Enter")
    assert Acknowledgement.objects.latest("pk").note == usual, "one key and Enter: what it usually comes to"
    page.click(".tabs a[href*=acknowledged]")
    page.wait_for_selector(".alert__note:has-text('looked at j') >> nth=0")
    assert serious(page, EVERY_RULE) == []


@pytest.mark.trial(
    "a form on the playback page, which has its own path",
    covered_by="tests/dealer_ui/pit/records/test_surveillance.py::test_a_moment_is_marked_from_its_round_and_found_again",
)
def test_the_surveillance_bookmarks_a_moment_and_comes_back_to_it(looking: Looking) -> None:
    """Harm: a moment that was seen, and is sought for an hour."""
    dealer, _ = dealt(options={"decks": 6})
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 8, 7, 10)
    dealer.pay()
    page = looking(floor.staff(Role.SURVEILLANCE, "vera", "801"), f"/pit/tables/{dealer.table.pk}/rounds/1/")
    page.click("a[data-step='3'] >> nth=0")
    page.wait_for_selector("#playback[data-step='3']:not([aria-busy])")
    page.click("details:has(#bookmark-note) > summary")
    page.fill("#bookmark-note", "Seat 4 moves a chip")
    page.fill("#bookmark-camera", "C-12")
    page.click("form:has(#bookmark-note) button")
    answers(page, "bookmarked")
    assert Bookmark.objects.get().camera == "C-12"
    page.goto("/pit/bookmarks/")
    page.wait_for_selector("td:has-text('Seat 4 moves a chip')")
    assert serious(page, EVERY_RULE) == []
    page.click("tbody th a")
    page.wait_for_selector("#playback[data-step='3']")


def test_a_dead_letter_is_looked_at_and_sent_again(looking: Looking, broker: Any) -> None:
    """Harm: the night desk never heard of it, and nobody can do anything about that but ring."""
    _, boss = dealt()
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    desk = channels.set_channel(ChannelDraft("Desk", "webhook", "https://alerts.example.com/casino", "s" * 32), by=olga)
    for number in (1, 2):
        letter = Delivery.objects.create(
            channel=desk, name=desk.name, key=uuid4(), at=desk.at,
            body={"event": "test", "message": f"Entry {number} is missing"},
        )  # fmt: skip
        DeliveryAttempt.objects.create(
            delivery=letter, number=1, outcome=Outcome.DEAD, says="the receiver answered 410: it did not take it",
            at=timezone.now(),
        )  # fmt: skip
    page = looking(boss.by, "/pit/alerts/delivery/")
    assert serious(page, EVERY_RULE) == []
    assert small(page, "main button") == []
    page.click("[aria-labelledby=dead-title] td button >> nth=0")
    answers(page, "resent")
    assert Resending.objects.get().by == boss.by.signature
    page.click(f"form[action$='/{desk.pk}/again'] button")
    page.wait_for_selector("[aria-labelledby=dead-title] form", state="detached")
    assert Resending.objects.count() == 2


def test_a_browsers_clock_is_told(looking: Looking) -> None:
    """Harm: the tablet at a table is ten minutes off, and every moment that its dealer names."""
    _, boss = dealt()
    page = looking(boss.by, "/pit/alerts/rules/")
    rules_in_force.set_rule(replace(rules_in_force.in_force()["clock_drift"], threshold=3_000), by=boss.by)
    with page.expect_response(lambda answer: answer.url.endswith("/clock/")) as heard:
        page.evaluate("sessionStorage.clear()")
        page.reload()
    assert heard.value.status == 204
    assert overdue.of_browser("this browser", 0) is not None
