"""The dealer's screen beside a card reader: how many keys a round takes, and what is said where the two differ."""

from collections.abc import Callable

import pytest

from tables.roles import Role
from tests import floor
from tests.accessibility import violations
from tests.browser.conftest import Screen
from tests.browser.test_dealer_counts import BETS, FIRST_CARDS, ByKeyboard
from tests.floor import Hand
from tests.tables.play.test_readers import Device

Come = Callable[..., Screen]
READER_MS = 8_000
"""How often the screen asks how the reader stands."""


@pytest.mark.trial(
    "measures a whole round",
    covered_by="tests/tables/play/test_readers.py::test_a_six_seat_round_takes_a_third_of_the_inputs",
)
def test_a_round_with_a_reader_takes_a_third_of_the_keys(at_table: Come, transactional_db: None) -> None:
    """Harm: the cards come by themselves, and the screen still waits for a key after each of them."""
    hand: Hand = floor.dealt(options={"decks": 2})[0]
    device = Device(hand.table, floor.staff(Role.OPERATOR, "olga"))
    device.starts()
    screen = at_table(hand).open()
    way = ByKeyboard(screen)

    def reads(*cards: int) -> None:
        device.reads(*cards)
        screen.page.wait_for_selector(f"#board[data-seq='{hand.now.seq}']")

    before = screen.presses
    for amount in BETS:
        way.bet(amount)
    way.go_on()
    reads(*FIRST_CARDS)
    assert screen.page.get_attribute("#reader", "data-state") == "live"
    with screen.page.expect_response("**/reader"):
        screen.page.clock.fast_forward(READER_MS)
    assert screen.page.is_hidden("#line"), "how the reader stands is asked every few seconds: its answer is no board"
    reads(9)
    way.fold()
    reads(10, 7, 5, 6, 7)
    way.press("p")
    assert screen.due == "bets"
    assert screen.presses - before == 9, "27 by key"


def test_where_reader_and_dealer_differ_the_prompt_names_both(at_table: Come, transactional_db: None) -> None:
    """Harm: the round stands still, and the dealer does not see why or what to do."""
    hand: Hand = floor.dealt(options={"decks": 2})[0]
    device = Device(hand.table, floor.staff(Role.OPERATOR, "olga"))
    device.starts()
    hand("bet", seat=1, amount_cents=1_000)
    hand("close_bets")
    device.reads(9)
    screen = at_table(hand).open()
    screen.keys("7")
    screen.page.wait_for_selector("#board[data-due='reader']")
    assert violations(screen.page) == []
    screen.keys("k")
    screen.page.wait_for_selector("#reader[data-state='taken']")
    assert screen.page.get_attribute("#reader-press", "data-does") == "give_back_reader"
