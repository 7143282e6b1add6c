"""The interface of games: a core common to all, and the kinds of game.

In a banked game every seat bets against the casino. In a player-pool game the players are dealt one game together and
pay each other. A non-tracked game (`counted.py`) is not dealt in this system. The base class has the kind of a game;
features of one kind belong to the base class of that kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from tables.games.cards import Composition, Pack
from tables.games.pays import NO_FORM, PayForm
from tables.games.protocol import (
    Action,
    Card,
    Money,
    Opening,
    Payment,
    Payout,
    Phrase,
    Prompt,
    Reason,
    Settled,
    Struct,
    View,
)


class RoundPlay(Protocol):
    """A round in progress, changed by each action: only its caller may hold a reference to it.

    The rules of a game are written once, as what an action changes here. A state is an immutable picture, made when one
    is needed and not after each action.
    """

    prompts: tuple[Prompt, ...]
    """The open prompts; empty when the round is over."""

    def take(self, action: Action) -> None:
        """Continue with an action that an open prompt admits."""

    def state(self) -> Any:
        """An immutable picture of the round as it is now."""


class Picture(Struct, frozen=True):
    """A round between two actions: base of the states of all games."""

    prompts: tuple[Prompt, ...]
    """The open prompts; empty when the round is over."""


State = TypeVar("State", bound=Picture)
Rules = TypeVar("Rules")

Result = TypeVar("Result")
Script = Generator[tuple[Prompt, ...], Action, Result]
"""Part of a scripted game: yields the open prompts, is sent the action that answered, and returns the part's result."""

Kind = Literal["banked", "pot", "counted"]
"""Key of a kind of game. Code that treats kinds differently has an object for each and selects it by this key."""

# --- A game as data: for the screens that deal it, and for the pages that explain it ---------------------------

Part = Literal["stack", "hand", "middle", "facedown", "pot", "button", "score", "kept", "columns", "hands"]
"""What a game's layout may show: faceup cards of each seat (stack), facedown ones (hand), shared faceup and facedown
cards, the pot, the button, points, cards kept for points, columns of each seat, and hands in front of the dealer."""

Due = Literal["seat", "down", "middle", "turn", "apart", "shuffle"]
"""What may be due from the deck: a card for a seat, a facedown one, one in the middle, the turning of a facedown card,
one of a few shuffled separately; or a shuffle."""


class Words(Struct, frozen=True):
    """The wording of a choice: its button, the dealer's action for it, and the rule behind it."""

    label: str
    does: str
    rule: str
    of: Literal["hand", "middle", "stack", "columns"] = "hand"
    """Place of the cards that it names."""


Wording = str | Callable[..., str]
"""A clause with the names of a reason's facts in braces, or a function of the facts."""


class Wager(Struct, frozen=True):
    """A bet that a seat may place before the cards, of those that a game has."""

    name: str
    title: str
    needs: str = ""
    """The wager that it requires; "" if it may be placed without another."""
    opposite: str = ""
    """Another wager that one seat cannot have together with this one."""
    times: int = 1
    """Multiple of the wager that the casino may have to cover for further wagers that it may not refuse."""


# --- What all games have in common -----------------------------------------------------------------------------


