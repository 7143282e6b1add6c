"""The content of a player page: what this seat may see of the game, and its choices now."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID, uuid4

from tables.floor import shoes
from tables.floor.inputs import spell
from tables.games.cards import pack_of
from tables.games.catalog import GAMES
from tables.games.game import Words
from tables.games.play import prompts_for
from tables.games.protocol import AskChoice, Choice, Choose, HandView, SeatView, View
from tables.log.state import Round, TableState
from tables.models import Table
from tables.refusals import Refused


@dataclass(frozen=True, slots=True)
class Tap:
    """A choice that is made with one tap."""

    label: str
    value: str
    card: int | None = None


@dataclass(frozen=True, slots=True)
class SeatChoice:
    """One kind of choice: tapped at once, or put together from several cards and then confirmed."""

    name: str
    label: str
    rule: str
    taps: tuple[Tap, ...] = ()
    cards: tuple[int, ...] = ()
    """The cards that it is put together from."""
    most: int = 0
    """Maximum number of them that may be taken."""
    ordered: bool = False
    """Whether all of them are put in order, the first on top."""


@dataclass(frozen=True)
class SeatScreen:
    """Everything that one rendering of a seat's page draws."""

    table: Table
    seat: int
    standing: TableState
    token: str
    refused: Refused | None = None
    key: UUID = field(default_factory=uuid4)
    """Made for this rendering: a choice from it is recorded once, however often it is sent."""

    # --- the picture ---

    @property
    def title(self) -> str:
        """The title of the game."""
        return self._game.title

    @property
    def game(self) -> str:
        return str(self._game.name)

    @property
    def _game(self) -> Any:
        return self._round.game if self._round else GAMES[self.table.game]

    @cached_property
    def _round(self) -> Round | None:
        """The game on the table: the one that goes on, or the last one until the next."""
        current = self.standing.round
        if not (self.standing.is_open and current and current.plays):
            return None
        return current if current.game.hides or current.game.looks else None

    @cached_property
    def view(self) -> View | None:
        """The view of this seat: what it may see, and nothing else."""
        return self._round.game.view(self._round.state, self.seat) if self._round else None

    @property
    def mine(self) -> SeatView | None:
        return next((seat for seat in self._seats if seat.seat == self.seat), None)

    @property
    def others(self) -> tuple[SeatView, ...]:
        """The other seats of the game, clockwise from this one."""
        others = [seat for seat in self._seats if seat.seat != self.seat]
        return tuple(sorted(others, key=lambda seat: (seat.seat < self.seat, seat.seat)))

    @property
    def _seats(self) -> Sequence[SeatView]:
        """The seats that take part."""
        seats = self.view.seats if self.view else ()
        return tuple(seat for seat in seats if seat.bet_cents) if self._game.spots else seats

    @cached_property
    def packet(self) -> tuple[str, ...]:
        """The standard cards that lie facedown before this seat."""
        return shoes.packet(self.table, self.standing, self.seat)

    @property
    def card_names(self) -> Sequence[int | str]:
        """The spellings of standard cards."""
        return pack_of(self._round.opening.dealt).spellings if self._round else ()

    @property
    def dealers(self) -> Sequence[HandView]:
        """The hands before the dealer."""
        return (self.view.hands or ()) if self.view else ()

    @property
    def chips(self) -> Iterable[tuple[int, int]]:
        """The chips at each seat, in cents."""
        return self.standing.stacks.items()

    @property
    def hand_is_called(self) -> str:
        """The game's name for the face-down cards of a seat."""
        return str(self._game.parts.get("hand", "hand"))

    @property
    def middle_is_called(self) -> str:
        """The game's name for the community cards."""
        return str(self._game.parts.get("middle", "middle"))

    # --- whose turn it is ---

    @property
    def asked(self) -> frozenset[int]:
        """The seats that are choosing."""
        return frozenset(self._round.asked) if self._round and self.standing.round_open else frozenset()

    @property
    def asked_seq(self) -> int:
        """The sequence number since which this seat has its decision; 0 for none."""
        return self._round.asked.get(self.seat, 0) if self._round else 0

    @property
    def code(self) -> str:
        """The state of the game for this seat, as a code."""
        if not self.standing.is_open:
            return "table_closed"
        if self._round is None or self.mine is None:
            return "next_game"
        if self._round.over:
            return "round_over"
        if self.ask:
            return "your_turn"
        if self.mine.state == "out":
            return "out"
        return "chosen" if self._has_chosen else "waiting"

    @property
    def says(self) -> str:
        """The state of the game for this seat, in one sentence."""
        sentences = {
            "table_closed": "The table is closed.",
            "next_game": f"You are dealt in with {'your next bet' if self._game.spots else 'the next game'}.",
            "round_over": self._outcome,
            "your_turn": "Your turn." if len(self.asked) == 1 else "Everyone chooses in secret: your turn.",
            "out": f"You are out of this game. {self._waiting}",
            "chosen": f"You have chosen. {self._waiting}",
            "waiting": self._waiting,
        }
        return sentences[self.code]

    @property
    def _has_chosen(self) -> bool:
        """Whether this seat has chosen since the seats with open decisions were asked."""
        if self._round is None or not self._round.asked:
            return False
        since = min(self._round.asked.values())
        later = (action for play in self._round.plays if play.seq > since for action in play.actions)
        return any(isinstance(action, Choose) and action.seat == self.seat for action in later)

    @property
    def _waiting(self) -> str:
        seats = sorted(self.asked)
        if not seats:
            return "The dealer goes on."
        if len(seats) == 1:
            return f"Waiting for seat {seats[0]}."
        return f"Waiting for seats {', '.join(map(str, seats[:-1]))} and {seats[-1]}."

    @property
    def _outcome(self) -> str:
        if self.mine is None or self.mine.payout is None:
            return "The game is over."
        called = {"win": "You win", "split": "You share the win", "lose": "You lose", "push": "Your bets come back"}
        words = called.get(self.mine.payout.outcome, f"You are out: {self.mine.payout.outcome.replace('_', ' ')}")
        return f"The game is over. {words}."

    # --- what may be chosen ---

    @cached_property
    def ask(self) -> AskChoice | None:
        if self._round is None or self.seat not in self.asked:
            return None
        asks = prompts_for(self._round.game, self._round.state, self.seat)
        return next((prompt for prompt in asks if isinstance(prompt, AskChoice) and prompt.seat == self.seat), None)

    @cached_property
    def ways(self) -> tuple[SeatChoice, ...]:
        """The kinds of choices that this seat has, in the game's words."""
        kinds: dict[str, list[Choice]] = {}
        for choice in self.ask.choices if self.ask else ():
            kinds.setdefault(choice.name, []).append(choice)
        return tuple(self._way(name, choices) for name, choices in kinds.items())

    def _way(self, name: str, choices: Sequence[Choice]) -> SeatChoice:
        words: Words | None = self._game.words.get(name)
        label = words.label if words else name.replace("_", " ").capitalize()
        rule = words.rule if words else ""
        sets = [choice.cards for choice in choices if choice.cards is not None]
        if not sets:
            return SeatChoice(name, label, rule, taps=tuple(self._taps(label, choices)))
        most, ordered = max(map(len, sets)), choices[0].ordered
        return SeatChoice(name, label, rule, cards=_pool(sets), most=most, ordered=ordered)

    def _taps(self, label: str, choices: Sequence[Choice]) -> Iterable[Tap]:
        for choice in choices:
            named = [str(part) for part in (choice.card, choice.count) if part is not None]
            whom = f": seat {choice.target}" if choice.target is not None else ""
            cost = f" for {self._round.priced(choice.cost_cents)}" if choice.cost_cents and self._round else ""
            choose = Choose(self.ask.seat, choice.name, choice.card, target=choice.target, count=choice.count)  # type: ignore[union-attr]
            alone = choice.card if choice.target is None and choice.count is None else None
            yield Tap(" ".join([label, *named]) + whom + cost, json.dumps(spell(choose)), alone)


def _pool(sets: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The cards that all these sets can be taken from, in ascending order."""
    most: Counter[int] = Counter()
    for cards in sets:
        most |= Counter(cards)
    return tuple(sorted(most.elements()))
