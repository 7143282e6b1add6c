"""Fast, clumsy and doubled hands: no card is lost, or entered twice, or lands on a prompt that it was not meant for."""

from tests.browser.conftest import AtTable, Screen, entries, stacks_of
from tests.floor import Hand


def test_cards_typed_ahead_of_a_slow_table_are_shown_and_arrive(at_table: AtTable, rocket: Hand) -> None:
    """Harm: of 8 4 10, typed fast, the 4 is lost and the 10 becomes the second seat's card; or a wrong card that was
    taken out again is entered."""
    rocket.bets(seat1=1_000, seat2=1_000, seat3=1_000)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.hold()
    screen.type("7", "Backspace", "8", "4", "0", "9", "5", "Backspace")
    assert screen.said == {"code": "next", "keys": "Take back 8 4 10 9"}
    screen.let_go()
    screen.at(start + 6)
    assert entries(rocket, start) == [("round", "play"), ("round", "take_back"), *[("round", "play")] * 4]
    assert stacks_of(rocket) == {1: (8,), 2: (4,), 3: (10,)}
    assert rocket.board.dealer_stack == (9,)
    assert screen.said == {}


def test_after_a_refusal_nothing_that_was_typed_ahead_is_entered(at_table: AtTable, rocket: Hand) -> None:
    """Harm: a second 1 is refused, and the next seat's card becomes this one's; or what points at the refusal moves
    before the eyes of somebody who asked that nothing does."""
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
    seconds = "parseFloat(getComputedStyle(document.querySelector('#typed')).animationDuration)"
    assert screen.page.evaluate(seconds) > 0.1
    screen.page.emulate_media(reduced_motion="reduce")
    assert screen.page.evaluate(seconds) < 0.01
    screen.page.keyboard.press("Enter")
    screen.keys("2")
    assert stacks_of(rocket) == {1: (1,), 2: (2,)}, "keys are shut until the dealer has looked"


def test_nothing_is_typed_ahead_of_what_has_to_be_seen_first(at_table: AtTable, rocket: Hand) -> None:
    """Harm: the last seat pairs, the round is over, and the next card's key is taken for a bet; a fold is entered that
    was typed for a seat whose turn is over; or a card's key that was pressed before a payment is a bet after it."""
    rocket.bets(seat1=1_000)
    rocket.cards(8, 9)
    screen = at_table(rocket).open()
    ahead(screen, "7", "f", "4")
    assert screen.asks == ("card", "dealer")
    assert screen.said == {"code": "not_entered", "keys": "F 4"}
    screen.page.tap("#go-on")
    screen.keys("9")
    assert screen.due == "pay"
    due = screen.seq
    screen.hold()
    screen.type("Enter", "2")
    assert screen.said == {"code": "still_answering", "key": "2"}
    screen.let_go()
    screen.at(due + 1)
    assert (screen.due, screen.page.input_value("#amount")) == ("bets", "")
    rocket.bets(seat1=1_000)
    rocket.cards(8, 9)
    screen.at(rocket.now.seq)
    ahead(screen, "8", "5", "2")
    assert screen.due == "bets"
    assert screen.said == {"code": "not_entered", "keys": "5 2"}
    assert screen.page.input_value("#amount") == ""


def ahead(screen: Screen, *keys: str) -> None:
    """Type keys of which the table answers the first alone."""
    before = screen.seq
    screen.hold()
    screen.type(*keys)
    screen.let_go()
    screen.at(before + 1)


def test_a_doubled_press_is_one_input(at_table: AtTable, rocket: Hand) -> None:
    """Harm: a finger that trembles or rests on a key deals two cards, pays two seats, or confirms two steps of the
    shoe; or the screen still shows bets and reads the second 8 as a digit, which is dropped."""
    rocket("bet", seat=1, amount_cents=1_000)
    rocket("bet", seat=2, amount_cents=1_000)
    screen = at_table(rocket).open()
    page, start = screen.page, screen.seq
    screen.hold()
    screen.type("Enter")
    screen.tremble("8", 2)
    screen.type("4")
    screen.let_go()
    screen.at(start + 2)
    assert screen.said == {"code": "came_twice", "key": "8"}
    assert stacks_of(rocket) == {1: (8,)}
    page.tap("#go-on")
    screen.pause()
    page.dblclick("#key-8")
    page.wait_for_selector("#go-on")
    screen.at(start + 3)
    assert stacks_of(rocket) == {1: (8,), 2: (8,)}, "two equal cards are keyed one after the other"
    page.tap("#go-on")
    for _ in range(5):
        page.keyboard.down("3")
    page.keyboard.up("3")
    screen.at(start + 4)
    assert screen.due == "pay"
    screen.tremble("Enter", 3)
    screen.at(start + 5)
    screen.pause()
    assert screen.to_pay == (1, 300)
    screen.keys("Enter")
    assert entries(rocket, start) == [("round", kind) for kind in ("play", "play", "play", "play", "paid", "paid")]


def test_enter_presses_a_card_key_that_tab_focused_but_not_one_that_was_touched(
    at_table: AtTable, rocket: Hand
) -> None:
    """Harm: the touched key keeps the focus, and Enter enters its card again; or a dealer who uses the Tab key cannot
    press the focused key, or loses the focus with each card."""
    rocket.bets(seat1=1_000, seat2=1_000)
    screen = at_table(rocket).open()
    screen.tap("#key-8")
    screen.page.keyboard.press("Enter")
    assert screen.said == {"code": "no_step"}
    screen.page.focus("#key-3")
    screen.page.keyboard.press("Tab")
    assert screen.page.evaluate("document.activeElement.id") == "key-4"
    screen.keys("Enter")
    assert stacks_of(rocket) == {1: (8,), 2: (4,)}
    assert screen.page.evaluate("document.activeElement.id") == "key-4", "the focus stays where it was"
