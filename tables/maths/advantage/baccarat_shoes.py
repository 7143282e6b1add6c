"""Shoes of baccarat as ``counting`` measures them: one side bet, by the cards of each value, or of each rank, left."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import msgspec
import numpy as np

from tables.games.baccarat import PAY_FORM, Baccarat, Rules
from tables.games.cards import Composition
from tables.games.pays import net
from tables.maths import baccarat
from tables.maths.advantage.card_simulation import _card, pile_by_value
from tables.maths.advantage.counting import Counts, Effort, Floats, OfSubject, Walk, features
from tables.maths.advantage.penetration import Subject, cards_behind
from tables.maths.baccarat import banker_draws
from tables.maths.compiled import jit
from tables.maths.random_cards import Bytes, dice_of
from tables.maths.worth import Tally

BY_VALUE: Final = (*(4,) * 9, 16)
"""Aces, twos and so on; last tens and faces, which count nothing."""
BY_RANK: Final = (4,) * 13
PAIRS: Final = ("player_pair", "banker_pair")
"""Wagers that depend on ranks."""
_RANKS: Final = len(BY_RANK)
EFFORT: Final = Effort(batches=25, rounds=40_000, solved=40, fitted=2_000)


@dataclass(frozen=True)
class BaccaratShoe(OfSubject):
    """A side bet at a shoe of baccarat, which a seat need not make. The hands do not depend on the number of seats."""

    subject: Subject
    decks: int
    effort: Effort = EFFORT

    @property
    def deck(self) -> tuple[int, ...]:
        return BY_RANK if self.subject.wager in PAIRS else BY_VALUE

    def walk(self, seats: int, seed: int, rounds: int) -> Walk:
        """Whole shoes in order. Before each, the first card is turned and as many cards are burned as its value."""
        size = sum(self.deck)
        last = cards_behind(self.decks, self.cuts[0], size)
        before = np.zeros((rounds, _RANKS + 2), np.int64)
        draws = banker_draws().astype(np.uint8).ravel()
        _walk(np.uint64(seed % 2**64), pile_by_value((4 * self.decks,) * _RANKS), draws, last, before)
        first = before[:, -1] == 1
        end = int(np.flatnonzero(first)[-1])  # the last shoe may be incomplete
        unseen, low = before[:end, :_RANKS], before[:end, _RANKS]
        if len(self.deck) != _RANKS:
            unseen = np.hstack([unseen[:, :9], unseen[:, 9:].sum(axis=1, keepdims=True)])
        refills = np.zeros(end, np.int64)
        return Walk(self.decks, unseen, first[:end], low, refills, size, Baccarat.rounds_after_cut)

    def values(self, unseen: Counts) -> Floats:
        """Exactly. No play is better than another."""
        wager, rules = self.subject.wager, msgspec.convert({"decks": self.decks, **self.subject.options}, Rules)
        if wager in PAIRS:
            cards, won = unseen.sum(axis=1), float(net(PAY_FORM.in_force(rules)[wager][wager]))
            pairs = (unseen * (unseen - 1)).sum(axis=1) / (cards * (cards - 1))
            worth = (won + 1) * pairs - 1
        else:
            worth = np.array([_worth(rules, wager, (*row, 0, 0, 0)) for row in unseen.tolist()])
        return np.stack([worth, worth], axis=1).reshape(-1, 2)

    def features(self, unseen: Counts) -> Floats:
        """A quadratic function of the shares."""
        return features(unseen, self.deck)


def _worth(rules: Rules, wager: str, ranks: Composition) -> float:
    ends: Any = baccarat.wagers(rules, _tally(ranks))[wager]
    return float(sum(net * ways for net, ways in ends.items()) / sum(ends.values()))


@lru_cache(maxsize=4096)
def _tally(ranks: Composition) -> Tally:
    """The tally of a composition. Cached, since several wagers need it."""
    return baccarat.tally(ranks)


@jit
def _walk(seed: np.uint64, cards: Bytes, draws: Bytes, last: int, before: Counts) -> None:
    """Deal rounds in order. Each row of `before`: unseen cards of each rank, cards left, and whether a shoe begins."""
    dice, size = dice_of(seed), len(cards)
    burned = np.zeros(_RANKS, np.int64)
    cards_left, over = 0, True
    for number in range(len(before)):
        before[number, _RANKS + 1] = int(over)
        if over:
            burned[:] = 0
            worth = _card(cards, size, dice) >> 4
            cards_left = size - 1
            for _ in range(worth or 10):
                burned[_card(cards, cards_left, dice) & 15] += 1
                cards_left -= 1
        over = cards_left <= last
        for place in range(cards_left):
            before[number, cards[place] & 15] += 1
        for rank in range(_RANKS):
            before[number, rank] += burned[rank]
        before[number, _RANKS] = cards_left
        player_1, banker_1 = _card(cards, cards_left, dice), _card(cards, cards_left - 1, dice)
        player_2, banker_2 = _card(cards, cards_left - 2, dice), _card(cards, cards_left - 3, dice)
        cards_left -= 4
        player, banker = ((player_1 >> 4) + (player_2 >> 4)) % 10, ((banker_1 >> 4) + (banker_2 >> 4)) % 10
        if player < 8 and banker < 8:
            third = np.int64(10)
            if player <= 5:
                third = _card(cards, cards_left, dice) >> 4
                cards_left -= 1
            if draws[11 * banker + third]:
                _card(cards, cards_left, dice)
                cards_left -= 1
