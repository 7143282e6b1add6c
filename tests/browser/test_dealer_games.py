"""Games with a pot on the dealer's screen: chips, one game played by keyboard, and the layouts of the other games."""

from typing import Any

import pytest

from tests import floor
from tests.accessibility import violations
from tests.browser.conftest import PORTRAIT, AtTable, Screen
from tests.floor import Hand, for_pot
from tests.layout import fits, small

TABLET = {"width": 1180, "height": 820}
WITHOUT_CHIPS = ("venture", "sweep")
"""Games without chips on the table."""


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
    assert fits(screen.page)
    assert small(screen.page, "#board :is(button, summary, label:not(.composer label, .unseen))") == []


# --- between games ----------------------------------------------------------------------------------------------


def test_chips_are_bought_with_figures_and_enter_and_the_next_seat_is_due(at_table: AtTable) -> None:
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


# --- games ------------------------------------------------------------------------------------------------------


def test_regent(at_table: AtTable) -> None:
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


@pytest.mark.trial(
    "layouts of further games on the same screen", covered_by="tests/browser/test_dealer_games.py::test_regent"
)
@pytest.mark.parametrize(
    ("game", "seats", "viewport"),
    [
        ("pairs", 2, TABLET),
        ("starboard", 3, TABLET),
        ("blackstone", 2, TABLET),
        ("venture", 8, TABLET),
        ("sweep", 3, TABLET),
        ("troll_guts", 3, PORTRAIT),
    ],
)
def test_the_layout_of_a_game_is_accessible(at_table: AtTable, game: str, seats: int, viewport: dict[str, int]) -> None:
    """Harm: in another game a key is too small or has no name, or the screen scrolls in mid-game."""
    hand = sits(game, *(() if game in WITHOUT_CHIPS else range(1, seats + 1)))
    hand("start_game", seats=list(range(1, seats + 1)))
    deal(hand, cards=9)
    is_accessible(at_table(hand, viewport).open())


def deal(hand: Hand, cards: int) -> None:
    """Key up to this many cards; stop when a seat has a decision."""
    for _ in range(cards):
        ask = hand.now.round.game.prompts(hand.now.round.state)[0]
        if not hasattr(ask, "may_come"):
            return
        hand.cards(ask.may_come[hand.now.seq % len(ask.may_come)])


@pytest.mark.trial(
    "the dealer's side of secret hands",
    covered_by="tests/tables/board/test_secrecy.py::test_nobody_who_works_here_reads_what_a_player_holds",
)
def test_the_dealer_of_secret_hands_sees_who_is_waited_for_and_no_card(at_table: AtTable) -> None:
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
