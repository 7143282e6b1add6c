"""Goblin Poker: each round everyone pitches a card of the hand, and gets one of the pitched cards by chance.

Designed by James Ernest and Paul Peterson.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import ClassVar, Final

from tables.games.cards import UNKNOWN
from tables.games.game import Due, Part, Script, Wording, Words
from tables.games.layout import REASONS, Layout, Player, cards_to
from tables.games.protocol import Choice, Struct, because
from tables.games.script import Scripted

ANTE: Final = 1
HAND: Final = 6
ROUNDS: Final = HAND - 1
"""One card of the hand starts the stack, each other one can be pitched."""


class Rules(Struct, frozen=True):
    """No options."""


class GoblinPoker(Scripted[Rules]):
    """The game, as the kernel plays it."""

    name: ClassVar[str] = "goblin_poker"
    title: ClassVar[str] = "Goblin Poker"
    carries: ClassVar[frozenset[str]] = frozenset({"pot"})
    seat_counts: ClassVar[range] = range(3, 9)
    parts: ClassVar[Mapping[Part, str]] = {"stack": "cards", "hand": "hand", "facedown": "pitched cards", "pot": "pot"}
    words: ClassVar[Mapping[str, Words]] = {
        "start": Words(
            "Start with",
            "Lay the chosen cards faceup, all together.",
            "Everyone chooses a starting card in secret; the low card starts.",
        ),
        "pitch": Words(
            "Pitch",
            "Take the card facedown to the middle.",
            "The pitched cards are shuffled, and each player gets one of them by chance.",
        ),
        "fold": Words(
            "Fold",
            "Move what the fold costs to the pot; clear the seat's cards.",
            "A fold pays the lowest faceup card of anyone still in.",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "down": "A hand of six; only its owner looks at it.",
        "seat": "Equal lowest stacks get further cards until one is lowest.",
        "apart": "A pitched card that pairs the stack pays its rank to the pot, and is out.",
    }
    outcomes: ClassVar[tuple[str, ...]] = ("win", "split", "fold", "pair")
    reasons: ClassVar[Mapping[str, Wording]] = {
        **REASONS,
        "survivors": f"one of {{count}} who survived round {ROUNDS} and share the pot",
    }
    rules_type = Rules

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """Antes, hands, a starting card each; then at most five rounds, until one is left."""
        for player in layout.players:
            layout.to_pot(player, ANTE)
        yield from layout.deal(HAND, down=True)
        yield from layout.show_together("start")
        for _ in range(ROUNDS):
            for part in (_pitch_or_fold, _deal_pitched):
                yield from part(layout)
                if len(layout.still_in) == 1:
                    layout.last_one_wins()
                    return
        _share(layout)


def _pitch_or_fold(layout: Layout) -> Script[None]:
    """From the lowest stack on, each player folds or pitches a card facedown, except a player who alone remains."""
    lowest = yield from _lowest_stack(layout)
    for player in _in_from(layout, lowest):
        fold = Choice("fold", layout.lowest_in_play())
        choice = yield from layout.choose(player, (*_pitches(layout, player), fold))
        if choice.name == "pitch":
            rank = UNKNOWN if choice.card is None else choice.card
            player.hand.remove(rank)
            layout.pool.append(rank)
            continue
        layout.folds(player)
        if len(layout.still_in) == 1:
            return


def _pitches(layout: Layout, player: Player) -> tuple[Choice, ...]:
    """One card of the hand, pitched facedown; a physical card is not named."""
    return (Choice("pitch"),) if layout.opening.blind else cards_to("pitch", player.hand)


def _deal_pitched(layout: Layout) -> Script[None]:
    """The pitched cards are shuffled, and dealt from the stack that is lowest now; pairs go out one at a time."""
    lowest = yield from _lowest_stack(layout)
    for player in _in_from(layout, lowest):
        rank = yield from layout.draw_from(layout.pool, player.seat)
        if rank not in player.stack:
            player.stack.append(rank)
            continue
        layout.pairs(player, rank)
        if len(layout.still_in) == 1:
            return


def _in_from(layout: Layout, start: Player) -> list[Player]:
    return [player for player in layout.clockwise(start) if player.is_in]


def _lowest_stack(layout: Layout) -> Script[Player]:
    """The lowest stack, compared card by card; a perfect tie is broken with further cards from the deck."""
    for player in layout.still_in:
        player.stack.sort()
    lowest = min(_from_the_lowest(player) for player in layout.still_in)
    tied = [player for player in layout.still_in if _from_the_lowest(player) == lowest]
    return (yield from layout.low_card(tied))


def _from_the_lowest(player: Player) -> tuple[float, ...]:
    """A sorted stack as a key of comparison: a further card is lower than none."""
    return (*player.stack, inf)


def _share(layout: Layout) -> None:
    survivors = layout.still_in
    layout.share_pot(survivors)
    for player in survivors:
        player.ends("split", because("survivors", count=len(survivors)))
