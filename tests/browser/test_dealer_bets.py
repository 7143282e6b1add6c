"""Bets at the dealer's screen: a refusal offers what is legal, and an amount never goes astray."""

import json

from tests.browser.conftest import AtTable, bets_of, stacks_of
from tests.floor import Hand


def test_a_refused_bet_offers_the_nearest_legal_amounts(at_table: AtTable, rocket: Hand) -> None:
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


def test_enter_places_before_it_closes(at_table: AtTable, rocket: Hand) -> None:
    """Harm: the amount is typed, Enter closes the bets, and the bet is lost; or the first cards, typed fast, are."""
    screen = at_table(rocket).open()
    start = screen.seq
    screen.type("2", "0", "Enter", "3", "0", "Enter")
    screen.at(start + 2)
    assert screen.due == "bets"
    assert bets_of(rocket) == {1: 2_000, 2: 3_000}
    screen.pause()
    screen.type("Enter", "8", "4")
    screen.at(start + 5)
    assert stacks_of(rocket) == {1: (8,), 2: (4,)}


def test_an_amount_goes_to_the_seat_that_is_meant(at_table: AtTable, rocket: Hand) -> None:
    """Harm: the amount is typed, the right seat is tapped, and the bet lies nowhere; a bet is placed for no seat or
    without an amount; news from elsewhere wipes what is half typed; or a bet cannot be changed or taken off."""
    rocket("bet", seat=6, amount_cents=2_000)
    screen = at_table(rocket).open()
    page, start = screen.page, screen.seq
    page.tap("[data-figure='5']")
    page.tap("#place")
    assert screen.said == {"code": "seat_first", "takes": "bet"}
    page.tap("#clear")
    page.tap(".seat[data-seat='2'] .seat__spot")
    assert screen.chosen == "2", "with nothing in hand it is only chosen"
    screen.pause()
    page.tap("#place")
    assert screen.said == {"code": "amount_first"}
    assert screen.seq == start
    screen.keys("4", "0")
    rocket("bet", seat=1, amount_cents=2_000)
    screen.at(rocket.now.seq)
    assert (page.input_value("#amount"), screen.chosen) == ("40", "2")
    screen.keys("Enter")
    for figure in "90":
        page.tap(f".numpad [data-figure='{figure}']")
    screen.tap(".seat[data-seat='4'] .seat__spot")
    assert bets_of(rocket) == {1: 2_000, 2: 4_000, 4: 9_000, 6: 2_000}
    assert screen.chosen == "5"
    screen.keys("ArrowLeft", "3", "0", "Enter")
    page.tap(".seat[data-seat='6'] .seat__spot")
    screen.tap("#off")
    assert bets_of(rocket) == {1: 2_000, 2: 4_000, 4: 3_000}


def test_bets_are_one_key_each_or_one_for_all_that_are_the_same(at_table: AtTable, rocket: Hand) -> None:
    """Harm: bets are a tax on the game, a key for each figure and each seat; or a bet that a seat has changed is put
    back."""
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
    screen.page.tap(".seat[data-seat='1'] .seat__spot")
    screen.keys("w")
    screen.page.tap(".seat[data-seat='3'] .seat__spot")
    screen.tap(".likely [value='30']")
    assert bets_of(rocket) == {1: 2_000, 2: 2_000, 3: 3_000, 5: 1_000, 6: 7_000}
