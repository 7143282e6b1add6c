"""Hawthorn: Pairs with a hand of cards; rounds from the deck alternate with rounds from the hand.

Designed by James Ernest and Paul Peterson.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import ClassVar, Final

from tables.games.cards import UNKNOWN
from tables.games.game import Due, Part, Script, Words
from tables.games.layout import Layout, Player, cards_to
from tables.games.protocol import Choice, Struct
from tables.games.script import Scripted

ANTE: Final = 1
HAND: Final = 5


class Rules(Struct, frozen=True):
    """No options."""


class Hawthorn(Scripted[Rules]):
    """The game, as the kernel plays it.

    It ends: every round lays one more card before each player who stays in, and no stack holds a rank twice.
    """

    name: ClassVar[str] = "hawthorn"
    title: ClassVar[str] = "Hawthorn"
    carries: ClassVar[frozenset[str]] = frozenset({"pot"})
    seat_counts: ClassVar[range] = range(2, 7)
    parts: ClassVar[Mapping[Part, str]] = {"stack": "cards", "hand": "hand", "pot": "pot", "button": "button"}
    words: ClassVar[Mapping[str, Words]] = {
        "start": Words(
            "Start with",
            "Lay the chosen cards faceup, all together.",
            "Everyone chooses a starting card in secret; the low card starts.",
        ),
        "hit": Words("Hit", "Deal the seat a card faceup.", "A pair pays its rank to the pot, and is out."),
        "play": Words(
            "Play",
            "Lay the card from the hand faceup on the seat's stack.",
            "A card that pairs may be played only when every card of the hand does.",
        ),
        "fold": Words(
            "Fold",
            "Move what the fold costs to the pot; clear the seat's cards.",
            "A fold pays the lowest faceup card of anyone still in.",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "down": "A hand of five; only its owner looks at it.",
        "seat": "Rounds from the deck and rounds from the hand take turns.",
    }
    outcomes: ClassVar[tuple[str, ...]] = ("win", "fold", "pair")
    rules_type = Rules

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """Antes, hands, a starting card each; then deck and hand rounds from the button on, until one is left."""
        for player in layout.players:
            layout.to_pot(player, ANTE)
        yield from layout.deal(HAND, down=True)
        yield from layout.show_together("start")
        starter = yield from layout.low_card()
        layout.button = starter.seat
        for turn in cycle((_deck_turn, _hand_turn)):
            for player in layout.clockwise(starter):
                if player.is_in:
                    yield from turn(layout, player)
                if len(layout.still_in) == 1:
                    layout.last_one_wins()
                    return


def _deck_turn(layout: Layout, player: Player) -> Script[None]:
    hit = (Choice("hit", draws=True),) if layout.can_draw else ()
    choice = yield from layout.choose(player, (*hit, _fold(layout)))
    if choice.name == "fold":
        layout.folds(player)
        return
    rank = yield from layout.draw(player.seat)
    if rank in player.stack:
        layout.pairs(player, rank)
    else:
        player.stack.append(rank)


def _hand_turn(layout: Layout, player: Player) -> Script[None]:
    """A card that pairs may be played only when every card of the hand does."""
    choice = yield from layout.choose(player, (*cards_to("play", _playable(layout, player)), _fold(layout)))
    if choice.name == "fold":
        layout.folds(player)
    elif choice.card in player.stack:
        layout.show(player, choice.card)
        layout.pairs(player, choice.card)
    else:
        _play(layout, player, choice)


def _playable(layout: Layout, player: Player) -> list[int]:
    """Cards that may be played; from a hand of unentered cards, any card that its owner may show."""
    hand = layout.may_show(player)
    if UNKNOWN in player.hand:
        return hand
    return [rank for rank in hand if rank not in player.stack] or hand


def _fold(layout: Layout) -> Choice:
    return Choice("fold", layout.lowest_in_play())


def _play(layout: Layout, player: Player, choice: Choice) -> None:
    """The chosen card goes from the hand faceup onto the stack."""
    assert choice.card is not None  # noqa: S101 -- every choice here but a fold names a card
    layout.show(player, choice.card)
    player.stack.append(choice.card)
