"""What somebody has open or half typed stays theirs, whatever happens at the table meanwhile."""

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest

from tables.floor.inputs import BeginSlip, SignSlip
from tests import floor
from tests.accessibility import serious
from tests.browser.conftest import AtTable, Screen, entries
from tests.floor import CREW, Hand
from tests.tiers import sampled


def bets() -> Hand:
    return floor.dealt()[0]


def decision() -> Hand:
    hand = bets()
    hand.bets(seat1=2_000)
    hand.cards(8, 9)
    return hand


def columns() -> Hand:
    hand = bets()
    hand("retire_shoe")
    hand("load_shoe")
    return hand


def chips_of_a_pot() -> Hand:
    return floor.for_pot("pairs", seats={1: 5_000, 2: 5_000})[0]


def wagers() -> Hand:
    return floor.dealt(name="Table 1", game="baccarat", seats=7, max_cents=50_000, options={})[0]


def count_of_many() -> Hand:
    hand = floor.for_pot("blackstone", seats={1: 5_000, 2: 5_000})[0]
    hand("start_game", seats=[1, 2])
    hand.cards(4, 7)
    return hand


STATES = (bets, decision, columns, chips_of_a_pot, wagers, count_of_many)


def news_of(hand: Hand) -> Iterator[None]:
    """Something happens at the table that is not the dealer's: steps of a fill, again and again."""
    for stage in cycle(CREW):
        slips = [slip for slip in hand.now.slips if slip.series.name == "fill"]
        entered = SignSlip(slips[-1].name, stage) if slips else BeginSlip("fill", ((100, 100),))
        signer = hand.by if stage == "received" else floor.crew(stage)
        floor.signs(hand.table, signer, entered)
        yield


@pytest.mark.parametrize(
    "state", sampled(STATES, "news from elsewhere meets each field of a screen"), ids=lambda state: state.__name__
)
def test_a_figure_goes_where_the_one_before_it_went(at_table: AtTable, state: Any) -> None:
    """Harm: an amount is half typed, a slip is signed elsewhere, and the next figure is a card or a bet."""
    hand = state()
    screen, news = at_table(hand).open(), news_of(hand)
    page = screen.page
    for sheet in page.query_selector_all("[data-sheet]"):
        sheet.evaluate("sheet => { sheet.open = true }")
        check_fields(hand, screen, sheet.query_selector_all(".input"), news)
        sheet.evaluate("sheet => { sheet.open = false }")
    check_fields(hand, screen, page.query_selector_all("#board .input"), news)


def check_fields(hand: Hand, screen: Screen, fields: list[Any], news: Iterator[None]) -> None:
    for field in fields:
        if not field.is_visible():
            continue
        field.fill("")
        field.focus()
        screen.page.keyboard.press("1")
        begun = hand.now.seq
        next(news)
        screen.at(begun + 1)
        screen.page.keyboard.press("2")
        assert field.input_value() == "12"
        assert hand.now.seq == begun + 1
        assert field.evaluate("field => field === document.activeElement")
        if field.evaluate("field => Boolean(field.form)"):
            drawn = field.evaluate("field => [field.form.elements.seq.value, field.form.elements.key.value]")
            assert drawn == [str(begun + 1), screen.key]
        field.fill("")


def test_an_open_menu_stays_open_and_its_keys_are_not_the_felts(at_table: AtTable) -> None:
    """Harm: the menu of a dealer who is about to take cash shuts by itself, and the amount is dealt."""
    hand = decision()
    screen, news = at_table(hand).open(), news_of(hand)
    screen.page.click("#menu summary")
    next(news)
    screen.at(hand.now.seq)
    assert screen.page.get_attribute("#menu", "open") is not None
    seq = screen.seq
    screen.type("1", "Backspace", "f", "c")
    assert screen.said == {"code": "keyboard_elsewhere"}
    assert serious(screen.page) == []
    screen.type("Escape")
    assert screen.page.get_attribute("#menu", "open") is None
    screen.keys("1")
    assert hand.board.seats[0].stack == (8, 1)
    assert entries(hand, seq) == [("round", "play")]


@pytest.mark.trial(
    "a further kind of half input",
    covered_by="tests/browser/test_dealer_typing.py::test_half_a_card_goes_on_with_its_suit",
)
def test_half_a_count_goes_on_and_is_entered_whole(at_table: AtTable) -> None:
    """Harm: of a count of two figures the first is entered alone, or lost when a slip is signed elsewhere."""
    hand = count_of_many()
    screen, news = at_table(hand).open(), news_of(hand)
    screen.keys("1")
    next(news)
    screen.at(hand.now.seq)
    screen.keys("2")
    assert screen.page.inner_text(".pane__count").startswith("12")
    screen.keys("Enter")
    assert hand.now.round.plays[-1].actions[0].count == 12


def test_half_a_card_goes_on_with_its_suit(at_table: AtTable) -> None:
    """Harm: a rank is keyed, the pane of suits shuts by itself, and its suit is taken for a choice; or the hand that is
    keyed cannot be told from the others."""
    hand = floor.dealt(name="Table 1", game="three_card_poker", seats=3, options={})[0]
    hand("bet", seat=1, amount_cents=1_000, wager="ante")
    hand("close_bets")
    screen, news = at_table(hand).open(), news_of(hand)
    if screen.page.query_selector(".choice [data-hotkey=P]"):
        screen.keys("p")
    screen.keys("k")
    next(news)
    screen.at(hand.now.seq)
    assert screen.page.get_attribute(".pane.is-open", "data-pane") == "suits-K"
    assert screen.page.locator(".hand--now").count() == 1
    seq = screen.seq
    screen.keys("h")
    assert entries(hand, seq) == [("round", "play")]
    assert hand.now.round.game.pack(hand.now.round.rules).spell(hand.now.round.plays[-1].actions[0].rank) == "Kh"


def test_a_field_that_goes_away_gives_its_figures_to_nobody(at_table: AtTable) -> None:
    """Harm: half a bet is typed, a second screen closes the bets, and the next figure is the first seat's card."""
    hand = bets()
    hand("bet", seat=1, amount_cents=2_000)
    screen = at_table(hand).open()
    screen.keys("5")
    hand("close_bets")
    screen.at(hand.now.seq)
    seq = screen.seq
    screen.type("0", "8")
    assert screen.said == {"code": "amount_dropped", "amount": "5"}
    screen.type("Enter")
    screen.keys("8")
    assert hand.board.seats[0].stack == (8,)
    assert entries(hand, seq) == [("round", "play")]
