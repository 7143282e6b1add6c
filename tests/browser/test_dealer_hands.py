"""Fast, clumsy and doubled hands: no card is lost, or entered twice, or lands on a prompt that it was not meant for."""

from collections.abc import Callable

import pytest

from tests.browser.conftest import Screen, bets_of, entries, stacks_of
from tests.floor import Hand

Come = Callable[..., Screen]


def test_cards_typed_ahead_of_a_slow_table_are_shown_and_arrive(at_table: Come, rocket: Hand) -> None:
    """Harm: of 8 4 10, typed fast, the 4 is lost and the 10 becomes the second seat's card."""
    rocket.bets(seat1=1_000, seat2=1_000, seat3=1_000)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.hold()
    screen.type("8", "4", "0", "9")
    assert screen.said == {"code": "next", "keys": "4 10 9"}
    screen.let_go()
    screen.at(start + 4)
    assert stacks_of(rocket) == {1: (8,), 2: (4,), 3: (10,)}
    assert rocket.board.dealer_stack == (9,)
    assert screen.said == {}


@pytest.mark.trial("a further way to type ahead")
def test_what_was_typed_ahead_can_be_taken_out_again(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=1_000, seat2=1_000, seat3=1_000)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.hold()
    screen.type("8", "4", "5", "Backspace")
    assert screen.said == {"code": "next", "keys": "4"}
    screen.let_go()
    screen.at(start + 2)
    assert entries(rocket, start) == [("round", "play")] * 2
    assert stacks_of(rocket) == {1: (8,), 2: (4,)}


@pytest.mark.trial("a further way to type ahead")
def test_a_card_and_its_correction_typed_ahead(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=1_000, seat2=1_000)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.hold()
    screen.type("8", "Backspace", "7")
    screen.let_go()
    screen.at(start + 3)
    assert entries(rocket, start) == [("round", "play"), ("round", "take_back"), ("round", "play")]
    assert stacks_of(rocket) == {1: (7,)}


@pytest.mark.trial("a further way to type ahead")
def test_bets_and_the_first_cards_in_one_go(at_table: Come, rocket: Hand) -> None:
    screen = at_table(rocket).open()
    start = screen.seq
    screen.type("2", "0", "Enter", "5", "0", "Enter")
    screen.at(start + 2)
    screen.pause()
    screen.type("Enter", "8", "4")
    screen.at(start + 5)
    assert bets_of(rocket) == {1: 2_000, 2: 5_000}
    assert stacks_of(rocket) == {1: (8,), 2: (4,)}


def test_after_a_refusal_nothing_that_was_typed_ahead_is_entered(at_table: Come, rocket: Hand) -> None:
    """Harm: a second 1 is refused, and the next seat's card becomes this one's."""
    rocket.bets(seat1=1_000, seat2=1_000, seat3=1_000)
    rocket.cards(1)
    screen = at_table(rocket).open()
    screen.hold()
    screen.type("1", "4", "0")
    screen.let_go()
    screen.page.wait_for_selector("#go-on")
    assert screen.said == {"code": "not_entered", "keys": "4 10"}
    assert screen.refused == "impossible_card"
    assert entries(rocket)[-1] == ("alert", "card_refused")

    screen.page.keyboard.press("9")
    screen.page.dispatch_event("#key-9", "click")
    screen.page.keyboard.press("Enter")
    screen.keys("2")
    assert stacks_of(rocket) == {1: (1,), 2: (2,)}, "keys are shut until the dealer has looked"


@pytest.mark.trial("a further way to type ahead")
def test_cards_typed_ahead_of_the_end_of_a_round_are_no_bets(at_table: Come, rocket: Hand) -> None:
    """Harm: the last seat pairs, the round is over, and the next card's key is taken for a bet."""
    rocket.bets(seat1=1_000)
    rocket.cards(8, 9)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.hold()
    screen.type("8", "5", "2")
    screen.let_go()
    screen.at(start + 1)
    assert screen.due == "bets"
    assert screen.said == {"code": "not_entered", "keys": "5 2"}
    assert screen.page.input_value("#amount") == ""


