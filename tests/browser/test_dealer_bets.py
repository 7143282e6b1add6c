"""Bets at the dealer's screen: a refusal offers what is legal, and an amount never goes astray."""

import json
from collections.abc import Callable

import pytest

from tests.browser.conftest import Screen, bets_of
from tests.floor import Hand

Come = Callable[..., Screen]


def test_a_refused_bet_offers_the_nearest_legal_amounts(at_table: Come, rocket: Hand) -> None:
    """Harm: a bet that is none opens a round, moves to another seat, or breaks the felt by its length."""
    screen = at_table(rocket).open()
    start = screen.seq
    for typed, code in {"ten": "bad_bet", "9" * 40: "bad_bet", "75": "bad_bet"}.items():
        screen.page.fill("#amount", typed)
        screen.tap("#place")
        assert (screen.refused, screen.chosen, screen.seq) == (code, "1", start)
        assert screen.warned
        assert screen.fits
        screen.pause()
    offered = screen.page.eval_on_selector_all("#refused button", "all => all.map((button) => button.value)")
    assert [json.loads(value)["amount_cents"] for value in offered] == [7_000, 8_000]
    screen.tap("#refused button >> nth=1")
    assert bets_of(rocket) == {1: 8_000}
    assert screen.page.locator("#refused").count() == 0


@pytest.mark.trial("a further refusal of the bets, by the screen's own script")
def test_a_bet_needs_a_seat_and_an_amount(at_table: Come, rocket: Hand) -> None:
    rocket("bet", seat=6, amount_cents=2_000)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.page.tap("[data-figure='5']")
    screen.page.tap("#place")
    assert screen.said == {"code": "seat_first", "takes": "bet"}
    screen.page.tap("#clear")
    screen.page.tap(".seat[data-seat='2'] .seat__spot")
    screen.pause()
    screen.page.tap("#place")
    assert screen.said == {"code": "amount_first"}
    screen.keys("3", "0", "Enter")
    assert bets_of(rocket) == {2: 3_000, 6: 2_000}
    assert screen.seq == start + 1


def test_enter_places_before_it_closes(at_table: Come, rocket: Hand) -> None:
    """Harm: the amount is typed, Enter closes the bets, and the bet is lost."""
    screen = at_table(rocket).open()
    screen.keys("2", "0", "Enter", "3", "0", "Enter")
    assert screen.due == "bets"
    assert bets_of(rocket) == {1: 2_000, 2: 3_000}
    screen.pause()
    screen.keys("Enter")
    assert screen.due == "card"


@pytest.mark.trial("a further way that news from elsewhere meets what is half typed: see test_dealer_typing")
def test_half_a_bet_survives_news_from_elsewhere(at_table: Come, rocket: Hand) -> None:
    screen = at_table(rocket).open()
    screen.page.tap(".seat[data-seat='3'] .seat__spot")
    screen.keys("4", "0")
    rocket("bet", seat=1, amount_cents=2_000)
    screen.at(rocket.now.seq)
    assert screen.page.input_value("#amount") == "40"
    assert screen.chosen == "3"
    screen.keys("Enter")
    assert bets_of(rocket) == {1: 2_000, 3: 4_000}


@pytest.mark.trial("a further way to place a bet by touch")
def test_a_seat_that_is_tapped_gets_the_amount_in_hand(at_table: Come, rocket: Hand) -> None:
    """Harm: the amount is typed, the right seat is tapped, and the bet lies nowhere."""
    screen = at_table(rocket).open()
    for figure in "90":
        screen.page.tap(f".numpad [data-figure='{figure}']")
    screen.tap(".seat[data-seat='4'] .seat__spot")
    assert bets_of(rocket) == {4: 9_000}
    assert screen.chosen == "5"
    screen.page.tap(".seat[data-seat='2'] .seat__spot")
    assert screen.chosen == "2", "with nothing in hand it is only chosen"
    screen.pause()
    screen.keys("w")
    assert bets_of(rocket) == {2: 2_000, 4: 9_000}


@pytest.mark.trial("a further way to place bets by one key")
def test_the_whole_table_bets_the_same_again(at_table: Come, rocket: Hand) -> None:
    """Harm: six keys for six bets that are the same as before, or a bet that a seat has changed is put back."""
    rocket.bets(seat2=2_000, seat5=5_000, seat6=7_000)
    rocket.cards(4, 6, 5, 3)
    rocket.pay()
    rocket("bet", seat=5, amount_cents=1_000)
    screen = at_table(rocket).open()
    screen.page.tap(".seat[data-seat='6'] .seat__spot")
    screen.keys("a")
    assert bets_of(rocket) == {5: 1_000, 6: 7_000}
    screen.keys("r")
    assert bets_of(rocket) == {2: 2_000, 5: 1_000, 6: 7_000}


@pytest.mark.trial("a further way to change a bet")
def test_a_bet_is_changed_and_taken_off(at_table: Come, rocket: Hand) -> None:
    screen = at_table(rocket).open()
    screen.keys("2", "0", "Enter", "3", "0", "Enter")
    screen.keys("ArrowLeft", "4", "0", "Enter")
    screen.page.tap(".seat[data-seat='1'] .seat__spot")
    screen.tap("#off")
    assert bets_of(rocket) == {2: 4_000}
