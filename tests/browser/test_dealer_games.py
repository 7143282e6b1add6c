"""A whole game of each kind of layout on the dealer's screen: with the keyboard, and by touch where that differs.

The cards are keyed as they would lie on a real table; who starts is the lowest card, or read off the screen where
chance chooses.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests import floor
from tests.accessibility import violations
from tests.browser.conftest import PORTRAIT, Screen
from tests.floor import Hand, for_pot

pytestmark = pytest.mark.browser

Come = Callable[..., Screen]

TABLET = {"width": 1180, "height": 820}


def sits(game: str, *seats: int, **settings: Any) -> Hand:
    """A table with 50 coins at each of these seats."""
    return for_pot(game, seats=dict.fromkeys(seats, 5_000), **settings)[0]


def acting(screen: Screen) -> int:
    """The seat whose turn the screen says it is."""
    return int(screen.page.get_attribute(".seat--now", "data-seat"))


def payments(screen: Screen) -> list[str]:
    return [str(line) for line in screen.page.locator(".payments b:first-child").all_inner_texts()]


def key(screen: Screen, *keys: str) -> None:
    """Press keys; the same one twice slowly enough to be two cards."""
    for one in keys:
        if one == screen.pressed:
            screen.pause()
        screen.keys(one)


def is_accessible(screen: Screen) -> None:
    """No finding of the rules for accessible pages; nothing scrolls; whatever is touched is large enough."""
    assert violations(screen.page) == []
    assert screen.page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    small = """[...document.querySelectorAll("#board button, #board label, #board summary")].filter((one) => {
        const { width, height } = one.getBoundingClientRect();
        return width && (width < 48 || height < 48) && !one.matches(".composer label, .unseen");
    }).map((one) => one.textContent.trim())"""
    assert screen.page.evaluate(small) == []


# --- between games ----------------------------------------------------------------------------------------------


def test_chips_are_bought_with_figures_and_enter_and_the_next_seat_is_due(
    transactional_db: None, at_table: Come
) -> None:
    """Harm: the dealer reaches for a mouse to seat eight players."""
    hand = sits("starboard", min_cents=2_000)
    screen = at_table(hand, TABLET).open()
    screen.keys("5", "0", "Enter", "3", "0", "Enter")
    assert hand.now.stacks == {1: 5_000, 2: 3_000}
    screen.page.tap(".seat[data-seat='6'] .seat__spot")
    screen.page.tap("[data-amount='50']")
    screen.tap("#brought")
    assert hand.now.stacks == {1: 5_000, 2: 3_000, 6: 5_000}
    screen.keys("1", "Enter")
    assert screen.refused.startswith("Seat 7 would have 1 in play; it plays with 20 to")
    screen.page.tap(".seat[data-seat='2'] .seat__spot")
    screen.tap("#off")
    assert hand.now.stacks == {1: 5_000, 6: 5_000}
    is_accessible(screen)


def test_a_seat_sits_out_until_it_says_otherwise(transactional_db: None, at_table: Come) -> None:
    """Harm: chips of a player who left the table for a smoke go into the pot."""
    hand = sits("starboard", 1, 3, 5)
    screen = at_table(hand, TABLET).open()
    screen.page.tap(".seat[data-seat='3'] .plays")
    assert screen.page.inner_text("#deals") == "2 seats"
    screen.keys("Enter")
    assert hand.now.round.opening.seats == (1, 5)
    key(screen, "4", "7", "L")
    assert screen.due == "seats"
    assert not screen.page.is_checked("input[name=plays][value='3']")
    screen.keys("ArrowLeft")
    while screen.page.input_value("input[name=seat]:checked") != "3":
        screen.keys("ArrowLeft")
    screen.keys("s")
    assert screen.page.inner_text("#deals") == "3 seats"
    screen.keys("2", "0", "Enter")
    assert hand.now.stacks[3] == 7_000
    assert screen.page.is_checked("input[name=plays][value='3']"), "chips for a seat do not send another one out"


# --- whole games ------------------------------------------------------------------------------------------------


def test_pairs(transactional_db: None, at_table: Come) -> None:
    """Harm: a game of stacks and scores cannot be dealt with the cards' keys alone."""
    hand = sits("pairs", 1, 2, options={"settlement": "cutchfeld"})
    screen = at_table(hand, TABLET).open()
    screen.keys("Enter")
    for _ in range(40):
        if not hand.now.round_open:
            break
        if screen.due == "choose":
            key(screen, "f")  # a fold scores the lowest card in play, and a round follows
        else:
            key(screen, *(("0", "9") if screen.prompt.endswith("seat 1.") else ("9",)))
    assert screen.due in ("seats", "shuffle")
    assert hand.now.round.over
    assert [line.split()[0] for line in payments(screen)] == ["Seat", "Seat"]
    assert "pays" in payments(screen)[0]
    assert "from the pot" in payments(screen)[1]
    is_accessible(screen)


