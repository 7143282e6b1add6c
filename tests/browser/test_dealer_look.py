"""What a screen must be whatever is on it: accessible, large enough to touch, in one piece without scrolling."""

from collections.abc import Callable
from typing import Any

import pytest

from tables.models import Table
from tests import floor
from tests.accessibility import serious
from tests.browser.conftest import PORTRAIT, AtTable, Screen
from tests.fixtures.browser import LAPTOP
from tests.floor import Hand
from tests.layout import fits, fits_width, overlapping, small

VIEWPORTS = (LAPTOP, PORTRAIT, {"width": 1366, "height": 650})


def bets(hand: Hand, screen: Screen) -> None:
    hand("bet", seat=1, amount_cents=2_000)


def refused_bet(hand: Hand, screen: Screen) -> None:
    screen.open()
    screen.keys("7", "5", "Enter")


def deal(hand: Hand, screen: Screen) -> None:
    hand.bets(**{f"seat{seat}": 36_000 + 1_000 * seat for seat in range(1, 7)})


def decide(hand: Hand, screen: Screen) -> None:
    deal(hand, screen)
    hand.cards(8, 4, 10, 9, 5, 6, 10)


def outcome(hand: Hand, screen: Screen) -> None:
    decide(hand, screen)
    hand.cards(8)


def long_stacks(hand: Hand, screen: Screen) -> None:
    """Six seats and the dealer with seven cards each, which is more than most dealers will ever see."""
    deal(hand, screen)
    for each in range(7):
        hand.cards(*((each + 2 * seat) % 10 + 1 for seat in range(6)), (10, 9, 8, 7, 6, 5, 4)[each])
    hand.cards(9, 1)


def pay(hand: Hand, screen: Screen) -> None:
    decide(hand, screen)
    hand.cards(7, 5, 7, 7, 6, 7, 10)
    hand("paid", seat=6)


def again(hand: Hand, screen: Screen) -> None:
    pay(hand, screen)
    hand.pay()


def refused_again(hand: Hand, screen: Screen) -> None:
    again(hand, screen)
    refused_bet(hand, screen)


def load(hand: Hand, screen: Screen) -> None:
    hand("retire_shoe")


def check(hand: Hand, screen: Screen) -> None:
    load(hand, screen)
    hand("load_shoe")


def wrong_check(hand: Hand, screen: Screen) -> None:
    check(hand, screen)
    screen.open()
    for rank in range(1, 11):
        screen.page.fill(f"#count{rank}", "1" if rank in (2, 4, 7, 9) else str(6 * rank))
    screen.tap("[data-does=check_decks]")


def shut(hand: Hand, screen: Screen) -> None:
    decide(hand, screen)
    screen.open()
    start = screen.seq
    screen.hold()
    screen.type("1", "1")
    screen.let_go()
    screen.page.wait_for_selector("#go-on")
    screen.at(start + 1)


def offline(hand: Hand, screen: Screen) -> None:
    decide(hand, screen)
    screen.page.route("**/input", lambda route: route.abort())  # before the page: none can slip through as it begins
    screen.open()
    screen.page.keyboard.press("1")
    screen.page.wait_for_selector("#line")


def retire(hand: Hand, screen: Screen) -> None:
    Table.objects.filter(pk=hand.table.pk).update(source="house")
    hand.table.refresh_from_db()


def house_deal(hand: Hand, screen: Screen) -> None:
    retire(hand, screen)
    hand("retire_shoe")
    hand("load_shoe")
    deal(hand, screen)


def house_choose(hand: Hand, screen: Screen) -> None:
    house_deal(hand, screen)
    hand("deal")


CLIPPED = """() => {
  const parts = ".seat .card, .seat .chips, .seat__plate, .prompt, .hands, .house .card, .shoe";
  const felt = document.querySelector(".felt").getBoundingClientRect();
  const inside = (box, left, top, right, bottom) =>
    box.left >= left - 1 && box.top >= top - 1 && box.right <= right + 1 && box.bottom <= bottom + 1;
  return [...document.querySelectorAll(`#board button, ${parts}`)]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".menu__sheet"))
    .filter((one) => {
      const box = one.getBoundingClientRect();
      if (!inside(box, 0, 0, innerWidth, innerHeight)) return true;
      return one.closest(".felt") && !inside(box, felt.left, felt.top, felt.right, felt.bottom);
    })
    .map((one) => `${one.tagName}.${one.getAttribute("class")} ${one.textContent.trim().slice(0, 30)}`);
}"""

