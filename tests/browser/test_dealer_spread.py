"""Games with several wagers at a seat: two rounds by keyboard and by touch, and nothing lies over anything else."""

from typing import Any

import pytest

from tests import floor
from tests.accessibility import serious
from tests.browser.conftest import AtTable
from tests.floor import Hand
from tests.layout import fits, overlapping, small

SIZES = ({"width": 1024, "height": 768}, {"width": 1280, "height": 720}, {"width": 1366, "height": 768})
PARTS = ".seats .seat__spot, .bet-spot, .seats .wager, .seat__again, .prompt, .house__pair, .shoe, .cardkey, .choice"


def is_clear(page: Any) -> None:
    for size in SIZES:
        page.set_viewport_size(size)
        assert overlapping(page, PARTS) == [], size
        assert small(page, "#board button") == [], size
        assert fits(page), size


def table_of(game: str, **options: Any) -> Hand:
    return floor.dealt(name="Table 1", game=game, options=options, seats=7, max_cents=50_000)[0]


def test_baccarat_by_keyboard_and_by_touch(at_table: AtTable) -> None:
    """Harm: an amount goes where nobody laid it, or the bets are closed over one that lies nowhere."""
    hand = table_of("baccarat")
    screen = at_table(hand).open()
    screen.keys("5", "0", "Enter")
    assert screen.said == {"code": "amount_in_hand", "amount": "50"}
    screen.keys("ArrowDown", "Enter")
    assert screen.page.evaluate("document.activeElement.id") == "spot-1-player"
    screen.pause()
    screen.keys("2", "5", "ArrowRight", "Enter")
    assert [box.bet_cents for box in hand.board.seats][:2] == [5_000, 2_500]
    assert serious(screen.page) == []
    screen.keys("Escape")
    screen.pause()
    screen.keys("Enter")
    assert screen.due == "card"
    screen.keys("9", "2", "0", "3")
    assert screen.due == "pay"
    assert serious(screen.page) == []
    screen.keys("Enter")
    screen.pause()
    screen.keys("Enter")
    screen.tap("#same")
    screen.tap("#close")
    for rank in ("9", "2", "10", "3"):
        screen.tap(f"#key-{rank}")
    assert screen.due == "pay"


@pytest.mark.trial(
    "a further state of the same screen",
    covered_by="tests/browser/test_dealer_spread.py::test_baccarat_by_keyboard_and_by_touch",
)
@pytest.mark.parametrize("state", ["bets", "cards", "pay"])
def test_baccarat_with_seven_seats_lies_apart(at_table: AtTable, state: str) -> None:
    """Harm: a spot lies under the prompt, and the tap goes to another."""
    hand = table_of("baccarat")
    for seat in range(1, 8):
        for wager in ("player", "tie", "player_pair", "banker_pair"):
            hand("bet", seat=seat, wager=wager, amount_cents=50_000)
    if state != "bets":
        hand("close_bets")
        hand.cards("2", "3", "3", "2")
    if state == "pay":
        while hand.board.due == "card":
            hand.cards("K")
    is_clear(at_table(hand).open().page)


@pytest.mark.trial(
    "a further state of the same screen",
    covered_by="tests/browser/test_dealer_spread.py::test_baccarat_by_keyboard_and_by_touch",
)
def test_every_side_bet_of_baccarat_has_a_spot_at_seven_seats(at_table: AtTable) -> None:
    """Harm: a table spreads the Dragon Bonus too, and its spots lie under the prompt."""
    spread = ["tie", "player_pair", "banker_pair", "dragon_bonus_player", "dragon_bonus_banker"]
    hand = table_of("baccarat", spread=spread)
    for seat in range(1, 8):
        for wager in ("player", *spread):
            hand("bet", seat=seat, wager=wager, amount_cents=50_000)
    is_clear(at_table(hand).open().page)


@pytest.mark.trial(
    "a further state of the same screen",
    covered_by="tests/browser/test_dealer_steps_back.py::test_an_enter_too_many_decides_for_nobody",
)
def test_blackjack_with_four_hands_lies_apart_and_enter_never_hits(at_table: AtTable) -> None:
    """Harm: the hand that acts is covered; or Enter, pressed once too often, takes a card for it."""
    hand = table_of("blackjack", surrender="late", decks=6)
    for seat in range(1, 8):
        hand("bet", seat=seat, amount_cents=5_000)
    hand("close_bets")
    hand.cards(*"8888888", "6", *"8888888")
    for _ in range(3):
        hand("choose", seat=1, choice="split")
        hand.cards("8")
    screen = at_table(hand).open()
    assert screen.due == "choose"
    seq = screen.seq
    screen.keys("Enter")
    assert (screen.seq, screen.said) == (seq, {"code": "no_step"})
    assert serious(screen.page) == []
    is_clear(screen.page)
