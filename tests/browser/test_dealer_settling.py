"""What is decided in mid-round: the seat stands large before the dealer until it is done, and keys wait for that."""

from collections.abc import Callable

import pytest

from tests import floor
from tests.accessibility import serious
from tests.browser.conftest import Screen
from tests.floor import Hand

pytestmark = pytest.mark.browser

Come = Callable[..., Screen]


def before_a_loss(hand: Hand) -> None:
    """Three seats are in; the next card of seat 1 makes a pair, which loses."""
    hand.bets(seat1=3_000, seat2=5_000, seat3=2_000)
    hand.cards(8, 4, 6, 10)


def test_a_loss_stands_until_its_chips_are_taken(at_table: Come, rocket: Hand) -> None:
    """Harm: the next card wipes what is to be taken, and the chips of a bet that lost stay where they lie."""
    before_a_loss(rocket)
    screen = at_table(rocket).open()
    page = screen.page
    screen.keys("8")
    due = ".settling .is-due"
    assert page.inner_text(f"{due} .prompt__do") == "Seat 1: take 25"
    assert page.get_attribute(f"{due} .chips >> nth=0", "aria-label") == "1 green"
    assert page.get_attribute(f"{due} .chips >> nth=1", "aria-label") == "1 white"
    assert page.inner_text("#settled").split("\n")[0] == "Seat 1 is done"
    assert page.locator(".seat--due").get_attribute("data-seat") == "1"
    assert serious(page) == []
    page.reload()
    page.wait_for_selector(f"{due}")

    start = screen.seq
    screen.keys("7")
    assert (screen.seq, page.inner_text("#typed-says")) == (start, "Next: 7")
    screen.keys("Enter")
    screen.at(start + 1)
    assert page.locator(due).count() == 0
    assert rocket.board.seats[1].stack == (4, 7), "the card that was typed meanwhile is the next one turned"
    page.reload()
    page.wait_for_selector(".has-script")
    assert page.locator(due).count() == 0, "and no seat is settled twice"


def test_what_was_typed_ahead_of_a_loss_waits_for_it(at_table: Come, rocket: Hand) -> None:
    """Harm: a card that was keyed before the loss was in sight counts as its acknowledgement."""
    before_a_loss(rocket)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.hold()
    screen.type("8", "7", "3")
    screen.let_go()
    screen.at(start + 1)
    screen.page.wait_for_selector(".settling .is-due")
    assert screen.page.inner_text("#typed-says") == "Next: 7 3"
    screen.pause()
    screen.keys("Backspace")
    assert screen.page.inner_text("#typed-says") == "Next: 7"
    screen.page.tap("#settled")
    screen.at(start + 2)
    assert rocket.board.seats[1].stack == (4, 7)


def test_the_last_loss_of_a_round_comes_before_the_next_bets(at_table: Come, rocket: Hand) -> None:
    """Harm: the figures of the next bet are typed while the chips of the last one still lie there."""
    rocket.bets(seat1=2_000)
    rocket.cards(8, 9)
    screen = at_table(rocket).open()
    screen.keys("8")
    assert screen.due == "bets"
    screen.keys("3", "0")
    assert rocket.now.round_open is False
    screen.keys("Enter")
    assert screen.page.input_value("#amount") == "30"
    screen.pause()
    screen.keys("Enter")
    assert rocket.board.seats[0].bet_cents == 3_000


def test_what_is_settled_leaves_nothing_behind_the_next_bets(at_table: Come, rocket: Hand) -> None:
    """Harm: the button of the last seat lies behind the fields for bets, and what they say cannot be read."""
    rocket.bets(seat1=2_000)
    rocket.cards(8, 7)
    screen = at_table(rocket).open()
    screen.keys("f")
    screen.page.wait_for_selector("#settled", state="visible")
    screen.keys("Enter")
    screen.page.wait_for_selector("#settled", state="hidden")
    assert screen.due == "bets"


def test_a_card_that_is_taken_back_is_settled_anew(at_table: Come, rocket: Hand) -> None:
    """Harm: a wrong card's loss cannot be taken back before its chips are taken."""
    before_a_loss(rocket)
    screen = at_table(rocket).open()
    screen.keys("8", "Backspace")
    assert screen.page.locator(".settling").count() == 0
    screen.pause()
    screen.keys("8")
    assert screen.page.locator(".settling .is-due").count() == 1


def test_wagers_that_are_decided_in_mid_round_are_settled_seat_by_seat(at_table: Come, transactional_db: None) -> None:
    """Harm: of three hands that are bust one is settled, and two bets that lost are paid."""
    hand = floor.dealt(name="Table 1", game="blackjack", options={"decks": 6}, seats=7, max_cents=50_000)[0]
    hand("bet", seat=1, amount_cents=5_000)
    hand("bet", seat=2, amount_cents=5_000)
    hand("close_bets")
    hand.cards("T", "T", "6", "6", "5")
    screen = at_table(hand).open()
    screen.keys("0")
    assert screen.page.inner_text(".settling .is-due .prompt__do") == "Seat 1: take the bet of 50"
    assert serious(screen.page) == []