class Game(ABC, Generic[State, Rules]):
    """A game: pure functions of an immutable state. Every one is of one kind."""

    kind: ClassVar[Kind]
    version: ClassVar[int] = 1
    """Version of the rules. A change that alters the result of any round increases it: rounds name the version they
    were dealt under, and a proof reports rounds of another version."""
    name: ClassVar[str]
    title: ClassVar[str]
    names: ClassVar[Mapping[str, str]] = {}
    """A record's own names for the parts of a decision, if they differ from its field names: {"from": "target"}."""
    carries: ClassVar[frozenset[str]]
    """The keys of a round record's carried-in state that this game has a use for."""
    seat_counts: ClassVar[range]
    """Numbers of seats with which it is played."""
    parts: ClassVar[Mapping[Part, str]]
    """The parts of its layout, with their names in this game."""
    words: ClassVar[Mapping[str, Words]]
    """Its choices, by name, in the dealer's words."""
    cards: ClassVar[Mapping[Due, str]]
    """The rule behind each thing that may be due from its deck."""
    outcomes: ClassVar[tuple[str, ...]]
    """The outcomes of a seat."""
    reasons: ClassVar[Mapping[str, Wording]]
    """Why that happens, by code: entries hold codes and facts, and this is how people read them."""
    rules_type: type[Rules]
    hides: ClassVar[bool]
    """Whether a seat may hold cards hidden from all others."""
    looks: ClassVar[bool] = False
    """Whether seats look at packets of their own, which lie facedown until all have decided."""
    step_units: ClassVar[int] = 1
    """Bets, or stakes of a pot, are multiples of this number of chip units."""
    spots: ClassVar[tuple[str, ...]] = ()
    """The wagers with separate spots at a seat, including further ones; empty if a seat has one bet."""
    further: ClassVar[frozenset[str]] = frozenset()
    """Those of them that are put up in mid-round."""
    pay_form: ClassVar[PayForm] = NO_FORM
    """The wagers paid by a pay table, and the odds that an operator may set in it."""
    rounds_after_cut: ClassVar[int] = 0
    """Rounds dealt after the one in which the cut card came out."""
    dealer_plays: ClassVar[bool]
    """Whether the dealer has cards too: a page then shows them in the place of the pot."""

    def called(self, options: Mapping[str, Any]) -> str:
        """Title of the game at a table with these options."""
        return self.title

    def usual_hold(self, options: Mapping[str, Any]) -> str:
        """Usual win by drop at a table, as the casino states it; "" if it states none."""
        return ""

    def limited_wagers(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The wagers that may have limits of their own at a table: all that a seat may place before the cards."""
        return tuple(wager for wager in self.spots if wager not in self.further)

    def faults(self, rules: Rules) -> str:
        """Why options that are each valid are not valid together; "" if they are."""
        return ""

    @abstractmethod
    def open(self, rules: Rules, opening: Opening) -> State:
        """A new round. Raises Illegal when the opening is impossible."""

    def prompts(self, state: State) -> tuple[Prompt, ...]:
        """The open prompts; empty when the round is over."""
        return state.prompts

    def apply(self, state: State, action: Action) -> State:
        """The state after an action that an open prompt admits (``play.play`` sees to that)."""
        round_play = self.play(state)
        round_play.take(action)
        after: State = round_play.state()
        return after

    @abstractmethod
    def play(self, state: State) -> RoundPlay:
        """A round in progress from a state on, for a caller that plays several actions."""

    @abstractmethod
    def settle(self, state: State) -> tuple[Payout, ...]:
        """The payouts decided so far, in seat order; all of them once the round is over."""

    @abstractmethod
    def view(self, state: State, viewer: int | None) -> View:
        """What `viewer` (a seat, the dealer 0, or None for the public) may see of a round."""

    @abstractmethod
    def say(self, state: State, prompt: Prompt, money: Money) -> Phrase:
        """The prompt in the dealer's words."""

    def explain(self, decided: Payout | Settled) -> str:
        """Why a wager or a seat ended as it did, as a clause."""
        if isinstance(decided, Payout) and decided.wagers:
            return "; ".join(f"{wager.bet.replace('_', ' ')}: {self.explain(wager)}" for wager in decided.wagers)
        return decided.why if isinstance(decided.why, str) else ", ".join(map(self._clause, decided.why))

    def _clause(self, reason: Reason) -> str:
        wording = self.reasons[reason.code]
        return wording.format(**reason.facts) if isinstance(wording, str) else wording(**reason.facts)

    @abstractmethod
    def gone(self, state: State) -> Composition:
        """Cards gone from the shoe since its last shuffle, including those of this round."""

    @abstractmethod
    def cards_left(self, state: State) -> int:
        """How many cards can still be dealt before the shoe is empty."""

    def in_dealt_order(self, cards: Sequence[Card]) -> list[int]:
        """A round's cards as a record lists them, given in the order in which they were turned."""
        return [card.rank for card in cards]

    @abstractmethod
    def decks(self, rules: Rules) -> int:
        """How many decks it is dealt from."""

    @abstractmethod
    def burned(self, rules: Rules) -> int:
        """Number of cards burned after a shuffle."""

    def lying(self, state: State, seat: int) -> tuple[int, ...]:
        """For each facedown card of a seat: the number of cards in the shoe when it was dealt."""
        return ()

    def is_fresh_each_round(self, rules: Rules) -> bool:
        """Whether the cards are shuffled before every round."""
        return False


# --- The kinds that are dealt ----------------------------------------------------------------------------------


class BankedGame(Game[State, Rules]):
    """Each seat bets against the casino, round after round out of one shoe, down to the cut card.

    The system has no hidden information: a facedown card is unknown to it until it is turned.
    """

    kind: ClassVar[Literal["banked"]] = "banked"
    hides: ClassVar[bool] = False
    dealer_plays: ClassVar[bool] = True
    side_by_side: ClassVar[bool] = False
    """Whether a seat may have several wagers or hands: records and payouts then list them one by one."""
    turns_burn: ClassVar[bool] = False
    """Whether the first card of a shoe is turned, and determines how many are burned."""

    @abstractmethod
    def pack(self, rules: Rules) -> Pack:
        """The pack, which distinguishes cards no further than the rules need."""

    @abstractmethod
    def wagers(self, rules: Rules) -> tuple[Wager, ...]:
        """The wagers offered under these rules, in order."""

    def takes_commission(self, rules: Rules) -> bool:
        """Whether a wager's winnings have a commission, which a table may mark and collect later."""
        return False

    def burned_on(self, turned: int) -> int:
        """Number of cards burned after the turned one, in games that turn one."""
        return 0

    def unseen(self, state: State) -> int:
        """Unseen cards that left the shoe since its shuffle, if the rules do not determine the number."""
        return 0

    @abstractmethod
    def at_cut(self, rules: Rules) -> int:
        """With how many cards left the cut card comes out."""

    @abstractmethod
    def burning(self, rules: Rules, burn: int) -> Rules:
        """The rules with the burn that was really made."""


class PotGame(Game[State, Rules]):
    """The players are dealt one game together, and pay a pot and each other in coins, or play for points."""

    kind: ClassVar[Literal["pot"]] = "pot"
    hides: ClassVar[bool] = True
    dealer_plays: ClassVar[bool] = False
    coins: ClassVar[bool] = True
    """Whether the game has payments."""

    @abstractmethod
    def pot(self, state: State) -> int:
        """The coins in the pot; once the game is over, those that remain for the next."""

    @abstractmethod
    def payments(self, state: State) -> tuple[Payment, ...]:
        """The coins that changed hands so far, in order."""
