"""A simulated dealer: enters the next input of a table at random, with cards as a shuffled shoe would bring them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from uuid import UUID

from tables.board.table_view import Board, board
from tables.floor import inputs, recorder
from tables.games.cards import Composition, pack_of
from tables.games.protocol import DEALER, AskBet, AskCard, AskChoice
from tables.log.state import TableState
from tables.models import ShoeSource, Staff, Table
from tables.state import table_state

STEPS: Final = {
    "load": "load_shoe", "shuffle": "shuffle_shoe", "cut": "place_cut_card", "reshuffle": "shuffle", "deal": "deal",
}  # fmt: skip
"""The only possible input of each state in which the table waits for one."""


class Player(Protocol):
    """A player at a seat. ``bet`` is their bet before a round, in cents; 0 for a round that they sit out."""

    def bet(self, ask: AskBet, gone: Composition, chance: random.Random) -> int: ...


class Guest:
    """A recreational player: mostly flat bets, sometimes more."""

    def bet(self, ask: AskBet, gone: Composition, chance: random.Random) -> int:
        if chance.random() < 0.15:
            return 0
        units = chance.choice((1, 1, 1, 2, 2, 3, 5))
        return _fitting(ask, units * ask.low_cents)


@dataclass(frozen=True)
class CardCounter:
    """A card counter. ``tags`` has the counting value of each rank."""

    tags: tuple[int, ...]
    decks: int

    def bet(self, ask: AskBet, gone: Composition, chance: random.Random) -> int:
        count = sum(tag * cards for tag, cards in zip(self.tags, gone, strict=True))
        decks_left = self.decks - sum(gone) / pack_of(gone).size
        return _fitting(ask, ask.low_cents * (1 + max(0, min(9, round(3 + count / decks_left / 4)))))


def _fitting(ask: AskBet, cents: int) -> int:
    high = min(cents, ask.high_cents)
    return max(ask.low_cents, ask.low_cents + (high - ask.low_cents) // ask.step_cents * ask.step_cents)


@dataclass
class SimulatedDealer:
    """A dealer at a table, with its players."""

    table: Table
    by: Staff
    chance: random.Random
    players: Mapping[int, Player]
    passes: Callable[[float], None]
    """Advances the clock by a number of seconds."""
    latest: TableState | None = None
    stakes: list[tuple[int, int]] = field(default_factory=list)
    """The bets that are still to be placed: seats and cents."""
    _stakes_of: int = 0

    def enter(self, do: str, **facts: Any) -> None:
        """An input, some seconds after the one before it."""
        self.passes(self.chance.uniform(1.2, 4.5))
        entered = inputs.read({"do": do} | facts)
        key = UUID(int=self.chance.getrandbits(128), version=4)
        answer = recorder.record(self.table, entered, by=self.by, key=key, expected_seq=self.seq)
        self.latest = answer.after.state if answer.after else None

    @property
    def seq(self) -> int:
        return self.stands.seq

    @property
    def stands(self) -> TableState:
        if self.latest is None:
            self.latest = table_state.of(self.table)
        return self.latest

    @property
    def board(self) -> Board:
        return board(self.table, self.by, self.stands)

    # --- a round

    def round(self) -> None:
        """From the shoe to the last payment."""
        self.latest = None
        number = self._next_round
        while self._next_round == number or self.board.pay is not None:
            self.step()

    @property
    def _next_round(self) -> int:
        current = self.stands.round
        return 1 if current is None else current.number + current.over

    def step(self) -> None:
        """Enter one input: the one that the table waits for."""
        drawn = self.board
        if drawn.pay is not None:
            self.enter("paid", seat=drawn.pay.seat)
        elif drawn.due == "bets":
            self._bet(drawn)
        elif drawn.due == "check":
            self.enter("check_decks", counts=list(drawn.deck_columns))
        elif drawn.due == "burn":
            self.enter("burn", **({"turned": 1} if drawn.turns_burn else {}))
        elif drawn.due in STEPS:
            self.enter(STEPS[drawn.due])
        else:
            self._answer(drawn)

    def _bet(self, drawn: Board) -> None:
        """The next player's bet; after the last of them, no more bets."""
        asks = [ask for ask in drawn.prompts if isinstance(ask, AskBet) and not ask.needs]
        first = {ask.seat: ask for ask in reversed(asks)}
        if self._stakes_of != self._next_round or (not self.stakes and not self.stands.round_open):
            self._stakes_of, self.stakes = self._next_round, self._wished(first)
        if not self.stakes:
            self.enter("close_bets")
            return
        seat, cents = self.stakes.pop(0)
        self.enter("bet", seat=seat, amount_cents=cents, wager=first[seat].wager)

    def _wished(self, first: Mapping[int, AskBet]) -> list[tuple[int, int]]:
        """The bets of the players on the next round, as (seat, cents); at least one."""
        gone = self.stands.gone
        amounts = [
            (seat, player.bet(first[seat], gone, self.chance)) for seat, player in self.players.items() if seat in first
        ]
        seat, ask = min(first.items())
        return [(seat, cents) for seat, cents in amounts if cents] or [(seat, ask.low_cents)]

    def _answer(self, drawn: Board) -> None:
        ask = next(ask for ask in drawn.prompts if isinstance(ask, AskCard | AskChoice))
        cards = [prompt for prompt in drawn.prompts if isinstance(prompt, AskCard)]
        if isinstance(ask, AskChoice) and not self._hits(ask, bool(cards)):
            self.enter("choose", seat=ask.seat, choice=self._choice(ask))
        else:
            self._card(cards[0])

    def _hits(self, ask: AskChoice, has_card: bool) -> bool:
        """Whether to answer a decision with a card, which means a hit."""
        return has_card and (ask.seat == DEALER or self.chance.random() < 0.8)

    def _choice(self, ask: AskChoice) -> str:
        names = [choice.name for choice in ask.choices]
        cheap = [choice.name for choice in ask.choices if not choice.cost_cents]
        if "play" in names:
            return "play" if self.chance.random() < 0.7 else "fold"
        if self.table.source != ShoeSource.KEYED:
            calm = [name for name in names if name in ("stand", "hit", "play", "no_blackjack", "fold")]
            return self.chance.choice(calm or names)
        return self.chance.choice(cheap or names)

    def _card(self, ask: AskCard) -> None:
        """A random card, with the probability of the cards remaining in the shoe."""
        pack = pack_of(ask.gone)
        whole = pack.shoes[ask.decks]
        left = [whole[card - 1] - ask.gone[card - 1] for card in ask.may_come]
        name = pack.spell(self.chance.choices(ask.may_come, left)[0])
        if isinstance(name, int):
            self.enter("card", rank=name)
        else:
            self.enter("standard_card", card=name)
