"""Sweep: cards from the hand capture cards from the middle; the most cards of each rank score it.

Designed by James Ernest and Paul Peterson.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from operator import attrgetter
from typing import ClassVar, Final, NamedTuple

from tables.games.captures import most_of_each_rank
from tables.games.game import Due, Part, Script, Wording, Words
from tables.games.layout import Layout, Player, cards_to
from tables.games.protocol import MIDDLE, Struct, because
from tables.games.script import Scripted

HAND: Final = 5
MIDDLE_CARDS: Final = 5


class Rules(Struct, frozen=True):
    """No options."""


class Played(NamedTuple):
    """A card in front of its player until it has captured."""

    rank: int
    player: Player


class Sweep(Scripted[Rules]):
    """The game, as the kernel plays it."""

    name: ClassVar[str] = "sweep"
    title: ClassVar[str] = "Sweep"
    carries: ClassVar[frozenset[str]] = frozenset({"first"})
    seat_counts: ClassVar[range] = range(3, 7)
    coins: ClassVar[bool] = False
    parts: ClassVar[Mapping[Part, str]] = {
        "stack": "card played",
        "hand": "hand",
        "middle": "cards to capture",
        "score": "points",
    }
    words: ClassVar[Mapping[str, Words]] = {
        "play": Words(
            "Play",
            "Lay the card faceup before the seat.",
            "The lowest card captures all of the highest rank in the middle, every other all that are lower.",
        ),
        "capture": Words(
            "Capture",
            "Move the card from the middle to the seat's hand.",
            "Equal cards capture one card at a time, in turn.",
            of="middle",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "down": "A hand of five; only its owner looks at it.",
        "middle": "Five cards to capture in each round.",
        "turn": "The most cards of a rank in hand score that rank.",
    }
    outcomes: ClassVar[tuple[str, ...]] = ("win", "split", "lose")
    reasons: ClassVar[Mapping[str, Wording]] = {
        "points": "{points} points, the most have {most}",
    }
    rules_type = Rules

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """Five cards to each hand; rounds of five cards in the middle until the deck is used up; then the score."""
        starts = layout.require_first()
        yield from layout.deal(HAND, down=True)
        while layout.left:
            yield from _turn_up(layout)
            played = yield from _play(layout, starts)
            starts = (yield from _capture(layout, played)) or starts
            _clear(layout)
        for player in layout.players:
            yield from layout.open_hand(player)
        _score(layout)


def _turn_up(layout: Layout) -> Script[None]:
    """Five cards to the middle; at the end of the deck, as many as there are."""
    for _ in range(min(MIDDLE_CARDS, layout.left)):
        rank = yield from layout.draw(MIDDLE)
        layout.middle.append(rank)


def _play(layout: Layout, starts: Player) -> Script[list[Played]]:
    """In turn, each player plays one card faceup; an empty hand sits out."""
    played = []
    for player in layout.clockwise(starts):
        if not player.hand:
            continue
        choice = yield from layout.choose(player, cards_to("play", layout.may_show(player)))
        rank = choice.card or 0
        layout.show(player, rank)
        player.stack.append(rank)
        played.append(Played(rank, player))
    return played


def _capture(layout: Layout, played: list[Played]) -> Script[Player | None]:
    """Capture in ascending order; equal cards take turns, first played first. Returns the player who captured last."""
    last = None
    ascending = sorted(played, key=attrgetter("rank"))  # stable: equal cards stay in the order they were played
    for turn, (rank, group) in enumerate(groupby(ascending, key=attrgetter("rank"))):
        players = [play.player for play in group]
        targets = _highest(layout) if turn == 0 else [card for card in layout.middle if card < rank]
        last = (yield from _take_turns(layout, players, targets)) or last
        for player in players:
            player.stack.remove(rank)
            layout.middle.append(rank)
    return last


def _highest(layout: Layout) -> list[int]:
    """All cards of the highest rank in the middle."""
    return [card for card in layout.middle if card == max(layout.middle)]


def _take_turns(layout: Layout, players: list[Player], targets: list[int]) -> Script[Player | None]:
    """A single card takes all its targets; tied ones take one card each in turn. Returns the player who took the
    last."""
    last = None
    for turn in range(len(targets)):
        player = last = players[turn % len(players)]
        if len(players) == 1:
            rank = targets[0]
        else:
            rank = (yield from layout.choose(player, cards_to("capture", targets))).card or 0
        targets.remove(rank)
        layout.middle.remove(rank)
        player.hand.append(rank)
    return last


def _clear(layout: Layout) -> None:
    """Discard what is left in the middle: out of the game, since the deck is dealt only once."""
    layout.aside.extend(layout.middle)
    layout.middle.clear()


def _score(layout: Layout) -> None:
    points = most_of_each_rank({player.seat: player.hand for player in layout.players})
    most = max(points.values())
    winners = sum(score == most for score in points.values())
    for player in layout.players:
        player.score = points[player.seat]
        best = "win" if winners == 1 else "split"
        player.ends(best if player.score == most else "lose", because("points", points=player.score or 0, most=most))
