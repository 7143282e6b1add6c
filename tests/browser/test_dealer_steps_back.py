"""Steps back, decisions and calls at the dealer's screen: no key too many moves chips or decides for a player."""

from collections.abc import Callable

import pytest
from django.urls import reverse

from ledger.models import Alert, Transfer
from tests import floor
from tests.accessibility import serious
from tests.browser.conftest import Screen, entries
from tests.floor import Hand

pytestmark = pytest.mark.browser

Come = Callable[..., Screen]


def test_steps_back_from_a_paid_round_move_no_chips_until_it_is_reopened_on_purpose(
    at_table: Come, rocket: Hand
) -> None:
    """Harm: two Backspaces after the last payment reverse a paid round, and every payment has to be made again."""
    rocket.bets(seat1=1_000, seat2=2_000)
    rocket.cards(8, 9, 3)
    rocket.pay()
    moved = Transfer.objects.count()
    screen = at_table(rocket).open()
    screen.keys("Backspace")
    assert screen.prompt == "Seat 1: pay 3"
    screen.pause()
    screen.keys("Backspace")
    assert screen.prompt == "Seat 2: pay 6"
    seq = screen.seq
    screen.pause()
    screen.type("Backspace")
    screen.pause()
    assert screen.seq == seq
    assert screen.page.inner_text("#typed-says") == "Round 1 is settled: U asks to reopen it."
    assert Transfer.objects.count() == moved
    screen.keys("Enter")
    screen.type("u")
    screen.page.wait_for_selector("#reverses")
    assert screen.page.inner_text("#payments li >> nth=1") == "Seat 2 was paid 6: take it back, lay the bet again"
    assert screen.page.inner_text("#payments li >> nth=0") == "Seat 1 is not paid yet"
    assert serious(screen.page) == []
    screen.type("Backspace", "Enter")
    assert Transfer.objects.count() == moved
    screen.page.keyboard.press("r")
    screen.page.wait_for_selector("#board")
    assert screen.prompt == "Deal your own card."
    assert rocket.board.dealer_stack == ()
    assert Transfer.objects.count() > moved


def test_an_enter_too_many_decides_for_nobody(at_table: Come, transactional_db: None) -> None:
    """Harm: at a house shoe Enter is Deal and then Hit, and one press too many hits a player for good."""
    hand, _ = floor.dealt(source="house")
    hand.bets(seat1=1_000, seat2=1_000)
    screen = at_table(hand).open()
    screen.keys("Enter")
    if screen.due != "choose":  # the dealer's first card may settle the round
        return
    seq = screen.seq
    screen.pause()
    screen.type("Enter")
    screen.pause()
    assert screen.seq == seq
    assert screen.page.inner_text("#typed-says").startswith("Seat 1 decides: H hit, F fold")
    screen.keys("h")
    assert screen.page.is_hidden("#typed")
    assert entries(hand, seq)[0] == ("round", "play")
    assert len(hand.board.seats[0].stack) == 2


def test_a_wrong_card_calls_the_pit_once_and_somebody_comes(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=1_000, seat2=1_000)
    rocket.cards(1)
    screen = at_table(rocket).open()
    screen.keys("1")
    assert screen.refused.startswith("No 1 can be left")
    screen.page.dblclick("#call button")
    screen.page.wait_for_selector("#called")
    assert serious(screen.page) == []
    called = Alert.objects.get(kind="pit_called")
    assert called.message.startswith("Rocket 1, round 1, after entry")
    boss = floor.client(floor.crew("requested"))
    assert boss.post(reverse("pit:acknowledge"), {"alert": called.pk, "note": "on my way"}).status_code == 302
    screen.page.wait_for_selector("#called b")
    assert screen.page.inner_text("#called").endswith("comes.")
    screen.keys("2")
    assert rocket.board.seats[1].stack == (2,)


def test_the_felt_shows_what_lies_there_and_what_just_happened(at_table: Come, rocket: Hand) -> None:
    """Harm: after the last fold the felt is empty at once, while the cards and the losses lie there."""
    rocket.bets(seat1=1_000, seat2=1_000)
    rocket.cards(8, 9, 10)
    screen = at_table(rocket).open()
    screen.keys("f")
    assert screen.page.inner_text(".seat[data-seat='1'] .seat__latest") == "fold"
    screen.keys("Enter")
    screen.keys("f")
    assert screen.due == "bets"
    screen.keys("Enter")
    assert screen.page.get_attribute(".seat[data-seat='1'] .lying .stack", "aria-label") == "Cards: 8"
    assert screen.page.get_attribute(".house .lying .stack", "aria-label") == "Cards: 10"
    assert screen.page.inner_text(".seat[data-seat='2'] .seat__before") == "last −9"
    rocket("bet", seat=1, amount_cents=1_000)
    screen.at(rocket.now.seq)
    assert screen.page.locator(".lying").count() == 0
    assert screen.page.inner_text(".seat[data-seat='2'] .seat__before") == "last −9"
    rocket("close_bets")
    rocket.cards(4)
    screen.at(rocket.now.seq)
    assert screen.page.locator(".seat__before").count() == 0
