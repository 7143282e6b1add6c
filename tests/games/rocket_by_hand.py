"""Rocket once more, as it would be dealt by hand: piles of real cards, no prompts, no states.

Written from the rules alone and sharing nothing with the engine, so that a mistake would have to be made twice.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random


@dataclass
class HandDealt:
    """One table, one round. Bets are by seat number; ``hits(seat)`` says what a seat decides when it has a choice."""

    decks: int
    burn: int
    start: str
    unit: int
    bets: dict[int, int]
    button: int | None
    hits: Callable[[int], bool]
    chance: Random
    avoid_pairs: bool = False
    """Whether the next card is searched for instead of drawn: rounds are long then, and shoes run out."""

    deck: list[int] = field(default_factory=list)
    burned: list[int] = field(default_factory=list)
    discards: list[int] = field(default_factory=list)
    stacks: dict[int, list[int]] = field(default_factory=dict)
    """The faceup cards of those still in; 0 is the dealer."""
    results: dict[int, tuple[str, int | None, int]] = field(default_factory=dict)
    """Outcome, card, and what the seat won, by seat."""
    cards: list[int] = field(default_factory=list)
    """Every card dealt faceup, in order."""
    decisions: list[tuple[int, str]] = field(default_factory=list)
    shuffles: int = 0

    def new_shoe(self, dealt_count: int) -> None:
        """A fresh shoe, shuffled and burned, of which so many cards were dealt in earlier rounds."""
        self._shuffle([rank for _ in range(self.decks) for rank in range(1, 11) for _ in range(rank)])
        for _ in range(dealt_count):
            self.discards.append(self.deck.pop())

    def _shuffle(self, cards: list[int]) -> None:
        self.deck, self.discards, self.burned = cards, [], []
        self.chance.shuffle(self.deck)
        for _ in range(self.burn):
            self.burned.append(self.deck.pop())

    def _can_draw(self) -> bool:
        return len(self.deck) > 0 or len(self.discards) + len(self.burned) > self.burn

    def _draw(self, to: int) -> int:
        if not self.deck:
            self._shuffle(self.discards + self.burned)
            self.shuffles += 1
        card = self._search(to) if self.avoid_pairs else self.deck[-1]
        self.deck.remove(card)
        self.cards.append(card)
        self.stacks[to].append(card)
        return card

    def _search(self, to: int) -> int:
        """A card that does not end anything, of the rank that there is most of."""
        harmless = [card for card in self.deck if card not in self.stacks[to] and (to or card != 3)]
        return max(set(harmless or self.deck), key=self.deck.count)

    def _leaves(self, seat: int, outcome: str, card: int | None, won: int) -> None:
        self.results[seat] = (outcome, card, won)
        self.discards += self.stacks.pop(seat)

    def _opener(self) -> int:
        if self.start == "dealer_left":
            return min(self.bets)
        lowest = min(self.stacks[seat][0] for seat in self.bets)
        # Walk to the left from the button, once around the table, back to the button's own seat.
        seat = self.button or 0
        for _ in range(100):
            seat = seat % 99 + 1
            if seat in self.bets and self.stacks[seat][0] == lowest:
                return seat
        raise AssertionError

    def play(self) -> None:
        """Deal the round."""
        self.stacks = {seat: [] for seat in (*self.bets, 0)}
        for seat in self.bets:
            self._draw(seat)
        opener = self._opener()
        order = [seat for seat in self.bets if seat >= opener] + [seat for seat in self.bets if seat < opener]
        while True:
            if not self._can_draw():
                for seat in [seat for seat in order if seat in self.stacks]:
                    self._leaves(seat, "push", None, 0)
                return
            card = self._draw(0)
            if card == 3 or self.stacks[0].count(card) == 2:
                for seat in [seat for seat in order if seat in self.stacks]:
                    outcome = "death_card" if card == 3 else "dealer_pair"
                    self._leaves(seat, outcome, card, self.bets[seat] * card // 10)
                return
            for seat in order:
                if seat in self.stacks:
                    self._turn(seat)
            if list(self.stacks) == [0]:
                return

    def _turn(self, seat: int) -> None:
        choice = self._can_draw()
        if choice:
            self.decisions.append((seat, "hit" if self.hits(seat) else "fold"))
        if not choice or self.decisions[-1][1] == "fold":
            lowest = min(self.stacks[seat] + self.stacks[0])
            self._leaves(seat, "fold", lowest, -self.bets[seat] * lowest // 10)
            return
        card = self._draw(seat)
        if self.stacks[seat].count(card) == 2:
            self._leaves(seat, "pair", card, -self.bets[seat] * card // 10)

    def unseen(self) -> list[int]:
        """The cards nobody has seen since the last shuffle: the shoe, and the burned ones."""
        return self.deck + self.burned
