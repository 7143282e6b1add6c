"""Ladder, a made-up game for two to four: each card must be higher than the one before it, and the longest row wins.

It is the example of docs/adding-a-game.md, which shows this file as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tables.games.game import Due, Part, Script, Wording, Words
from tables.games.layout import Layout, Player
from tables.games.protocol import Choice, Struct, because
from tables.games.script import Scripted

ANTE = 1


class Rules(Struct, frozen=True):
    """The table's options."""

    double_ante: bool = False


class Ladder(Scripted[Rules]):
    """The game, as the kernel plays it. It ends: a row has ten cards at most."""

    name: ClassVar[str] = "ladder"
    title: ClassVar[str] = "Ladder"
    seat_counts: ClassVar[range] = range(2, 5)
    parts: ClassVar[Mapping[Part, str]] = {"stack": "row", "pot": "pot"}
    words: ClassVar[Mapping[str, Words]] = {
        "climb": Words(
            "Climb", "Deal the seat a card faceup.", "A card that is not higher than the last one is a fall."
        ),
        "stop": Words("Stop", "Mark the row as finished.", "The longest row wins."),
    }
    cards: ClassVar[Mapping[Due, str]] = {"seat": "One card each starts the rows."}
    outcomes: ClassVar[tuple[str, ...]] = ("win", "split", "lose", "fall")
    reasons: ClassVar[Mapping[str, Wording]] = {
        "fall": "a {rank} after a {last}",
        "row": "a row of {cards}, the longest has {longest}",
    }
    rules_type = Rules

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """Antes and a card each; then everyone in turn climbs as far as they dare."""
        for player in layout.players:
            layout.to_pot(player, ANTE * (2 if rules.double_ante else 1))
        yield from layout.deal()
        for player in layout.players:
            yield from _climb(layout, player)
        _settle(layout)


def _climb(layout: Layout, player: Player) -> Script[None]:
    """Until the player stops or falls."""
    while layout.can_draw:
        choice = yield from layout.choose(player, (Choice("climb", draws=True), Choice("stop")))
        if choice.name == "stop":
            return
        rank = yield from layout.draw(player.seat)
        if rank <= player.stack[-1]:
            player.out("fall", because("fall", rank=rank, last=player.stack[-1]), rank)
            return
        player.stack.append(rank)


def _settle(layout: Layout) -> None:
    """The longest rows share the pot; if all fell, it stays for the next game."""
    longest = max((len(player.stack) for player in layout.still_in), default=0)
    winners = [player for player in layout.still_in if len(player.stack) == longest]
    for player in layout.still_in:
        won = "win" if len(winners) == 1 else "split"
        reason = because("row", cards=len(player.stack), longest=longest)
        player.ends(won if player in winners else "lose", reason)
    if winners:
        layout.share_pot(winners)
