"""Bets that are refused: one plain sentence, the nearest legal bets at hand, the round as it was."""

from collections.abc import Callable

import pytest

from tests import floor
from tests.browser.conftest import Screen
from tests.floor import Hand

pytestmark = pytest.mark.browser

Come = Callable[..., Screen]

REFUSED = {
    "5": "Seat 1: 5 is under the minimum of 10; the nearest legal bet is 10.",
    "10.5": "Seat 1: 10.50 is no multiple of 10, ten chip units; the nearest legal bet is 10 or 20.",
    "110": "Seat 1: 110 is over the maximum of 100; the nearest legal bet is 100.",
    "-10": "Seat 1: -10 is under the minimum of 10; the nearest legal bet is 10.",
    "1e3": "“1e3” is no amount: type it in digits, such as 20.",
    "10.555": "“10.555” is no amount: type it in digits, such as 20.",
    "ten": "“ten” is no amount: type it in digits, such as 20.",
    "0": "Seat 1: 0 is under the minimum of 10; the nearest legal bet is 10.",
}


def test_bets_that_are_no_bets(at_table: Come, rocket: Hand) -> None:
    screen = at_table(rocket).open()
    start = screen.seq
    for typed, sentence in REFUSED.items():
        screen.page.fill("#amount", typed)
        screen.tap("#place")
        assert screen.refused == sentence
        assert screen.warned.startswith(sentence[:20]), "and it is said"
        assert screen.page.inner_text("#bet-seat") == "seat 1"
        screen.pause()
    assert screen.seq == start
    assert not rocket.now.round_open


def test_a_bet_beyond_all_reason(at_table: Come, rocket: Hand) -> None:
    screen = at_table(rocket).open()
    screen.page.fill("#amount", "1" + "0" * 30)
    screen.tap("#place")
    assert "is over the maximum of 100" in screen.refused
    screen.page.fill("#amount", "9" * 40)
    screen.pause()
    screen.tap("#place")
    assert "is over the maximum of 100" in screen.refused
    assert screen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_nearest_legal_bet_is_one_tap_away(at_table: Come, rocket: Hand) -> None:
    screen = at_table(rocket).open()
    screen.keys("7", "5", "Enter")
    assert screen.page.locator("#refused button").all_inner_texts() == ["Bet 70", "Bet 80"]
    screen.tap("#refused button >> nth=1")
    assert rocket.board.seats[0].bet_cents == 8_000
    assert screen.page.locator("#refused").count() == 0


def test_a_bet_needs_a_seat_and_an_amount(at_table: Come, rocket: Hand) -> None:
    rocket("bet", seat=6, amount_cents=2_000)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.page.tap("[data-figure='5']")
    screen.page.tap("#place")
    assert screen.page.inner_text("#typed-says") == "Choose a seat first, then its bet."
    screen.page.tap("#clear")
    screen.page.tap(".seat[data-seat='2'] .seat__spot")
    screen.page.tap("#place")
    screen.pause()
    screen.page.tap("#place")
    assert screen.page.inner_text("#typed-says") == "Tap or type the amount first."
    assert screen.seq == start


def test_a_bet_over_the_cap_of_the_table(at_table: Come, transactional_db: None) -> None:
    hand, _ = floor.dealt(cap_cents=15_000)
    hand("bet", seat=1, amount_cents=10_000)
    screen = at_table(hand).open()
    assert "the table's cap is 150" in screen.page.inner_text(".topline__table")
    screen.keys("7", "0", "Enter")
    assert screen.refused == (
        "Seat 2: 70 would take the table over its exposure cap: 50 still fits; the nearest legal bet is 50."
    )


def test_enter_places_before_it_closes(at_table: Come, rocket: Hand) -> None:
    """Harm: the amount is typed, Enter closes the bets, and the bet is lost."""
    screen = at_table(rocket).open()
    screen.keys("2", "0", "Enter", "3", "0", "Enter")
    assert screen.due == "bets"
    assert {one.seat for one in rocket.board.seats if one.bet_cents} == {1, 2}
    screen.pause()
    screen.keys("Enter")
    assert screen.due == "card"


def test_half_a_bet_survives_news_from_elsewhere(at_table: Come, rocket: Hand) -> None:
    screen = at_table(rocket).open()
    screen.page.tap(".seat[data-seat='3'] .seat__spot")
    screen.keys("4", "0")
    rocket("bet", seat=1, amount_cents=2_000)
    screen.at(rocket.now.seq)
    assert screen.page.input_value("#amount") == "40"
    assert screen.page.inner_text("#bet-seat") == "seat 3"
    screen.keys("Enter")
    assert {one.seat: one.bet_cents for one in rocket.board.seats if one.bet_cents} == {1: 2_000, 3: 4_000}


def test_a_seat_that_is_tapped_gets_the_amount_in_hand(at_table: Come, rocket: Hand) -> None:
    """Harm: the amount is typed, the right seat is tapped, and the bet lies nowhere."""
    screen = at_table(rocket).open()
    for figure in "90":
        screen.page.tap(f".numpad [data-figure='{figure}']")
    screen.tap(".seat[data-seat='4'] .seat__spot")
    assert {box.seat: box.bet_cents for box in rocket.board.seats if box.bet_cents} == {4: 9_000}
    assert screen.page.inner_text("#bet-seat") == "seat 5"
    start = screen.seq
    screen.page.tap(".seat[data-seat='2'] .seat__spot")
    screen.pause()
    assert screen.seq == start, "with nothing in hand it is only chosen"
    screen.keys("w")
    assert rocket.board.seats[1].bet_cents == 2_000


def test_the_whole_table_bets_the_same_again(at_table: Come, rocket: Hand) -> None:
    """Harm: six keys for six bets that are the same as before, or a bet that a seat has changed is put back."""
    rocket.bets(seat2=2_000, seat5=5_000, seat6=7_000)
    rocket.cards(4, 6, 5, 3)
    rocket.pay()
    rocket("bet", seat=5, amount_cents=1_000)
    screen = at_table(rocket).open()
    screen.page.tap(".seat[data-seat='6'] .seat__spot")
    screen.keys("a")
    assert {box.seat: box.bet_cents for box in rocket.board.seats if box.bet_cents} == {5: 1_000, 6: 7_000}
    screen.keys("r")
    assert {box.seat: box.bet_cents for box in rocket.board.seats if box.bet_cents} == {2: 2_000, 5: 1_000, 6: 7_000}
