"""How many keys and taps a whole round takes, against what happens at the table: six seats of Rocket, two of which lose
on the way."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests import floor
from tests.browser.conftest import Screen
from tests.floor import Hand

Come = Callable[..., Screen]

BETS = (30, 70, 20, 50, 100, 100)
FIRST_CARDS = (10, 9, 8, 7, 6, 5, 7)
TURNS: tuple[int | str, ...] = (9, "fold", 10, 7, 5, 6, 7)
"""Seat 2 folds, seat 4 pairs its 7, and the dealer pairs it for the others."""
LOSSES, PAYMENTS = 2, 4
EVENTS = len(BETS) + 1 + len(FIRST_CARDS) + len(TURNS) + LOSSES + PAYMENTS
"""What happens at the table, the closing of the bets with it."""


@dataclass
class ByKeyboard:
    screen: Screen

    def bet(self, amount: int) -> None:
        self.press(str(self.screen.page.get_attribute(f".likely [value='{amount}']", "data-hotkey")))

    def same_bets(self) -> None:
        self.press("r")

    def card(self, rank: int) -> None:
        self.press(str(rank % 10))

    def fold(self) -> None:
        self.press("f")

    def go_on(self) -> None:
        """The next step: no more bets, or a seat is done."""
        self.press("Enter")

    def press(self, key: str) -> None:
        if key == self.screen.pressed:
            self.screen.pause()
        self.screen.keys(key)


@dataclass
class ByTouch:
    screen: Screen

    def bet(self, amount: int) -> None:
        self.tap(f".likely [value='{amount}']")

    def same_bets(self) -> None:
        self.tap("#same")

    def card(self, rank: int) -> None:
        self.tap(f"#key-{rank}")

    def fold(self) -> None:
        self.tap(".choice [data-hotkey=F]")

    def go_on(self) -> None:
        if not self.screen.settling:
            self.tap("#close, .steps:not(.settle) button")
            return
        self.screen.pause()
        self.screen.page.tap("#settled")
        self.screen.presses += 1

    def tap(self, selector: str) -> None:
        self.screen.pause()
        self.screen.tap(selector)


Way = ByKeyboard | ByTouch


def inputs_of(way: Way, place: Callable[[], None]) -> int:
    """Play a round, whose bets are placed so: the keys and taps that it took."""
    screen, before = way.screen, way.screen.presses
    place()
    way.go_on()
    for rank in FIRST_CARDS:
        way.card(rank)
    for turn in TURNS:
        way.fold() if isinstance(turn, str) else way.card(turn)
        if screen.settling:
            way.go_on()
    while screen.due == "pay":
        way.go_on()
    assert screen.due == "bets"
    return screen.presses - before


@pytest.mark.trial(
    "measures two whole rounds",
    covered_by="tests/browser/test_dealer_bets.py::test_bets_are_one_key_each_or_one_for_all_that_are_the_same",
)
@pytest.mark.parametrize("by", [ByKeyboard, ByTouch])
def test_a_round_takes_hardly_more_inputs_than_it_has_events(
    at_table: Come, transactional_db: None, by: type[Way]
) -> None:
    """Harm: bets are a tax on the game: 22 taps of 41 were for six bets, and every round is shorter by two hands."""
    hand: Hand = floor.dealt(options={"decks": 2})[0]
    screen = at_table(hand).open()
    way = by(screen)

    def new_bets() -> None:
        for amount in BETS:
            way.bet(amount)
        assert [box.bet_cents for box in hand.board.seats] == [amount * 100 for amount in BETS]

    first = inputs_of(way, new_bets)
    same = inputs_of(way, way.same_bets)
    print(f"\n{by.__name__}: {EVENTS} events, {first} inputs with new bets, {same} with the same ones")
    assert EVENTS == 27
    assert first == EVENTS, "each bet is one input"
    assert same == EVENTS - len(BETS) + 1, "all of them are one"
