"""Non-tracked tables, whose games are not entered round by round: roulette, craps, pai gow, a trial game.

The operator names the game. Its win is known by counts. The wagers that the operator describes are text for limits and
the placard: no payout depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NoReturn

from msgspec import Meta

from tables.games.cards import PAIRS, Composition
from tables.games.game import Due, Game, Part, Picture, Words
from tables.games.protocol import Illegal, Money, Opening, Payout, Phrase, Prompt, Struct, View

MOST_WAGERS = 40
Permille = Annotated[int, Meta(ge=-1000, le=1000)]
_USUAL = "The usual hold, win by drop, as the house states it: {}. Figures show it beside the day's. Both, or none."


class StatedWager(Struct, frozen=True):
    """A wager as the operator words it."""

    name: Annotated[str, Meta(min_length=1, max_length=40)]
    pays: Annotated[str, Meta(max_length=40)] = ""
    """As text: 35 to 1."""
    edge: Annotated[str, Meta(max_length=20)] = ""
    """The casino's own statement of its mean win: 2.70 %."""


class CountedRules(Struct, frozen=True):
    """The operator's description of the game."""

    called: Annotated[
        str, Meta(min_length=1, max_length=40, description="The game, as signs and screens name it: Roulette.")
    ] = "Roulette"
    wagers: Annotated[tuple[StatedWager, ...], Meta(max_length=MOST_WAGERS)] = ()
    hold_from_permille: Annotated[Permille | None, Meta(description=_USUAL.format("at least"))] = None
    hold_to_permille: Annotated[Permille | None, Meta(description=_USUAL.format("at most"))] = None


class Counted(Game[Picture, CountedRules]):
    """A game without rounds: it refuses to open one."""

    kind: ClassVar[Literal["counted"]] = "counted"
    name: ClassVar[str] = "counted"
    title: ClassVar[str] = "Another game, by its counts"
    carries: ClassVar[frozenset[str]] = frozenset()
    seat_counts: ClassVar[range] = range(1, 9)
    parts: ClassVar[Mapping[Part, str]] = {}
    words: ClassVar[Mapping[str, Words]] = {}
    cards: ClassVar[Mapping[Due, str]] = {}
    outcomes: ClassVar[tuple[str, ...]] = ()
    rules_type = CountedRules
    hides: ClassVar[bool] = False
    dealer_plays: ClassVar[bool] = False

    def called(self, options: Mapping[str, Any]) -> str:
        return str(options.get("called", CountedRules().called))

    def limited_wagers(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(str(wager["name"]) for wager in options.get("wagers", ()))

    def faults(self, rules: CountedRules) -> str:
        names = [wager.name.casefold() for wager in rules.wagers]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            return f"There are two wagers called {twice[0]}: name each once."
        low, high = rules.hold_from_permille, rules.hold_to_permille
        if (low is None) is not (high is None) or (low is not None and high is not None and low >= high):
            return "The usual hold is from a lower to a higher part of the drop; or both are left empty."
        return ""

    def usual_hold(self, options: Mapping[str, Any]) -> str:
        low, high = options.get("hold_from_permille"), options.get("hold_to_permille")
        return "" if low is None or high is None else f"{low / 10:g} to {high / 10:g} %"

    def open(self, rules: CountedRules, opening: Opening) -> Picture:
        raise no_rounds()

    def play(self, state: Picture) -> NoReturn:
        raise no_rounds()

    def settle(self, state: Picture) -> tuple[Payout, ...]:
        raise no_rounds()

    def view(self, state: Picture, viewer: int | None) -> View:
        raise no_rounds()

    def say(self, state: Picture, prompt: Prompt, money: Money) -> Phrase:
        raise no_rounds()

    def gone(self, state: Picture) -> Composition:
        return PAIRS.nothing

    def cards_left(self, state: Picture) -> int:
        return 0

    def decks(self, rules: CountedRules) -> int:
        return 0

    def burned(self, rules: CountedRules) -> int:
        return 0


def no_rounds() -> Illegal:
    """The refusal to enter a round at a non-tracked table."""
    return Illegal("no_rounds", "no rounds are entered at this table: its win is known by its counts")
