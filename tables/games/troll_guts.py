"""Troll Guts: take a card from the deck, from another's facedown stack or from one's own, until a pair is caught.

Designed by James Ernest and Paul Peterson.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import ClassVar, Final

from tables.games.game import Due, Part, Script, Words
from tables.games.layout import Layout, Player
from tables.games.protocol import Choice, Struct
from tables.games.script import Scripted

ANTE: Final = 1
DOWN: Final = 5
PRICE: Final = 1
"""Price of the top card of the player's own facedown stack, in coins."""


class Rules(Struct, frozen=True):
    """No options."""


class TrollGuts(Scripted[Rules]):
    """The game, as the kernel plays it.

    It ends: every turn lays one more card in front of a player, and no stack holds a rank twice. There is always a card
    to take: when deck and discards are empty, the ten 10s cannot all lie in stacks, so a player holds one facedown.
    """

    name: ClassVar[str] = "troll_guts"
    title: ClassVar[str] = "Troll Guts"
    carries: ClassVar[frozenset[str]] = frozenset({"pot"})
    seat_counts: ClassVar[range] = range(3, 7)
    parts: ClassVar[Mapping[Part, str]] = {"stack": "cards", "hand": "facedown stack", "pot": "pot"}
    words: ClassVar[Mapping[str, Words]] = {
        "arrange": Words(
            "Stack the hand in this order",
            "Wait until everyone has stacked the facedown cards.",
            "The order stands for the whole game; the first card is the top.",
        ),
        "draw": Words("Draw", "Deal the seat a card faceup.", "A pair pays its rank to the pot, and is out."),
        "steal": Words(
            "Steal",
            "Turn the top facedown card of the other seat and lay it on the stealing seat's stack.",
            "The top card of another player who is still in.",
        ),
        "buy": Words(
            "Buy the own top card",
            "Move the price to the pot; turn the seat's own top card.",
            "The own top card costs a coin.",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "down": "Five cards facedown; their owner alone looks at them, and stacks them once.",
        "turn": "A card that pairs pays its rank to the pot.",
    }
    outcomes: ClassVar[tuple[str, ...]] = ("win", "pair")
    rules_type = Rules

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """Antes, five cards down and one up, low card starts; then turns to the left until one is left."""
        for player in layout.players:
            layout.to_pot(player, ANTE)
        yield from layout.deal(DOWN, down=True)
        yield from layout.deal()
        acting = yield from layout.low_card()
        yield from _arrange(layout)
        while len(layout.still_in) > 1:
            yield from _turn(layout, acting)
            acting = layout.left_of(acting)
        layout.last_one_wins()


def _arrange(layout: Layout) -> Script[None]:
    """Each player stacks the facedown cards for the whole game, top first; the order is hidden from the others."""
    if layout.opening.blind:
        return
    orders = yield from layout.choose_all({player.seat: _orders(player.hand) for player in layout.players})
    for player in layout.players:
        player.hand = list(orders[player.seat].cards or ())


def _orders(hand: list[int]) -> tuple[Choice, ...]:
    orders = sorted(set(permutations(hand)))
    return tuple(Choice("arrange", cards=order, ordered=True) for order in orders)


def _turn(layout: Layout, player: Player) -> Script[None]:
    choice = yield from layout.choose(player, _ways_to_take(layout, player))
    if choice.name == "draw":
        rank = yield from layout.draw(player.seat)
    elif choice.target is not None:
        rank = yield from layout.turn(layout.player(choice.target).hand.pop(0), player.seat)
    else:
        layout.to_pot(player, PRICE)
        rank = yield from layout.turn(player.hand.pop(0), player.seat)
    if rank in player.stack:
        layout.pairs(player, rank)
    else:
        player.stack.append(rank)


def _ways_to_take(layout: Layout, player: Player) -> Iterator[Choice]:
    """Draw, steal or buy. A player who cannot pay may take the own card only if there is no other."""
    steals = [Choice("steal", target=rival.seat) for rival in layout.still_in if rival is not player and rival.hand]
    if layout.can_draw:
        yield Choice("draw", draws=True)
    yield from steals
    if player.hand and (player.can_pay(PRICE) or not (steals or layout.can_draw)):
        yield Choice("buy", PRICE)
