"""Shoes dealt down to where they run out, and a floor on which anything happens that may happen."""

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from tables.floor import recorder, shoes
from tables.games.cards import RANKS, shoe
from tables.games.protocol import AskBet
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import table_settings
from tests import floor
from tests.floor import Hand

LAST = [1, 2, 3, 4, 5, 6, 7, 8]
"""The last eight cards of the short shoe: a card for each of six seats, the dealer's, and seat 1's second."""
BURNED = [9, 9, 10, 10, 10]
SPENT = [rank for rank in RANKS for _ in range(shoe(1)[rank - 1] - [*LAST, *BURNED].count(rank))]
SHORT = BURNED + SPENT + LAST
"""One deck in the order in which ``run_out`` deals it."""
RARE_CUT = {"decks": 1, "reshuffle_at": 0.1}


def in_this_order(monkeypatch: pytest.MonkeyPatch, order: list[int]) -> None:
    """The next house shoe comes in this order; those after it as chance will have it."""
    shuffle, waiting = shoes._shuffle, [order]
    monkeypatch.setattr(shoes, "_shuffle", lambda ranks: waiting.pop() if waiting else shuffle(ranks))


def by_seed(monkeypatch: pytest.MonkeyPatch, seed: object) -> None:
    """House shoes come as a seed will have it: their own chance would meet something else in every run."""
    chance = random.Random(str(seed))
    monkeypatch.setattr(shoes, "_shuffle", lambda ranks: chance.sample(cards := list(ranks), len(cards)))


def run_out(dealer: Hand) -> None:
    """Deal a short shoe until it is empty: six seats bet, seat 1 has taken the last card, seat 2 decides."""
    house = dealer.board.shoe is not None and dealer.board.shoe.source == "house"
    for place in range(0, len(SPENT), 2):
        dealer.bets(seat1=1_000)
        if house:
            dealer("deal")
        else:
            dealer.cards(*SPENT[place : place + 2])
        if dealer.board.due == "choose":
            dealer("choose", seat=1, choice="fold")
        dealer.pay()
    dealer.bets(**{f"seat{seat}": 1_000 for seat in range(1, 7)})
    if house:
        dealer("deal")
        dealer("choose", seat=1, choice="hit")
    else:
        dealer.cards(*LAST)


@dataclass
class Chance:
    """Enters whatever may be entered at a table, and some of what may not, by whoever may, as chance will have it."""

    dealer: Hand
    boss: Hand
    operator: Staff
    relief: Staff
    random: random.Random
    deeds: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def step(self) -> None:
        """One input, or one that is refused."""
        try:
            if self.random.random() < 0.15:
                self._something_else()
            else:
                self._what_is_due()
        except Refused as refused:
            self.refused[refused.code] += 1

    def _enter(self, hand: Hand, do: str, **facts: Any) -> None:
        hand(do, **facts)
        self.deeds[do] += 1

    def _takes_back(self, hand: Hand) -> None:
        current = hand.now.round
        if current is not None and current.over and self.random.random() < 0.5:
            hand.reopens()
            self.deeds["take_back"] += 1
        else:
            self._enter(hand, "take_back")

    def _what_is_due(self) -> None:
        board, hand, draw = self.dealer.board, self.dealer, self.random
        if board.due == "closed":
            self._enter(self.boss, "open_table")
        elif board.due == "dealer":
            recorder.sign_in(hand.table, hand.by)
        elif board.due == "bets" and draw.random() < 0.8:
            ask = draw.choice([ask for ask in board.prompts if isinstance(ask, AskBet)])
            self._enter(hand, "bet", seat=ask.seat, amount_cents=draw.choice(range(0, 11_000, 500)))
        elif board.card_keys and draw.random() < 0.85:
            self._enter(hand, "card", rank=self._rank())
        elif pressed := [button for button in board.buttons if button.input["do"] not in ("retire_shoe", "take_back")]:
            self._enter(hand, **draw.choice(pressed).input)

    def _rank(self) -> int:
        """Mostly one that is still in the shoe."""
        current = self.dealer.now.round
        assert current is not None
        whole, dealt = shoe(current.rules.decks), current.game.gone(current.state)
        ranks_left = [rank for rank in RANKS if whole[rank - 1] > dealt[rank - 1]]
        return self.random.choice(ranks_left if ranks_left and self.random.random() < 0.97 else list(RANKS))

    def _something_else(self) -> None:
        draw, hand, boss = self.random, self.dealer, self.boss
        match draw.choice(["back", "back", "back by boss", "relief", "out", "close", "limits", "cut", "retire", "bad"]):
            case "back":
                self._takes_back(hand)
            case "back by boss":
                self._enter(boss, "take_back")
            case "relief" if hand.now.dealer is not None:
                floor.relieve(hand.table, self.relief)
                hand.by, self.relief = self.relief, hand.by
            case "out":
                self._enter(hand, "sign_out")
            case "close":
                self._enter(boss, "close_table")
            case "limits":
                least = draw.choice([1_000, 2_000, 3_000])
                with suppress(Refused):  # a minimum is not raised over players without notice
                    table_settings.change_table(hand.table, {"min_cents": least}, by=self.operator)
            case "cut":
                self._enter(hand, "cut_card_out")
            case "retire":
                if draw.random() < 0.3:
                    self._enter(hand, "retire_shoe")
            case "bad":
                self._enter(hand, draw.choice(["close_bets", "deal", "shuffle", "load_shoe", "burn"]))


def chance(seed: int, **settings: Any) -> Chance:
    """A table with its shoe ready, and everybody who may do something there."""
    dealer, boss = floor.dealt(**settings)
    operator, relief = floor.staff(Role.OPERATOR, "olga"), floor.staff(Role.DEALER, "ida", "102")
    return Chance(dealer, boss, operator, relief, random.Random(seed))
