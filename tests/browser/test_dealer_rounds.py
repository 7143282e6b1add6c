"""Whole rounds at the dealer's screen, by keyboard and by touch: one press for each thing that happens at the table."""

from ledger.models import Transfer
from tests.browser.conftest import AtTable, Screen, entries
from tests.floor import Hand


def test_a_round_by_keyboard(at_table: AtTable, rocket: Hand) -> None:
    screen = at_table(rocket).open()
    start = screen.seq
    screen.keys("2", "0", "Enter", "5", "0", "Enter")
    assert entries(rocket, start) == [("round", "play")] * 2
    assert screen.page.inner_text(".seat[data-seat='1'] .seat__amount") == "20"
    assert screen.page.inner_text(".seat[data-seat='2'] .seat__amount") == "50"

    bets, screen.presses = screen.seq, 0
    screen.pause()
    screen.keys("Enter")
    assert screen.asks == ("card", "seat 1")
    screen.keys("8", "4", "0")
    assert screen.asks == ("choose", "seat 1")
    screen.pause()
    screen.keys("8")
    assert screen.settling == (1, -1_600)
    screen.keys("Enter")
    assert screen.settling is None
    assert screen.asks == ("choose", "seat 2")
    screen.keys("7")
    assert screen.asks == ("card", "dealer")
    screen.keys("0")
    assert (screen.due, screen.to_pay) == ("pay", (2, 5_000))
    screen.keys("Enter")
    assert screen.due == "bets"
    assert screen.page.inner_text(".topline__round b") == "2"

    # No more inputs than there are events: each press is one entry in the log but for the loss, whose chips are taken.
    assert screen.presses == screen.seq - bets + 1 == len(entries(rocket, bets)) + 1
    nets = {one.kind: one.amount_cents for one in Transfer.objects.filter(kind__in=("loss", "win"))}
    assert nets == {"loss": 1_600, "win": 5_000}


def test_a_round_by_touch(at_table: AtTable, rocket: Hand) -> None:
    screen = at_table(rocket).open()
    start = screen.seq
    page = screen.page
    page.tap(".seat[data-seat='3'] .seat__spot")
    page.tap(".numpad [data-figure='3']")
    page.tap(".numpad [data-figure='00']")
    page.tap(".numpad [data-figure='Backspace']")
    assert page.input_value("#amount") == "30"
    screen.tap("#place")
    screen.tap("#close")
    screen.tap("#key-9")
    screen.tap("#key-10")
    assert screen.asks == ("choose", "seat 3")
    screen.tap(".choice [data-hotkey=F]")
    assert screen.due == "bets", "the last seat folded: the dealer draws nothing"
    assert screen.settling == (3, -2_700)
    assert page.inner_text(".settling .chips").split()[0] == "3"
    assert screen.presses == screen.seq - start == 5


def test_a_wrong_key_is_taken_back_and_an_unassigned_key_changes_nothing(at_table: AtTable, rocket: Hand) -> None:
    """Harm: a wrong card stays with a seat; a key next to the right one records an input without a message; or the cut
    card comes out, no key records it, and dealing from the shoe continues."""
    rocket.bets(seat1=2_000)
    screen = at_table(rocket).open()
    start = screen.seq
    screen.keys("8", "Backspace")
    assert screen.asks == ("card", "seat 1")
    screen.keys("f")
    assert screen.said == {"code": "no_meaning", "key": "F"}
    screen.keys("x", "Enter", "ArrowLeft", "Escape")
    assert screen.seq == start + 2
    screen.keys("9")
    assert screen.said == {}
    assert entries(rocket, start) == [("round", "play"), ("round", "take_back"), ("round", "play")]
    assert screen.cards(".seat[data-seat='1']") == ["9"]
    screen.keys("c")
    assert screen.page.is_visible(".shoe .tag--now")
    assert entries(rocket)[-1] == ("shoe", "cut_card_out")


def test_every_step_of_the_shoe_is_prompted(at_table: AtTable, rocket: Hand) -> None:
    """Harm: Enter confirms a deck that nobody counted; or what was counted is lost with a refusal."""
    screen = at_table(rocket).open()
    start = screen.seq
    screen.page.click(".menu summary")
    screen.tap("[data-does=retire_shoe]")
    dues = []
    while screen.due != "bets":
        dues.append(screen.due)
        screen.pause()
        if screen.due == "check":
            a_column_is_off(screen)
        screen.keys("Enter")
    assert dues == ["load", "check", "shuffle", "cut", "burn"]
    assert screen.seq - start == 7, "six steps, and the check that was off"


def a_column_is_off(screen: Screen) -> None:
    """By keyboard, up to the last column's Enter."""
    screen.type("Enter")
    screen.pause()
    screen.count_columns()
    assert screen.page.input_value("#count10") == "10"
    screen.page.fill("#count7", "6")
    drawn = screen.key
    screen.page.keyboard.press("Enter")
    screen.settle(drawn)
    assert screen.refused == "decks_not_whole"
    assert screen.page.input_value("#count7") == "6"
    screen.page.fill("#count7", "7")
    screen.pause()
