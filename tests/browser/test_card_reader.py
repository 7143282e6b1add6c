"""The dealer's screen with a card reader: the reader's state, and a card on which dealer and reader differ."""

from tables.roles import Role
from tests import floor
from tests.accessibility import violations
from tests.browser.conftest import AtTable
from tests.floor import Hand
from tests.tables.floor.test_card_readers import Device

READER_MS = 8_000
"""How often the screen requests the state of the reader."""


def test_where_reader_and_dealer_differ_the_prompt_names_both(at_table: AtTable) -> None:
    """Harm: the round stops and the dealer sees neither the reason nor the next step; or the screen parses the response
    to its periodic reader-state request as a board and reports a lost connection."""
    hand: Hand = floor.dealt(options={"decks": 2})[0]
    device = Device(hand.table, floor.staff(Role.OPERATOR, "olga"))
    device.starts()
    hand("bet", seat=1, amount_cents=1_000)
    hand("close_bets")
    screen = at_table(hand).open()
    device.reads(9)
    screen.at(hand.now.seq)
    assert screen.page.get_attribute("#reader", "data-state") == "live"
    with screen.page.expect_response("**/reader"):
        screen.page.clock.fast_forward(READER_MS)
    assert screen.page.is_hidden("#line")
    screen.keys("7")
    screen.page.wait_for_selector("#board[data-due='reader']")
    assert violations(screen.page) == []
    screen.keys("k")
    screen.page.wait_for_selector("#reader[data-state='taken']")
    assert screen.page.get_attribute("#reader-press", "data-does") == "give_back_reader"
