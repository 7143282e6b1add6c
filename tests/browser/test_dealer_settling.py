"""What is decided in mid-round: the seat stands large before the dealer until it is done, and keys wait for that."""

import pytest

from tests import floor
from tests.accessibility import serious
from tests.browser.conftest import LIVE, AtTable, entries
from tests.floor import Hand


def before_a_loss(hand: Hand) -> None:
    """Three seats are in; the next card of seat 1 makes a pair, which loses."""
    hand.bets(seat1=3_000, seat2=5_000, seat3=2_000)
    hand.cards(8, 4, 6, 10)


def test_a_loss_stands_until_its_chips_are_taken(at_table: AtTable, rocket: Hand) -> None:
    """Harm: the next card clears the prompt to take a losing bet, and its chips stay on the table; a reload loses the
    prompt; or a card keyed before the loss was visible counts as its acknowledgement."""
    before_a_loss(rocket)
    screen = at_table(rocket).open()
    page = screen.page
    screen.keys("8")
    assert screen.settling == (1, -2_400)
    assert page.is_visible("#settled")
    assert page.locator(".seat--due").get_attribute("data-seat") == "1"
    assert serious(page) == []
    page.reload()
    page.wait_for_selector(LIVE, state="attached")
    assert screen.settling == (1, -2_400)

    start = screen.seq
    screen.keys("7")
    assert (screen.seq, screen.said) == (start, {"code": "next", "keys": "7"})
    screen.keys("Enter")
    screen.at(start + 1)
    assert screen.settling is None
    assert rocket.board.seats[1].stack == (4, 7), "the card that was typed meanwhile is the next one turned"
    page.reload()
    page.wait_for_selector(LIVE, state="attached")
    assert screen.settling is None, "and no seat is settled twice"

    start = screen.seq
    screen.hold()
    screen.type("6", "9", "3")
    screen.let_go()
    screen.at(start + 1)
    page.wait_for_selector(".settling .is-due")
    assert screen.said == {"code": "next", "keys": "9 3"}
    screen.pause()
    screen.keys("Backspace")
    assert screen.said == {"code": "next", "keys": "9"}
    page.tap("#settled")
    screen.at(start + 2)
    assert entries(rocket, start) == [("round", "play")] * 2


@pytest.mark.trial(
    "a further path of a seat that is settled in mid-round",
    covered_by="tests/browser/test_dealer_settling.py::test_a_loss_stands_until_its_chips_are_taken",
)
def test_the_last_loss_of_a_round_comes_before_the_next_bets(at_table: AtTable, rocket: Hand) -> None:
    """Harm: the dealer types the amount of the next bet while the chips of the last one are still on the table; or the
    button of the settled seat covers the fields for bets."""
    rocket.bets(seat1=2_000)
    rocket.cards(8, 9)
    screen = at_table(rocket).open()
    screen.keys("8")
    assert screen.due == "bets"
    screen.keys("3", "0")
    assert rocket.now.round_open is False
    screen.keys("Enter")
    screen.page.wait_for_selector("#settled", state="hidden")
    assert screen.page.input_value("#amount") == "30"
    screen.pause()
    screen.keys("Enter")
    assert rocket.board.seats[0].bet_cents == 3_000


@pytest.mark.trial(
    "a further game with seats that are settled in mid-round",
    covered_by="tests/browser/test_dealer_settling.py::test_a_loss_stands_until_its_chips_are_taken",
)
def test_wagers_that_are_decided_in_mid_round_are_settled_seat_by_seat(at_table: AtTable) -> None:
    """Harm: of three hands that are bust one is settled, and two bets that lost are paid."""
    hand = floor.dealt(name="Table 1", game="blackjack", options={"decks": 6}, seats=7, max_cents=50_000)[0]
    hand("bet", seat=1, amount_cents=5_000)
    hand("bet", seat=2, amount_cents=5_000)
    hand("close_bets")
    hand.cards("T", "T", "6", "6", "5")
    screen = at_table(hand).open()
    screen.keys("0")
    assert screen.settling == (1, -5_000)
    assert serious(screen.page) == []
