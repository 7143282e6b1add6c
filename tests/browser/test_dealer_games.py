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

Come = Callable[..., Screen]


WHOLE = pytest.mark.trial(
    "a whole game by keys",
    covered_by="tests/tables/board/test_board_pot.py::test_a_game_is_dealt_to_its_end_by_what_its_boards_offer",
)
TABLET = {"width": 1180, "height": 820}


def sits(game: str, *seats: int, **settings: Any) -> Hand:
    """A table with 50 coins at each of these seats."""
    return for_pot(game, seats=dict.fromkeys(seats, 5_000), **settings)[0]


def acting(screen: Screen) -> int:
    """The seat whose turn the screen says it is."""
    return int(screen.page.get_attribute(".seat--now", "data-seat"))


def payments(screen: Screen) -> list[int]:
    """What each line of payments says to move, in cents."""
    lines = screen.page.eval_on_selector_all(".payments li", "all => all.map((line) => Number(line.dataset.cents))")
    return list(lines)


def outcome(screen: Screen, seat: int) -> tuple[str, int]:
    """What became of a seat, and what it won, in cents."""
    box = screen.page.locator(f".seat[data-seat='{seat}']")
    return box.get_attribute("data-outcome"), int(box.get_attribute("data-cents"))


def dealt_in(screen: Screen) -> list[str]:
    """The seats that the next game is dealt to."""
    return list(screen.page.eval_on_selector_all("input[name=plays]:checked", "all => all.map((box) => box.value)"))


def key(screen: Screen, *keys: str) -> None:
    """Press keys; the same one twice slowly enough to be two cards."""
    for one in keys:
        if one == screen.pressed:
            screen.pause()
        screen.keys(one)


def waits_for(screen: Screen) -> list[str]:
    """The seats that are still to choose."""
    return list(screen.page.eval_on_selector_all(".seat--now", "all => all.map((seat) => seat.dataset.seat)"))


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
    """Harm: the dealer reaches for a mouse to seat eight players; or chips of a player who left for a smoke go into the
    pot."""
    hand = sits("starboard", min_cents=2_000)
    screen = at_table(hand, TABLET).open()
    screen.keys("5", "0", "Enter", "3", "0", "Enter")
    assert hand.now.stacks == {1: 5_000, 2: 3_000}
    screen.page.tap(".seat[data-seat='6'] .seat__spot")
    screen.page.tap("[data-amount='50']")
    screen.tap("#brought")
    assert hand.now.stacks == {1: 5_000, 2: 3_000, 6: 5_000}
    screen.keys("1", "Enter")
    assert screen.refused == "bad_amount"
    screen.page.tap(".seat[data-seat='2'] .seat__spot")
    screen.tap("#off")
    assert hand.now.stacks == {1: 5_000, 6: 5_000}
    is_accessible(screen)
    screen.page.tap(".seat[data-seat='3'] .seat__spot")
    screen.keys("4", "0", "Enter")
    screen.page.tap(".seat[data-seat='6'] .seat__spot")
    screen.keys("s")
    assert screen.said == {"code": "sits_out", "seat": "6"}
    screen.keys("2", "0", "Enter")
    assert hand.now.stacks == {1: 5_000, 3: 4_000, 6: 7_000}
    assert dealt_in(screen) == ["1", "3"], "chips do not bring back who sits out"
    screen.pause()
    screen.keys("Enter")
    assert hand.now.round.opening.seats == (1, 3)
    key(screen, "4", "7", "L")
    assert screen.due == "seats"
    assert dealt_in(screen) == ["1", "3"], "nor does the next game"


# --- whole games ------------------------------------------------------------------------------------------------


@WHOLE
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
            key(screen, *(("0", "9") if screen.asks[1] == "seat 1" else ("9",)))
    assert screen.due in ("seats", "shuffle")
    assert hand.now.round.over
    assert len(payments(screen)) == 2, "one seat pays, the other one takes the pot"
    is_accessible(screen)


@WHOLE
def test_starboard(transactional_db: None, at_table: Come) -> None:
    """Harm: one hand in the middle for all, and nobody can see where a card belongs, or what the pot comes to."""
    hand = sits("starboard", 1, 2, 4, rake_permille=100)
    screen = at_table(hand, TABLET).open()
    screen.keys("Enter")
    assert payments(screen) == [100]
    assert screen.asks == ("card", "")
    key(screen, "4", "7")
    key(screen, "9", "8", "5", "6", "3", "2", "1")
    assert hand.board.pot_cents == 1_000
    assert screen.cards(".house__middle") == list("479856321")
    is_accessible(screen)
    bust = acting(screen)  # the second of three, who has paid the ante and drawn twice
    key(screen, "4")
    assert outcome(screen, bust) == ("bust", -400)
    key(screen, "l")
    while hand.now.round_open:
        key(screen, "l")
    assert payments(screen) == [100, 500], "the rake, and what each of the others takes"