def test_starboard(transactional_db: None, at_table: Come) -> None:
    """Harm: one hand in the middle for all, and nobody can see where a card belongs, or what the pot comes to."""
    hand = sits("starboard", 1, 2, 4, rake_permille=100)
    screen = at_table(hand, TABLET).open()
    screen.keys("Enter")
    assert payments(screen) == ["Seats 1, 2 and 4 pay 1 each into the pot."]
    assert screen.prompt == "Deal a card in the middle."
    key(screen, "4", "7")
    key(screen, "9", "8", "5", "6", "3", "2", "1")
    assert screen.page.inner_text(".pot").split()[:2] == ["Pot", "10"]
    assert screen.page.get_attribute(".house__middle .stack", "aria-label") == "Cards: 4, 7, 9, 8, 5, 6, 3, 2, 1"
    is_accessible(screen)
    bust = acting(screen)  # the second of three, who has paid the ante and drawn twice
    key(screen, "4")
    assert screen.page.inner_text(f".seat[data-seat='{bust}'] .seat__state") == "bust −4"
    key(screen, "l")
    while hand.now.round_open:
        key(screen, "l")
    assert payments(screen)[0] == "The house rakes 1."
    assert payments(screen)[1].endswith("take 5 each from the pot.")


def test_blackstone(transactional_db: None, at_table: Come) -> None:
    """Harm: a count of two figures cannot be entered, or its first figure is entered alone."""
    hand = sits("blackstone", 1, 2)
    screen = at_table(hand, TABLET).open()
    screen.keys("Enter")
    key(screen, "4", "7")
    assert screen.prompt == "Seat 1: take 1 to 53 or fold for 1."
    assert screen.page.locator(".keys--counts .cardkey:visible").count() == 10
    before = hand.now.seq
    screen.keys("1", "2")
    assert hand.now.seq == before
    assert screen.page.inner_text(".pane__count") == "12 ⏎"
    is_accessible(screen)
    screen.keys("Enter")
    key(screen, "9", "8", "0", "6", "5", "9", "8", "7", "6", "5", "9", "8")
    assert screen.prompt.startswith("Seat 2: take 12 to 41 or fold for ")
    screen.keys("3", "Enter")
    screen.tap(".keys--counts .cardkey[data-count='12']")
    key(screen, "9", "8", "7", "6", "0", "5", "4", "0")
    assert screen.due == "shuffle"
    assert "Seat 2 pays" in payments(screen)[0]
    assert payments(screen)[-1].startswith("Seat 1 takes")


def test_venture(transactional_db: None, at_table: Come) -> None:
    """Harm: bids that lie facedown until all are made cannot be keyed seat by seat, or one is taken for another's."""
    hand = sits("venture")
    screen = at_table(hand, TABLET).open()
    screen.keys("Enter")
    assert hand.now.round.opening.seats == tuple(range(1, 9))
    for _ in range(7):
        key(screen, str(card_due(hand) % 10))
    assert len(hand.now.round.view(None).middle) == 7, "the slug is turned"
    first = hand.now.round.game.prompts(hand.now.round.state)[0]
    assert acting(screen) == first.seat == 1
    for _ in range(100):
        if not hand.now.round_open:
            break
        key(screen, str(card_due(hand) % 10))
    assert screen.due == "shuffle"
    assert sum(payout.outcome == "win" for payout in hand.now.round.settled) <= 1
    is_accessible(screen)


def card_due(hand: Hand) -> int:
    """A card that may be keyed now: turned by the dealer, or shown by the seat that is asked."""
    current = hand.now.round
    ask = current.game.prompts(current.state)[0]
    cards = ask.may_come if hasattr(ask, "may_come") else [choice.card for choice in ask.choices]
    return cards[hand.now.seq % len(cards)]


