"""Packs of cards, and their compositions.

A card is a number from 1 on, whose meaning its pack defines. A composition is a tuple of counts: of card 1, card 2 and
so on; its length identifies the pack.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import le
from typing import Final

MOST_DECKS: Final = 8
Composition = tuple[int, ...]
UNKNOWN: Final = 0
"""A physical card that lies facedown and has not been entered."""


@dataclass(frozen=True, eq=False)
class Pack:
    """The cards of one deck."""

    name: str
    deck: Composition
    """How many of each card a deck has."""
    spellings: tuple[int | str, ...]
    """The spelling of each card in a round record and on the keyboard."""
    columns: str
    """How the cards are spread at a deck check."""
    size: int = field(init=False)
    """How many cards a deck has."""
    nothing: Composition = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", sum(self.deck))
        object.__setattr__(self, "nothing", (0,) * len(self.deck))

    @cached_property
    def shoes(self) -> tuple[Composition, ...]:
        """The composition of n full decks, at index n."""
        return tuple(tuple(copies * decks for copies in self.deck) for decks in range(MOST_DECKS + 1))

    @cached_property
    def _numbers(self) -> dict[int | str, int]:
        return {spelling: card for card, spelling in enumerate(self.spellings, 1)}

    def count(self, cards: Iterable[int]) -> Composition:
        """The composition of some cards; unknown ones are in no composition."""
        counts = [0] * len(self.deck)
        for card in cards:
            if card != UNKNOWN:
                counts[card - 1] += 1
        return tuple(counts)

    def cards(self, composition: Composition) -> list[int]:
        """The cards of a composition, each repeated by its count, in ascending order."""
        return [card for card, copies in enumerate(composition, 1) for _ in range(copies)]

    def spell(self, card: int) -> int | str:
        """A card as a round record writes it."""
        return self.spellings[card - 1]

    def number(self, spelling: int | str) -> int:
        """The card of a spelling. Raises KeyError if the pack has none."""
        return self._numbers[spelling]

    def impossible(self, gone: Composition, decks: int) -> str:
        """Why this number of decks cannot have lost these cards; "" if it can."""
        whole = self.shoes[decks]
        if len(gone) != len(whole):
            return f"{len(whole)} counts, one a card, not {len(gone)}"
        if min(gone) >= 0 and all(map(le, gone, whole)):
            return ""
        for card, (out, copies) in enumerate(zip(gone, whole, strict=True), 1):
            if not 0 <= out <= copies:
                noun = "rank " if self is PAIRS else ""
                return f"{out} cards of {noun}{self.spell(card)} cannot be gone: the shoe holds {copies}"
        return ""


# --- The Pairs family: rank r appears r times, r = 1..10 ---------------------------------------------------------

RANKS: Final = range(1, 11)
PAIRS: Final = Pack("pairs", tuple(RANKS), tuple(RANKS), "rank")
DECK: Final = PAIRS.deck
"""One deck as a composition: one 1, two 2s, ... ten 10s."""
DECK_SIZE: Final = PAIRS.size
NOTHING: Final[Composition] = PAIRS.nothing

# --- Standard cards ----------------------------------------------------------------------------------------------

RANK_SIGNS: Final = "A23456789TJQK"
SUIT_SIGNS: Final = "shdc"
BY_RANK: Final = Pack("standard_by_rank", (4,) * 13, tuple(RANK_SIGNS), "rank")
"""Standard cards without regard to suits: card r is any card of rank r, ace 1 to king 13."""
STANDARD: Final = Pack(
    "standard", (1,) * 52, tuple(rank + suit for suit in SUIT_SIGNS for rank in RANK_SIGNS), "suit and rank"
)
"""Standard cards, suit by suit (spades, hearts, diamonds, clubs), ace to king in each."""
RANK_OF: Final = (UNKNOWN, *((card % 13) + 1 for card in range(52)))
"""The rank of a standard card, 1 to 13, in either of its packs."""
SUIT_OF: Final = (-1, *(card // 13 for card in range(52)))
"""The suit of a card of the pack with suits, as a place in ``SUIT_SIGNS``."""

PACKS: Final = {pack.name: pack for pack in (PAIRS, BY_RANK, STANDARD)}
_BY_LENGTH: Final = {len(pack.deck): pack for pack in PACKS.values()}
WHOLE: Final = {length: pack.shoes for length, pack in _BY_LENGTH.items()}
"""The compositions of full decks, by the number of different cards."""


def pack_of(composition: Sequence[int]) -> Pack:
    """The pack of a composition. Raises KeyError if there is none of this length."""
    return _BY_LENGTH[len(composition)]


def shoe(decks: int) -> Composition:
    """The composition of ``decks`` full decks of the Pairs family."""
    return PAIRS.shoes[decks]


def count(ranks: Iterable[int]) -> Composition:
    """The composition of some cards of the Pairs family; unknown ones are in no composition."""
    return PAIRS.count(ranks)


def add(composition: Composition, card: int) -> Composition:
    """The composition with one more of a card."""
    counts = [*composition]
    counts[card - 1] += 1
    return tuple(counts)
