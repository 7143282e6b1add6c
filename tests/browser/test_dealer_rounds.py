"""Whole rounds at the dealer's screen, by keyboard and by touch: one press for each thing that happens at the table."""

from collections.abc import Callable

import pytest

from ledger.models import Transfer
from tests import floor
from tests.browser.conftest import Screen, entries
from tests.floor import Hand
from tests.tables.chance import RARE_CUT, run_out

pytestmark = pytest.mark.browser

Come = Callable[..., Screen]


def test_a_round_by_keyboard(at_table: Come, rocket: Hand) -> None:
    screen = at_table(rocket).open()
    start = screen.seq
    screen.keys("2", "0", "Enter", "5", "0", "Enter")
    assert entries(rocket, start) == [("round", "play")] * 2
    assert screen.page.inner_text(".seat[data-seat='1'] .seat__amount") == "20"
    assert screen.page.inner_text(".seat[data-seat='2'] .seat__amount") == "50"

    bets, screen.presses = screen.seq, 0
    screen.pause()
    screen.keys("Enter")
    assert screen.prompt == "Deal a card to seat 1."
    screen.keys("8", "4", "0")
    assert screen.prompt == "Seat 1: hit, or fold for 16."
    assert screen.page.inner_text(".prompt__say") == "SAY “Seat 1, hit, or fold for 16?”"
    screen.pause()
    screen.keys("8")
    assert screen.settling == "Seat 1: take the bet"
    assert screen.page.get_attribute(".settling .chips", "aria-label") == "4 white"
    screen.keys("Enter")
    assert screen.prompt == "Seat 2: hit, or fold for 20."
    screen.keys("7")
    assert screen.prompt == "Dealer hits."
    screen.keys("0")
    assert screen.due == "pay"
    assert screen.prompt == "Seat 2: pay 50"
    screen.keys("Enter")
    assert screen.due == "bets"
    assert screen.page.inner_text(".topline__round b") == "2"

    # No more inputs than there are events: each press is one entry in the log but for the loss, whose chips are taken.
    assert screen.presses == screen.seq - bets + 1 == len(entries(rocket, bets)) + 1
    nets = {one.kind: one.amount_cents for one in Transfer.objects.filter(kind__in=("loss", "win"))}
    assert nets == {"loss": 1_600, "win": 5_000}


def test_a_round_by_touch(at_table: Come, rocket: Hand) -> None:
    screen = at_table(rocket).open()
    start = screen.seq
    page = screen.page
    page.tap(".seat[data-seat='3'] .seat__spot")
    page.tap(".numpad [data-figure='3']")
    page.tap(".numpad [data-figure='00']")
    page.tap(".numpad [data-figure='Backspace']")
    assert page.input_value("#amount") == "30"
    assert page.inner_text(".seat[data-seat='3'] .seat__chosen") == "▼ 30"
    screen.tap("#place")
    screen.tap("#close")
    screen.tap("#key-9")
    screen.tap("#key-10")
    assert screen.prompt == "Seat 3: hit, or fold for 27."
    screen.tap(".choice button")
    assert screen.due == "bets", "the last seat folded: the dealer draws nothing"
    assert screen.settling == "Seat 3: take the bet"
    assert page.inner_text(".settling .chips").split() == ["3", "white"]
    assert screen.presses == screen.seq - start == 5


def test_the_same_bets_again(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat2=2_000, seat5=5_000)
    rocket.cards(4, 6, 3)
    rocket.pay()
    screen = at_table(rocket).open()
    screen.tap(".seat[data-seat='2'] .seat__again")
    screen.page.tap(".seat[data-seat='5'] .seat__spot")
    screen.keys("r")
    assert {one.seat: one.bet_cents for one in rocket.board.seats if one.bet_cents} == {2: 2_000, 5: 5_000}