@pytest.mark.trial(
    "a whole game by keys",
    covered_by="tests/browser/test_dealer_typing.py::test_half_a_count_goes_on_and_is_entered_whole",
)
def test_blackstone(transactional_db: None, at_table: Come) -> None:
    """Harm: a count of two figures cannot be entered, or its first figure is entered alone."""
    hand = sits("blackstone", 1, 2)
    screen = at_table(hand, TABLET).open()
    screen.keys("Enter")
    key(screen, "4", "7")
    assert screen.asks == ("choose", "seat 1")
    assert screen.page.locator(".keys--counts .cardkey:visible").count() == 10
    before = hand.now.seq
    screen.keys("1", "2")
    assert hand.now.seq == before
    assert screen.page.inner_text(".pane__count").startswith("12")
    is_accessible(screen)
    screen.keys("Enter")
    key(screen, "9", "8", "0", "6", "5", "9", "8", "7", "6", "5", "9", "8")
    assert screen.asks == ("choose", "seat 2")
    screen.keys("3", "Enter")
    screen.tap(".keys--counts .cardkey[data-count='12']")
    key(screen, "9", "8", "7", "6", "0", "5", "4", "0")
    assert screen.due == "shuffle"
    assert len(payments(screen)) == 2, "one seat pays, the other one takes the pot"


@WHOLE
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


@WHOLE
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
    assert screen.page.is_visible(".seat[data-seat='1'] .seat__kept")
    is_accessible(screen)


def test_regent(transactional_db: None, at_table: Come) -> None:
    """Harm: a choice that names a card and a seat takes a form to fill in; or a key means two things at once."""
    hand = sits("regent", 1, 2, 4)
    screen = at_table(hand, TABLET).open()
    screen.keys("Enter")
    key(screen, "4", "7", "9")
    assert screen.asks == ("choose", "seat 1")
    screen.keys("g")
    is_accessible(screen)
    screen.page.tap(".seat[data-seat='4'] .seat__spot")
    assert screen.page.get_attribute(".pane.is-open", "data-kind") == "cards"
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
    assert outcome(screen, 4) == ("lose", -400)
    for _ in range(10):
        if not hand.now.round_open:
            break
        key(screen, "f")
    assert screen.due == "shuffle"
    assert payments(screen)


@pytest.mark.trial("a whole game by keys", covered_by="tests/browser/test_dealer_games.py::test_regent")
def test_troll_guts_in_portrait(transactional_db: None, at_table: Come) -> None:
    """Harm: the screen is dealt on a tablet that stands upright, and a card that is stolen is not asked for by name."""
    hand = sits("troll_guts", 1, 2, 3)
    screen = at_table(hand, PORTRAIT).open()
    screen.keys("Enter")
    key(screen, "2", "5", "9")
    assert screen.page.inner_text(".seat[data-seat='2'] .backs").split()[-1] == "5"
    screen.page.tap(".choice [data-hotkey=S]")
    is_accessible(screen)
    screen.tap(".pane.is-open [data-target='3']")
    assert screen.asks == ("card", "seat 1")
    screen.tap("#key-2")
    assert outcome(screen, 1)[0] == "pair"
    screen.tap("#key-5")
    assert screen.due == "shuffle"
    assert payments(screen) == [500, 1_000]


# --- secret hands ------------------------------------------------------------------------------------------------


@pytest.mark.trial(
    "the dealer's side of secret hands",
    covered_by="tests/tables/board/test_secrecy.py::test_nobody_who_works_here_reads_what_a_player_holds",
)
def test_the_dealer_of_secret_hands_sees_who_is_waited_for_and_no_card(transactional_db: None, at_table: Come) -> None:
    """Harm: a player's cards stand in the page of somebody else."""
    hand = sits("hawthorn", 1, 2, 4, source="house")
    players = {seat: floor.player(hand, seat) for seat in (1, 2, 4)}
    screen = at_table(hand, TABLET).open()
    screen.keys("Enter")
    assert waits_for(screen) == ["1", "2", "4"]
    players[2].chooses(players[2].choices[0])
    screen.at(hand.now.seq)
    assert waits_for(screen) == ["1", "4"]
    assert screen.page.locator("#board [data-does=choose]").count() == 0
    assert screen.page.locator("#board .fan use[href^='#card-']").count() == 0
    is_accessible(screen)
