"""Starboard: everyone bets on one hand in the middle, and on how long it lasts before it pairs.

Designed by James Ernest and Paul Peterson.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from tables.games.game import Due, Part, Script, Wording, Words
from tables.games.layout import Layout, Player
from tables.games.protocol import MIDDLE, Choice, Struct, because
from tables.games.script import Scripted

ANTE: Final = 1
LOCKED: Final = "locked"


class Rules(Struct, frozen=True):
    """No options."""


class Starboard(Scripted[Rules]):
    """The game, as the kernel plays it."""

    name: ClassVar[str] = "starboard"
    title: ClassVar[str] = "Starboard"
    carries: ClassVar[frozenset[str]] = frozenset({"pot", "button", "first", "dealt"})
    seat_counts: ClassVar[range] = range(2, 8)
    burn: ClassVar[int] = 5
    parts: ClassVar[Mapping[Part, str]] = {
        "middle": "hand in the middle",
        "score": "cards at the lock",
        "pot": "pot",
        "button": "button",
    }
    words: ClassVar[Mapping[str, Words]] = {
        "draw": Words(
            "Draw",
            "Move the price to the pot, then deal a card to the middle.",
            "A card that pairs the middle is discarded, and the seat is bust.",
        ),
        "lock": Words(
            "Lock",
            "Mark the seat with the number of cards in the middle.",
            "A lock stands for the cards that lie there now; those locked at fewer are knocked out.",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "middle": "Two cards without a pair start the hand; a card drawn that pairs it is discarded."
    }
    outcomes: ClassVar[tuple[str, ...]] = ("win", "split", "bust", "out")
    reasons: ClassVar[Mapping[str, Wording]] = {
        "pair": "pairs the {rank} in the middle",
        "knocked_out": "was locked at {cards} cards, seat {seat} locks at {more}",
        "locked": "locked at {cards} cards, the highest count",
    }
    rules_type = Rules

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """Antes, two cards in the middle, then turns from the button on until all are locked or bust."""
        acting = _button(layout)
        layout.button = acting.seat
        for player in layout.players:
            layout.to_pot(player, ANTE)
        yield from _two_cards(layout)
        while layout.still_in:
            if len(layout.still_in) == 1:
                _lock(layout, layout.still_in[0])
                break
            yield from _turn(layout, acting)
            if layout.still_in:
                acting = layout.left_of(acting)
        _share(layout)


def _button(layout: Layout) -> Player:
    """Chance gives the button for the first game; then it moves one seat to the left."""
    if layout.opening.button is None:
        return layout.require_first()
    return layout.next_seat(layout.opening.button)


def _two_cards(layout: Layout) -> Script[None]:
    while len(layout.middle) < 2:
        rank = yield from layout.draw(MIDDLE)
        if rank not in layout.middle:
            layout.middle.append(rank)


def _turn(layout: Layout, player: Player) -> Script[None]:
    draw = (Choice("draw", ANTE, draws=True),) if layout.can_draw and player.can_pay(ANTE) else ()
    choice = yield from layout.choose(player, (*draw, Choice("lock")))
    if choice.name == "lock":
        _lock(layout, player)
        return
    layout.to_pot(player, ANTE)
    rank = yield from layout.draw(MIDDLE)
    if rank in layout.middle:
        player.out("bust", because("pair", rank=rank), rank)
    else:
        layout.middle.append(rank)


def _lock(layout: Layout, player: Player) -> None:
    """Lock at the present count; players locked at a lower count are knocked out."""
    cards = len(layout.middle)
    for rival in layout.players:
        if rival.state == LOCKED and (rival.score or 0) < cards:
            reason = because("knocked_out", cards=rival.score or 0, seat=player.seat, more=cards)
            rival.out("out", reason)
            rival.score = None
    player.state, player.score = LOCKED, cards


def _share(layout: Layout) -> None:
    winners = [player for player in layout.players if player.state == LOCKED]
    if winners:
        layout.share_pot(winners)
    for winner in winners:
        outcome = "win" if len(winners) == 1 else "split"
        winner.ends(outcome, because("locked", cards=winner.score or 0))
        winner.score = None