def test_sweep(transactional_db: None, at_table: Come) -> None:
    """Harm: in a capturing game on real cards, a card that a player shows cannot be keyed like one that is turned."""
    hand = sits("sweep")
    screen = at_table(hand, TABLET).open()
    for seat in range(4, 7):
        screen.page.tap(f".seat[data-seat='{seat}'] .plays")
    screen.keys("Enter")
    assert hand.now.round.opening.seats == (1, 2, 3)
    for _ in range(400):
        if not hand.now.round_open:
            break
        key(screen, str(card_due(hand) % 10))
    assert screen.due == "shuffle"
    assert "points" in screen.page.inner_text(".seat[data-seat='1'] .seat__kept")
    is_accessible(screen)


def test_regent(transactional_db: None, at_table: Come) -> None:
    """Harm: a choice that names a card and a seat takes a form to fill in; or a key means two things at once."""
    hand = sits("regent", 1, 2, 4)
    screen = at_table(hand, TABLET).open()
    screen.keys("Enter")
    key(screen, "4", "7", "9")
    assert screen.prompt == "Seat 1: draw, attack, gift, fold for 4 or see."
    screen.keys("g")
    is_accessible(screen)
    screen.page.tap(".seat[data-seat='4'] .seat__spot")
    assert screen.page.inner_text(".pane.is-open .pane__says b") == "Gift: seat 4"
    assert screen.page.is_disabled(".pane.is-open [data-count='9']"), "a gift never pairs"
    screen.keys("Escape")
    assert screen.page.get_attribute(".pane.is-open", "data-kind") == "ways"
    screen.keys("g", "4", "8")
    current = hand.now.round
    assert current.plays[-1].actions[0].card == 8
    assert current.plays[-1].actions[0].target == 4
    assert acting(screen) == 4
    screen.keys("a", "1")
    key(screen, "4")
    assert screen.page.inner_text(".seat[data-seat='4'] .seat__state") == "lose −4"
    for _ in range(10):
        if not hand.now.round_open:
            break
        key(screen, "f")
    assert screen.due == "shuffle"
    assert payments(screen)[0].startswith("Seat ")


def test_troll_guts_in_portrait(transactional_db: None, at_table: Come) -> None:
    """Harm: the screen is dealt on a tablet that stands upright, and a card that is stolen is not asked for by name."""
    hand = sits("troll_guts", 1, 2, 3)
    screen = at_table(hand, PORTRAIT).open()
    screen.keys("Enter")
    key(screen, "2", "5", "9")
    assert screen.page.inner_text(".seat[data-seat='2'] .backs") == "5"
    screen.page.tap(".choice [data-hotkey=S]")
    is_accessible(screen)
    screen.tap(".pane.is-open [data-target='3']")
    assert screen.prompt == "Turn a card of seat 1 and name it."
    screen.tap("#key-2")
    assert screen.page.inner_text(".seat[data-seat='1'] .seat__state").startswith("pair of 2s")
    screen.tap("#key-5")
    assert screen.due == "shuffle"
    assert payments(screen) == ["Seat 2 pays 5 into the pot.", "Seat 3 takes 10 from the pot."]


# --- secret hands ------------------------------------------------------------------------------------------------


def test_the_dealer_of_secret_hands_sees_who_is_waited_for_and_no_card(transactional_db: None, at_table: Come) -> None:
    """Harm: a player's cards stand in the page of somebody else."""
    hand = sits("hawthorn", 1, 2, 4, source="house")
    players = {seat: floor.player(hand, seat) for seat in (1, 2, 4)}
    screen = at_table(hand, TABLET).open()
    screen.keys("Enter")
    assert screen.prompt == "Waiting for seats 1, 2 and 4."
    players[2].chooses(players[2].choices[0])
    screen.at(hand.now.seq)
    assert screen.prompt == "Waiting for seats 1 and 4."
    assert screen.page.inner_text(".seat[data-seat='2'] .seat__state") == "✓ chosen"
    assert screen.page.locator("#board [data-does=choose]").count() == 0
    assert screen.page.locator("#board .fan use[href^='#card-']").count() == 0
    is_accessible(screen)
