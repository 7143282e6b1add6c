"""An alert in a real browser, from the bet to its name; and the surveillance's bookmark."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from ledger import alerts
from ledger.models import Acknowledgement, Bookmark, Escalation
from tables.alerting import channels, following, minute, rule_book
from tables.alerting.channels import ChannelDraft
from tables.alerting.raising import escalate_due
from tables.alerting.rows import Delivery, DeliveryAttempt, Outcome, Resending
from tables.roles import Role
from tests import floor
from tests.accessibility import EVERY_RULE, serious
from tests.codes import answers
from tests.fixtures.browser import Looking
from tests.floor import dealt

pytestmark = pytest.mark.django_db(transaction=True)

GENEROUS = 30_000  # milliseconds


LARGE_BET = "#alerts [data-kind=large_bet]"


@pytest.mark.trial(
    "two browsers and each step of alerting, of which tests/tables/alerting has the rules",
    covered_by="tests/tables/alerting/test_following.py::test_an_alert_goes_up_until_somebody_takes_note_of_it",
)
def test_a_large_bet_is_heard_of_escalated_and_acknowledged_by_name(looking: Looking) -> None:
    """Harm: a rule that is set and never fires; an alert that nobody sees, and nobody answers for."""
    dealer, boss = dealt(options={"decks": 6})
    vera = floor.staff(Role.SURVEILLANCE, "vera", "801")
    page = looking(boss.by, "/pit/alerts/rules/large_bet/")
    assert serious(page, EVERY_RULE) == []
    page.fill("#threshold", "50")
    page.fill("#escalate_minutes", "5")
    page.click("main form .button--primary")
    answers(page, "rule_set")
    assert rule_book.in_force()["large_bet"].threshold == 5_000
    following.follow()
    page.goto("/pit/")
    watching = looking(vera, "/pit/")
    for shown in (page, watching):
        shown.wait_for_selector("#live[data-state=live]")
    dealer("bet", seat=4, amount_cents=5_000)
    following.follow()
    page.wait_for_selector(LARGE_BET, timeout=GENEROUS)
    level = page.get_attribute(LARGE_BET, "data-level")
    assert watching.locator(LARGE_BET).count() == 0
    escalate_due(rule_book.in_force(), timezone.now() + timedelta(minutes=6))
    assert Escalation.objects.count() == 1
    watching.wait_for_selector(LARGE_BET, timeout=GENEROUS)
    page.wait_for_selector(f"{LARGE_BET}[data-escalations='1']", timeout=GENEROUS)
    assert page.get_attribute(LARGE_BET, "data-level") != level
    assert page.locator("#alerts .alert use").first.get_attribute("href") == "#mark-attention"
    assert serious(page, EVERY_RULE) == []
    page.click("#alerts summary >> nth=0")
    page.fill("#alerts input[name=note] >> nth=0", "A guest whom we know")
    page.click("#alerts .alert__form button >> nth=0")
    answers(page, "acknowledged")
    assert Acknowledgement.objects.get().by == boss.by.signature
    watching.wait_for_selector(LARGE_BET, state="detached", timeout=GENEROUS)


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
    for button in page.query_selector_all("main button"):
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 48
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
    rule_book.set_rule(replace(rule_book.in_force()["clock_drift"], threshold=3_000), by=boss.by)
    with page.expect_response(lambda answer: answer.url.endswith("/clock/")) as heard:
        page.evaluate("sessionStorage.clear()")
        page.reload()
    assert heard.value.status == 204
    assert minute.of_browser("this browser", 0) is not None