ON_THE_FELT = ".seat__spot, .seat__again, .prompt, .hands, .house__cards, .shoe"


SIZES = tuple(
    {"width": width, "height": height}
    for width, height in ((1280, 800), (1024, 768), (1080, 810), (1112, 834), (800, 1280), (1440, 900))
)
ENLARGED = ({"width": 640, "height": 400}, {"width": 512, "height": 384})
"""Windows of 1280 by 800 and 1024 by 768 at twice the size."""

KEYS = "#board :is(button, a.button, summary, .input):not([data-sheet] > :not(summary), [data-sheet] > :not(summary) *)"

OUTSIDE = """(keys) => [...document.querySelectorAll(keys)]
  .filter((key) => key.checkVisibility({ visibilityProperty: true }))
  .filter((key) => {
    const box = key.getBoundingClientRect();
    return box.left < -1 || box.right > innerWidth + 1 || box.top + scrollY < -1
      || box.bottom > Math.max(innerHeight, document.documentElement.scrollHeight - scrollY) + 1;
  })
  .map((key) => `${key.className} ${key.innerText.trim().slice(0, 20)}`)"""


IN_EVERY_RUN = (refused_bet, long_stacks)
FURTHER = (
    retire,
    house_deal,
    house_choose,
    bets,
    deal,
    decide,
    outcome,
    pay,
    again,
    refused_again,
    load,
    check,
    wrong_check,
    shut,
    offline,
)
DRAWN_BY_NOW = (refused_bet, refused_again, wrong_check, shut, offline)
SHOW_MANY_KEYS = (refused_bet, bets, decide, pay, again, check, load, house_choose)
A_FURTHER_STATE = pytest.mark.trial("a further state of the same screen")


def show(at_table: AtTable, state: Callable[[Hand, Screen], None]) -> Screen:
    hand, _ = floor.dealt(options={"decks": 6}, max_cents=50_000)
    screen = at_table(hand)
    state(hand, screen)
    return screen if state in DRAWN_BY_NOW else screen.open()


@pytest.mark.parametrize(
    "state",
    [*IN_EVERY_RUN, *(pytest.param(state, marks=A_FURTHER_STATE) for state in FURTHER)],
    ids=lambda state: state.__name__,
)
def test_the_screen_can_be_seen_reached_and_read(at_table: AtTable, state: Any) -> None:
    """Harm: a card lies under another or beside the felt; a key is too small for a finger, or says nothing to whoever
    hears the screen."""
    page = show(at_table, state).page
    for viewport in VIEWPORTS:
        page.set_viewport_size(viewport)
        assert fits(page), viewport
        assert page.evaluate(CLIPPED) == [], viewport
        assert overlapping(page, ON_THE_FELT, allowed=4) == [], viewport
        assert small(page, "button, summary, a.button, .input, label.seat__spot") == [], viewport
        assert small(page, ".cardkey", least=64) == [], viewport
        assert serious(page) == []
    if state in SHOW_MANY_KEYS:
        no_key_covers_another(page)


def no_key_covers_another(page: Any) -> None:
    for viewport in (*SIZES, *ENLARGED):
        page.set_viewport_size(viewport)
        assert overlapping(page, KEYS) == [], viewport
        assert page.evaluate(OUTSIDE, KEYS) == [], viewport
        assert fits_width(page), viewport
        if viewport in ENLARGED:
            assert overlapping(page, ON_THE_FELT, allowed=4) == [], viewport


def six_bets() -> Hand:
    hand = floor.dealt(options={"decks": 6}, max_cents=50_000)[0]
    for seat in range(1, 7):
        hand("bet", seat=seat, amount_cents=36_000 + 1_000 * seat)
    return hand


def pot() -> Hand:
    return floor.for_pot("starboard", seats=dict.fromkeys(range(1, 5), 5_000))[0]


def wagers() -> Hand:
    return floor.dealt(name="Table 1", game="baccarat", seats=7, max_cents=50_000, options={})[0]


@pytest.mark.trial(
    "the same of further felts",
    covered_by="tests/browser/test_dealer_look.py::test_the_screen_can_be_seen_reached_and_read",
)
@pytest.mark.parametrize("felt", [six_bets, pot, wagers], ids=lambda felt: felt.__name__)
def test_no_key_covers_another(at_table: AtTable, felt: Callable[[], Hand]) -> None:
    """Harm: "No more bets" lies over "Place", and the bet that is placed by touch closes the bets."""
    no_key_covers_another(at_table(felt()).open().page)
