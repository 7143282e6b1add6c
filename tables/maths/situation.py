"""What is known before a round of Rocket (the unseen cards), and the strategies that can be valued."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tables.games.cards import RANKS, Composition, shoe

DECKS: Final = range(1, 9)
BURNS: Final = range(21)
DEFAULT_BURN: Final = 5


class Unknowable(ValueError):
    """An impossible shoe or strategy; the message is one sentence for the user."""


@dataclass(frozen=True)
class Situation:
    """A shoe as one seat sees it before its round: every order of the unseen cards is equally likely.

    The burned cards are among the unseen ones. They are not dealt, so ``left`` cards come before the shoe is out; then
    every card that is not in play is shuffled, ``burn`` cards are burned once more, and play goes on.
    """

    decks: int
    unseen: Composition
    burn: int = DEFAULT_BURN

    def __post_init__(self) -> None:
        if self.decks not in DECKS:
            raise Unknowable(f"a shoe of {self.decks} decks is not dealt: it has {DECKS[0]} to {DECKS[-1]}")
        if self.burn not in BURNS:
            raise Unknowable(f"a burn of {self.burn} cards is not made: it is {BURNS[0]} to {BURNS[-1]}")
        if len(self.unseen) != len(RANKS):
            raise Unknowable(
                f"a composition has {len(RANKS)} counts, of the ranks 1 to 10; this has {len(self.unseen)}"
            )
        for rank, count, most in zip(RANKS, self.unseen, self.full, strict=True):
            if not 0 <= count <= most:
                holders = f"{self.decks} decks hold" if self.decks > 1 else "one deck holds"
                raise Unknowable(f"{count} cards of rank {rank} cannot be unseen: {holders} {most}")
        if self.left < 0:
            raise Unknowable(f"{sum(self.unseen)} unseen cards cannot be: the {self.burn} burned ones are among them")

    @property
    def full(self) -> Composition:
        """Number of cards of each rank in the whole shoe."""
        return shoe(self.decks)

    @property
    def left(self) -> int:
        """Number of cards that can be dealt before the shoe is out."""
        return sum(self.unseen) - self.burn

    def base(self, out: int) -> Composition:
        """The composition from which a card comes when `out` cards are in play: without these, all cards are equally
        likely.

        All cards of a single seat's round stay in play until it is over. So the shoe is out exactly when `left` cards
        are, and from then on all but the cards in play are unseen.
        """
        return self.unseen if out < self.left else self.full


def fresh(decks: int, burn: int = DEFAULT_BURN) -> Situation:
    """A full shoe, shuffled and burned. Raises Unknowable."""
    return Situation(decks, shoe(decks) if decks in DECKS else (), burn)


@dataclass(frozen=True)
class Strategy:
    """A seat's strategy: best play, or folds by their cost only."""

    limit: int | None = None
    """Fold when it costs at most this number of tenths of the bet; None for whichever choice loses less."""

    @property
    def name(self) -> str:
        """The strategy in the form that `strategy` parses."""
        return {None: "optimal", 0: "never_fold"}.get(self.limit, f"fold_at:{self.limit}")


OPTIMAL: Final = Strategy()
NEVER_FOLD: Final = Strategy(0)


def strategy(name: str) -> Strategy:
    """The strategy of that name. Raises Unknowable, saying which there are."""
    head, colon, tenths = name.partition(":")
    if head == "fold_at" and colon and tenths.isdecimal() and int(tenths) <= RANKS[-1]:
        return Strategy(int(tenths))
    if name in (OPTIMAL.name, NEVER_FOLD.name):
        return OPTIMAL if name == OPTIMAL.name else NEVER_FOLD
    raise Unknowable(f"there is no strategy {name!r}: it is optimal, never_fold, or fold_at:N with N from 0 to 10")
