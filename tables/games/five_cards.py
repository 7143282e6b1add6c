"""Five Cards: two players build columns on their sides of five targets, until a card comes that fits nowhere.

Designed by James Ernest and Paul Peterson.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from tables.games.game import Due, Part, Script, Wording, Words
from tables.games.layout import Layout, Player
from tables.games.protocol import MIDDLE, Choice, Struct, because
from tables.games.script import Scripted

TARGETS: Final = 5
GOAL: Final = 100


class Rules(Struct, frozen=True):
    """No options."""


class FiveCards(Scripted[Rules]):
    """The game, as the kernel plays it."""

    name: ClassVar[str] = "five_cards"
    title: ClassVar[str] = "Five Cards"
    names: ClassVar[Mapping[str, str]] = {"column": "card"}
    carries: ClassVar[frozenset[str]] = frozenset({"first"})
    seat_counts: ClassVar[range] = range(2, 3)
    coins: ClassVar[bool] = False
    parts: ClassVar[Mapping[Part, str]] = {
        "stack": "cards",
        "middle": "targets",
        "columns": "columns",
        "score": "points",
    }
    words: ClassVar[Mapping[str, Words]] = {
        "place": Words(
            "Place at column",
            "Lay the card on the seat's side of that column.",
            "A column holds a rank once: its target and both sides count.",
            of="columns",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "middle": "Five targets without a match, sorted.",
        "seat": "The first card that fits no column ends the round.",
        "shuffle": "Each round is dealt from the whole deck.",
    }
    outcomes: ClassVar[tuple[str, ...]] = ("win", "lose")
    reasons: ClassVar[Mapping[str, Wording]] = {
        "points": "{points} points to {opponent}",
    }
    rules_type = Rules

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """Rounds from the whole deck until a player has at least 100 points and more than the other."""
        starts = layout.require_first()
        for player in layout.players:
            player.score = 0
        while not _won(layout):
            yield from _round(layout, starts)
            starts = _score(layout, starts)
        for player in layout.players:
            opponent = layout.left_of(player)
            won = (player.score or 0) > (opponent.score or 0)
            reason = because("points", points=player.score or 0, opponent=opponent.score or 0)
            player.ends("win" if won else "lose", reason)


def _won(layout: Layout) -> bool:
    scores = [player.score or 0 for player in layout.players]
    return max(scores) >= GOAL and scores[0] != scores[1]


def _round(layout: Layout, starts: Player) -> Script[None]:
    """Draw and place in turn, until a card cannot be placed; that card is discarded."""
    yield from _targets(layout)
    for player in layout.players:
        player.columns = {target: [] for target in layout.middle}
    acting = starts
    while True:
        rank = yield from layout.draw(acting.seat)
        acting.stack.append(rank)  # faceup at once: its player decides where it goes
        open_ = [target for target in layout.middle if rank not in _column(layout, target)]
        if not open_:
            acting.stack.pop()
            return
        choice = yield from layout.choose(acting, [Choice("place", card=target) for target in open_])
        acting.columns[choice.card or 0].append(rank)
        acting = layout.left_of(acting)


def _targets(layout: Layout) -> Script[None]:
    """Five cards without a match, sorted. A match that was turned goes back, and the deck is shuffled again."""
    if layout.middle:
        layout.middle.clear()
        for player in layout.players:
            player.stack.clear()
        yield from layout.reshuffle()
    matched = False
    while len(layout.middle) < TARGETS:
        rank = yield from layout.draw(MIDDLE)
        if rank in layout.middle:
            matched = True
        else:
            layout.middle.append(rank)
    layout.middle.sort()
    if matched:
        yield from layout.reshuffle()


def _column(layout: Layout, target: int) -> list[int]:
    """Every card of a column: the target and both sides."""
    return [target, *(rank for player in layout.players for rank in player.columns[target])]


def _score(layout: Layout, started: Player) -> Player:
    """The higher sum takes the target's value, a tie gives each half of it. Returns who starts the next round."""
    first, second = layout.players
    points = {first.seat: 0, second.seat: 0}
    for target in layout.middle:
        mine, theirs = sum(first.columns[target]), sum(second.columns[target])
        if mine == theirs:
            points[first.seat] += target // 2
            points[second.seat] += target // 2
        else:
            points[first.seat if mine > theirs else second.seat] += target
    for player in layout.players:
        player.score = (player.score or 0) + points[player.seat]
    if points[first.seat] == points[second.seat]:
        return layout.left_of(started)
    return min(layout.players, key=lambda player: points[player.seat])
