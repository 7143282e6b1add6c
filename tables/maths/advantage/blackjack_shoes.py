"""Shoes of blackjack as ``counting`` measures them: a seat's bet, by the cards of each value that are left."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from tables.games.blackjack import Rules
from tables.games.cards import Composition
from tables.maths import blackjack, blackjack_table
from tables.maths.advantage.counting import Counts, Effort, Floats, OfSubject, Walk, shares
from tables.maths.advantage.penetration import Subject, cards_behind
from tables.maths.blackjack_chart import Chart

DECK: Final = (*(4,) * 9, 16)
"""Number of cards of each value: aces, twos and so on; tens and faces last."""
EFFORT: Final = Effort(batches=20, rounds=500_000, solved=2, fitted=120, near=0.2)
"""Rounds simulated for a bet by the chart; places solved for best play, a second or two each."""


@dataclass(frozen=True)
class BlackjackShoe(OfSubject):
    """A seat that plays the best chart for the cards left, or that of a full shoe; it never insures."""

    subject: Subject
    decks: int
    effort: Effort = EFFORT
    deck: tuple[int, ...] = DECK

    @cached_property
    def rules(self) -> Rules:
        """The standard options with this number of decks."""
        return Rules(decks=self.decks)

    @cached_property
    def chart(self) -> Chart:
        """The best chart of a full shoe."""
        return blackjack.solve(self.rules, (4 * self.decks,) * 13).chart

    def walk(self, seats: int, seed: int, rounds: int) -> Walk:
        """All seats play the chart of a full shoe."""
        size = sum(self.deck)
        last = cards_behind(self.decks, self.cuts[0], size)
        walked = blackjack_table.walk(self.rules, self.chart, seats, rounds + 1, seed, last)
        unseen, refills = walked.unseen[:-1], np.diff(walked.refills)
        low = unseen.sum(axis=1)
        first = low == size * self.decks
        end = int(np.flatnonzero(first)[-1])  # the last shoe may not be at its end
        return Walk(self.decks, unseen[:end], first[:end], low[:end], refills[:end], size, nets=walked.nets[:end])

    def values(self, unseen: Counts) -> Floats:
        """Exactly; a second or two for each."""
        rows = [blackjack.best_and_charted(self.rules, _ranks(row), self.chart) for row in unseen.tolist()]
        return np.array(rows).reshape(-1, 2)

    def features(self, unseen: Counts) -> Floats:
        """A linear function of the shares, with what changes as the shoe grows short: there are few exact values."""
        share, inverse = shares(unseen, self.deck)
        return np.hstack([np.ones_like(inverse), inverse, inverse**2, share, share * inverse])


def _ranks(values: list[int]) -> Composition:
    """Tens and faces are all called ten."""
    return (*values, 0, 0, 0)