@pytest.mark.trial("a further way to type ahead")
def test_a_fold_typed_ahead_of_the_dealers_card_is_dropped(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=1_000)
    rocket.cards(8, 9)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.hold()
    screen.type("7", "f", "4")
    screen.let_go()
    screen.at(start + 1)
    assert screen.asks == ("card", "dealer")
    assert screen.said == {"code": "not_entered", "keys": "F 4"}


def test_the_same_card_key_twice_is_one_card(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=1_000, seat2=1_000)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.tremble("8", 2)
    screen.at(start + 1)
    assert screen.said == {"code": "came_twice", "key": "8"}
    screen.page.tap("#go-on")
    screen.pause()
    screen.keys("8")
    assert stacks_of(rocket) == {1: (8,), 2: (8,)}, "two equal cards are keyed one after the other"
    assert entries(rocket, start) == [("round", "play")] * 2


@pytest.mark.trial("a further way for one finger to press twice")
def test_the_same_card_key_twice_behind_the_bets(at_table: Come, rocket: Hand) -> None:
    """Harm: the screen still shows bets, and takes the second 8 for one that may be forgotten."""
    rocket("bet", seat=1, amount_cents=1_000)
    rocket("bet", seat=2, amount_cents=1_000)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.hold()
    screen.type("Enter", "8", "8", "4")
    screen.let_go()
    screen.at(start + 2)
    assert screen.said == {"code": "came_twice", "key": "8"}
    assert stacks_of(rocket) == {1: (8,)}


def test_a_double_tap_on_a_card_is_one_card(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=1_000, seat2=1_000)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.page.dblclick("#key-8")
    screen.page.wait_for_selector("#go-on")
    screen.at(start + 1)
    assert entries(rocket, start) == [("round", "play")]


@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.trial("the same of a slow table"))])
def test_a_double_enter_confirms_once(at_table: Come, rocket: Hand, slow: bool) -> None:
    """Harm: a doubled Enter pays two seats, or says that the shoe was shuffled and cut."""
    rocket.bets(seat1=1_000, seat2=1_000)
    rocket.cards(8, 9, 3)
    screen = at_table(rocket).open()
    start = screen.seq
    if slow:
        screen.hold()
    screen.tremble("Enter", 3)
    if slow:
        screen.let_go()
    screen.at(start + 1)
    screen.pause()
    assert screen.to_pay == (1, 300)
    screen.keys("Enter")
    assert entries(rocket, start) == [("round", "paid")] * 2


@pytest.mark.trial("a further way for one finger to press twice")
def test_a_key_held_down_is_one_key(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=1_000, seat2=1_000)
    screen = at_table(rocket).open()
    start = screen.seq
    for _ in range(5):
        screen.page.keyboard.down("8")
    screen.page.keyboard.up("8")
    screen.at(start + 1)
    screen.keys("4")
    assert stacks_of(rocket) == {1: (8,), 2: (4,)}


@pytest.mark.trial("a further way to type ahead")
def test_nothing_is_typed_ahead_of_a_payment(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=1_000)
    rocket.cards(8, 3)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.hold()
    screen.type("Enter", "2")
    assert screen.said == {"code": "still_answering", "key": "2"}
    screen.let_go()
    screen.at(start + 1)
    assert screen.page.input_value("#amount") == ""


@pytest.mark.trial("a further way that the focus moves")
def test_enter_never_presses_a_card_that_was_touched_last(at_table: Come, rocket: Hand) -> None:
    """Harm: the touched key keeps the focus, and Enter turns its card once more."""
    rocket.bets(seat1=1_000, seat2=1_000)
    screen = at_table(rocket).open()
    screen.tap("#key-8")
    screen.page.keyboard.press("Enter")
    assert screen.said == {"code": "no_step"}
    screen.keys("4")
    assert stacks_of(rocket) == {1: (8,), 2: (4,)}


@pytest.mark.trial("a further way that the focus moves")
def test_keys_work_with_the_tabulator_too(at_table: Come, rocket: Hand) -> None:
    rocket.bets(seat1=1_000)
    screen = at_table(rocket).open()
    screen.page.focus("#key-7")
    screen.page.keyboard.press("Tab")
    assert screen.page.evaluate("document.activeElement.id") == "key-8"
    screen.keys("Enter")
    assert stacks_of(rocket) == {1: (8,)}
    assert screen.page.evaluate("document.activeElement.id") == "key-8", "the focus stays where it was"