def test_a_bet_is_changed_and_taken_off(at_table: Come, rocket: Hand) -> None:
    screen = at_table(rocket).open()
    screen.keys("2", "0", "Enter", "3", "0", "Enter")
    screen.keys("ArrowLeft", "4", "0", "Enter")
    screen.page.tap(".seat[data-seat='1'] .seat__spot")
    screen.tap("#off")
    assert {one.seat: one.bet_cents for one in rocket.board.seats if one.bet_cents} == {2: 4_000}


def test_the_first_card_of_the_dealer_is_a_three(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=2_000, seat2=5_000, seat3=1_000, seat4=10_000, seat5=3_000, seat6=4_000)
    screen = at_table(rocket).open()
    for rank in (10, 9, 8, 7, 6, 5):
        screen.keys(str(rank % 10))
    screen.keys("3")
    walked = []
    while screen.due == "pay":
        walked.append(screen.prompt)
        screen.pause()
        screen.keys("Enter")
    assert walked == [
        "Seat 6: pay 12",
        "Seat 5: pay 9",
        "Seat 4: pay 30",
        "Seat 3: pay 3",
        "Seat 2: pay 15",
        "Seat 1: pay 6",
    ]
    assert screen.presses == 7 + 6


def test_six_seats_are_paid_on_the_dealers_pair(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=2_000, seat2=5_000, seat3=1_000, seat4=10_000, seat5=3_000, seat6=4_000)
    rocket.cards(10, 9, 8, 7, 6, 5, 7)
    screen = at_table(rocket).open()
    screen.keys("9", "f", "Enter", "0", "8", "5", "6", "7")
    assert screen.due == "pay"
    assert screen.prompt == "Seat 6: pay 28"
    assert screen.page.inner_text(".seat[data-seat='2'] .seat__state") == "folded"
    assert screen.page.inner_text(".seat--now .seat__state") == "▼ pay"
    screen.keys("Enter")
    assert screen.page.inner_text(".seat[data-seat='6'] .seat__state") == "✓ paid"
    walked = []
    while screen.due == "pay":
        walked.append(screen.prompt)
        screen.pause()
        screen.keys("Enter")
    assert walked == ["Seat 5: pay 21", "Seat 4: pay 70", "Seat 3: pay 7", "Seat 1: pay 14"]


def test_a_wrong_key_is_taken_back(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=2_000)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.keys("8")
    assert screen.page.inner_text(".side__back small") == "Seat 1: 8"
    screen.keys("Backspace")
    assert screen.prompt == "Deal a card to seat 1."
    screen.keys("9")
    assert entries(rocket, start) == [("round", "play"), ("round", "take_back"), ("round", "play")]
    assert screen.page.get_attribute(".seat[data-seat='1'] .stack", "aria-label") == "Cards: 9"


def test_the_card_that_ended_a_round_is_taken_back(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=2_000)
    rocket.cards(8, 10)
    screen = at_table(rocket).open()
    screen.keys("8")
    assert screen.due == "bets"
    screen.pause()
    screen.page.keyboard.press("Enter")  # seat 1 is done
    screen.type("u")
    screen.page.tap("text=Reopen the round")
    screen.page.wait_for_selector("#board")
    assert screen.prompt == "Seat 1: hit, or fold for 16."
    screen.pause()
    screen.keys("7")
    assert screen.prompt == "Dealer hits."


def test_a_card_that_the_shoe_cannot_hold(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=2_000, seat2=2_000)
    rocket.cards(1)
    screen = at_table(rocket).open()
    screen.keys("1")
    assert screen.refused == (
        "No 1 can be left in this shoe: the only one is out already. Wrong key: press the right one. "
        "Wrong card: call the pit."
    )
    assert screen.warned.startswith("No 1 can be left")
    assert screen.prompt == "Deal a card to seat 2."
    assert entries(rocket)[-1] == ("alert", "card_refused")
    screen.keys("2")
    assert screen.prompt == "Deal your own card."


