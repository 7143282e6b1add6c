"""Port: take cards or lock the stack; the higher the total without a pair, the better the round.

Designed by James Ernest and Paul Peterson.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final

from msgspec import Meta

from tables.games.game import Due, Part, Script, Wording, Words
from tables.games.layout import Layout, Player
from tables.games.pairs import hit_or, take
from tables.games.protocol import Choice, Struct, because
from tables.games.script import Scripted

GOAL: Final = 21
LOCKED: Final = "locked"
BUST: Final = "bust"


class Rules(Struct, frozen=True):
    """The table's options."""

    pieces_of_eight: Annotated[bool, Meta(description="An 8 may be discarded for two cards.")] = False


class Port(Scripted[Rules]):
    """The game, as the kernel plays it."""

    name: ClassVar[str] = "port"
    title: ClassVar[str] = "Port"
    carries: ClassVar[frozenset[str]] = frozenset({"dealt"})
    seat_counts: ClassVar[range] = range(2, 8)
    burn: ClassVar[int] = 5
    coins: ClassVar[bool] = False
    parts: ClassVar[Mapping[Part, str]] = {"stack": "cards", "score": "points"}
    words: ClassVar[Mapping[str, Words]] = {
        "hit": Words(
            "Hit", "Deal the seat a card faceup.", "A card that pairs the stack is a bust: no points in this round."
        ),
        "lock": Words(
            "Lock",
            "Mark the stack as locked.",
            "A locked total scores a point for every player whose total is not higher.",
        ),
        "eight": Words(
            "Discard the 8",
            "Clear the seat's 8, then deal two cards; none after one that pairs.",
            "An 8 may be discarded for two cards.",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "seat": "One card each starts a round, and the low card acts first; a hit that pairs is a bust."
    }
    outcomes: ClassVar[tuple[str, ...]] = ("win", "lose")
    reasons: ClassVar[Mapping[str, Wording]] = {
        "leader": f"{{points}} points, the most of all who reached {GOAL}",
        "behind": "{points} points, the lead has {most}",
    }
    rules_type = Rules

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """Rounds until one player leads with 21 or more; players who tie there continue without the others.

        Players who never lock bust for ever: the game ends because some player locks for points.
        """
        for player in layout.players:
            player.score = 0
        while len(leaders := _leaders(layout)) != 1:
            if leaders:
                _leave(layout, leaders)
            yield from _round(rules, layout)
        _leave(layout, leaders)
        leaders[0].ends("win", because("leader", points=points(leaders[0])))


def points(player: Player) -> int:
    """A player's points in the game so far."""
    return player.score or 0


def _leaders(layout: Layout) -> list[Player]:
    """Those with the highest score, once that is high enough to win."""
    most = max(points(player) for player in layout.still_in)
    return [player for player in layout.still_in if points(player) == most >= GOAL]


def _leave(layout: Layout, leaders: list[Player]) -> None:
    for player in layout.still_in:
        if player not in leaders:
            player.out("lose", because("behind", points=points(player), most=points(leaders[0])))


def _round(rules: Rules, layout: Layout) -> Script[None]:
    """A card each; from the low card on, turns pass left until everybody has locked or bust."""
    playing = layout.still_in
    yield from layout.deal()
    acting = yield from layout.low_card()
    yield from _turn(rules, layout, acting)
    while layout.still_in:
        acting = layout.left_of(acting)
        yield from _turn(rules, layout, acting)
    _score(playing)
    for player in playing:
        player.state = "in"
        player.stack.clear()


def _turn(rules: Rules, layout: Layout, player: Player) -> Script[None]:
    ways = hit_or([Choice("lock")], layout, player, pieces_of_eight=rules.pieces_of_eight)
    choice = yield from layout.choose(player, ways)
    if choice.name == "lock":
        player.state = LOCKED
        return
    _, paired = yield from take(layout, player, choice)
    if paired:
        player.state = BUST
        player.stack.clear()


def _score(playing: list[Player]) -> None:
    """A stack that did not bust scores as many points as there are players whose total is not higher."""
    totals = [sum(player.stack) for player in playing]
    for player, total in zip(playing, totals, strict=True):
        if player.state == LOCKED:
            player.score = points(player) + sum(rival <= total for rival in totals)
