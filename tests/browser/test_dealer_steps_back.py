"""Steps back, decisions and calls at the dealer's screen: no key too many moves chips or decides for a player."""

import pytest
from django.urls import reverse

from ledger.models import Alert, Transfer
from tests import floor
from tests.accessibility import serious
from tests.browser.conftest import AtTable, entries
from tests.browser.test_mishaps import boss_with_a_pin, signed
from tests.floor import Hand
from tests.tables.chance import BURNED, LAST, SPENT, in_this_order

CALL_MS = 4_000
"""How often the screen asks whether somebody comes."""


def test_steps_back_from_a_paid_round_move_no_chips_until_it_is_reopened_on_purpose(
    at_table: AtTable, rocket: Hand
) -> None:
    """Harm: two Backspaces after the last payment reverse a paid round, and every payment has to be made again."""
    rocket.bets(seat1=1_000, seat2=2_000)
    rocket.cards(8, 9, 3)
    rocket.pay()
    moved = Transfer.objects.count()
    screen = at_table(rocket).open()
    screen.keys("Backspace")
    assert screen.to_pay == (1, 300)
    screen.pause()
    screen.keys("Backspace")
    assert screen.to_pay == (2, 600)
    screen.pause()
    screen.keys("Backspace")
    assert screen.said == {"code": "no_step_back"}
    assert Transfer.objects.count() == moved
    screen.keys("Enter")
    screen.type("u")
    screen.page.wait_for_selector("#reverses")
    assert screen.page.locator("#payments li").count() == 2
    assert serious(screen.page) == []
    screen.type("Backspace", "Enter")
    assert screen.page.is_visible("#reverses")
    assert Transfer.objects.count() == moved
    boss_with_a_pin()
    signed(screen.page, "201")
    screen.page.click("#reopen")
    screen.page.wait_for_selector("#board")
    assert screen.asks == ("card", "dealer")
    assert rocket.board.dealer_stack == ()
    assert Transfer.objects.count() > moved


def test_an_enter_too_many_decides_for_nobody(at_table: AtTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: at a house shoe Enter is Deal and then Hit, and one press too many hits a player for good."""
    in_this_order(monkeypatch, BURNED + LAST[::-1] + SPENT)
    hand, _ = floor.dealt(source="house")
    hand.bets(seat1=1_000, seat2=1_000)
    screen = at_table(hand).open()
    screen.keys("Enter")
    assert screen.due == "choose", "after 8, 7 and the dealer's 6"
    seq = screen.seq
    screen.pause()
    screen.keys("Enter")
    assert (screen.seq, screen.said) == (seq, {"code": "no_step"})
    screen.keys("h")
    assert screen.said == {}
    assert entries(hand, seq) == [("round", "play")]
    assert hand.board.seats[0].stack == (8, 5)


def test_a_wrong_card_calls_the_pit_once_and_a_pit_boss_acknowledges(at_table: AtTable, rocket: Hand) -> None:
    rocket.bets(seat1=1_000, seat2=1_000)
    rocket.cards(1)
    screen = at_table(rocket).open()
    screen.keys("1")
    assert (screen.refused, screen.asks) == ("impossible_card", ("card", "seat 2"))
    assert screen.warned
    assert entries(rocket)[-1] == ("alert", "card_refused")
    screen.page.dblclick("#call button")
    screen.page.wait_for_selector("#called")
    assert serious(screen.page) == []
    called = Alert.objects.get(kind="pit_called")
    boss = floor.client(floor.crew("requested"))
    assert boss.post(reverse("pit:acknowledge"), {"alert": called.pk, "note": "on my way"}).status_code == 302
    screen.page.clock.fast_forward(CALL_MS)
    screen.page.wait_for_selector("#called:not([data-waits])")
    screen.keys("2")
    assert rocket.board.seats[1].stack == (2,)


@pytest.mark.trial(
    "a further state of the same screen",
    covered_by="tests/tables/board/test_board.py::test_the_layout_shows_bets_stacks_and_who_acts",
)
def test_the_felt_shows_what_lies_there_and_what_just_happened(at_table: AtTable, rocket: Hand) -> None:
    """Harm: after the last fold the felt is empty at once, while the cards and the losses lie there."""
    rocket.bets(seat1=1_000, seat2=1_000)
    rocket.cards(8, 9, 10)
    screen = at_table(rocket).open()
    screen.keys("f")
    assert screen.page.is_visible(".seat[data-seat='1'] .seat__latest")
    screen.keys("Enter")
    screen.keys("f")
    assert screen.due == "bets"
    screen.keys("Enter")
    assert screen.cards(".seat[data-seat='1'] .lying") == ["8"]
    assert screen.cards(".house .lying") == ["10"]
    assert screen.page.is_visible(".seat[data-seat='2'] .seat__before")
    rocket("bet", seat=1, amount_cents=1_000)
    screen.at(rocket.now.seq)
    assert screen.page.locator(".lying").count() == 0
    assert screen.page.is_visible(".seat[data-seat='2'] .seat__before")
    rocket("close_bets")
    rocket.cards(4)
    screen.at(rocket.now.seq)
    assert screen.page.locator(".seat__before").count() == 0