def test_keys_that_mean_nothing_here_change_nothing(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=2_000)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.keys("f")
    assert screen.page.inner_text("#typed-says") == "F stands for nothing now."
    screen.keys("x", "Enter", "ArrowLeft", "Escape")
    assert screen.seq == start
    screen.keys("5")
    assert screen.seq == start + 1
    assert screen.page.is_hidden("#typed")


def test_every_step_of_the_shoe_is_prompted(at_table: Come, rocket: Hand) -> None:
    screen = at_table(rocket).open()
    start = screen.seq
    screen.page.click(".menu summary")
    screen.tap("[data-does=retire_shoe]")
    prompts = []
    while screen.due != "bets":
        prompts.append(screen.prompt)
        screen.pause()
        if screen.due == "check":
            count_columns(screen)
        screen.keys("Enter")
    assert prompts == [
        "Load the shoe.",
        "Spread the decks in ten columns and count them.",
        "Shuffle the shoe.",
        "Place the cut card.",
        "Burn 5 cards.",
    ]
    assert screen.seq - start == 6


def count_columns(screen: Screen) -> None:
    """By keyboard, up to the last column's Enter. Harm: Enter confirms a deck that nobody counted."""
    seq = screen.seq
    screen.type("Enter")
    screen.pause()
    assert screen.seq == seq
    screen.count_columns()
    assert screen.page.input_value("#count10") == "10"


def test_a_deck_check_that_is_off(at_table: Come, rocket: Hand) -> None:
    rocket("retire_shoe")
    rocket("load_shoe")
    screen = at_table(rocket).open()
    count_columns(screen)
    screen.page.fill("#count7", "6")
    drawn = screen.key
    screen.page.keyboard.press("Enter")
    screen.settle(drawn)
    assert screen.refused == ("This shoe is not whole: 6 of rank 7, 7 belong in it. Count again, or change the decks.")
    assert screen.page.input_value("#count7") == "6"
    screen.page.fill("#count7", "none")
    screen.tap("[data-does=check_decks]")
    assert screen.refused == "The column of 7s needs a count, in digits."
    screen.page.fill("#count7", "7")
    screen.tap("[data-does=check_decks]")
    assert screen.prompt == "Shuffle the shoe."


def test_the_cut_card_comes_out(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=2_000)
    screen = at_table(rocket).open()
    screen.keys("c")
    assert "Cut card out: last round" in screen.page.inner_text(".shoe")
    screen.keys("8", "0", "f")
    assert screen.prompt == "Shuffle the shoe."
    assert screen.settling == "Seat 1: take the bet", "the last outcome comes before the next step"
    screen.keys("Enter")


def test_a_house_shoe_deals(at_table: Come, transactional_db: None) -> None:
    hand, _ = floor.dealt(source="house")
    screen = at_table(hand).open()
    assert "Order sealed" in screen.page.inner_text(".shoe")
    screen.keys("2", "0", "Enter", "5", "0", "Enter")
    screen.pause()
    screen.keys("Enter")
    assert screen.page.inner_text(".steps button").startswith("Deal")
    assert screen.page.locator(".cardkey").count() == 0
    for _ in range(60):
        if screen.due == "bets":
            break
        screen.pause()
        is_decision = screen.due == "choose" and not screen.page.locator(".is-settling").count()
        screen.keys("fh"[screen.seq % 2] if is_decision else "Enter")
    assert screen.due == "bets"
    assert hand.now.round is not None
    assert hand.now.round.over


def test_an_empty_shoe_is_shuffled_in_mid_round(at_table: Come, transactional_db: None) -> None:
    hand, _ = floor.dealt(options=RARE_CUT)
    run_out(hand)
    screen = at_table(hand).open()
    assert screen.prompt.startswith("Seat 2: hit, or fold for")
    assert screen.page.locator(".cardkey").count() == 0, "no card can be named before the shuffle"
    screen.keys("h")
    assert screen.due == "reshuffle"
    screen.pause()
    screen.keys("Enter")
    assert screen.prompt == "Card for seat 2."
    screen.keys("9")
    assert screen.prompt.startswith("Seat 3: hit, or fold for")
