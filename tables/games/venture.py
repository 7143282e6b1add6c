"""Venture: bids fire at the cards on the table, and captured cards count against the player who takes them.

Designed by James Ernest and Paul Peterson.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Annotated, ClassVar, Final

from msgspec import Meta

from tables.games.cards import RANKS
from tables.games.game import Due, Part, Script, Wording, Words
from tables.games.layout import Layout, Player
from tables.games.protocol import MIDDLE, Choice, Struct, because
from tables.games.script import Scripted

SLUG: Final = {3: 4, 4: 3, 5: 5, 6: 7, 7: 6, 8: 7}
"""Number of cards in the middle by number of players: what makes the hands even."""
KEPT_AT_ONCE: Final = 3


class Rules(Struct, frozen=True):
    """The table's options."""

    draft: Annotated[bool, Meta(description="Hands are drafted by threes before the first bid.")] = False


class Venture(Scripted[Rules]):
    """The game, as the kernel plays it. It ends when the hands are empty."""

    name: ClassVar[str] = "venture"
    title: ClassVar[str] = "Venture"
    carries: ClassVar[frozenset[str]] = frozenset()
    seat_counts: ClassVar[range] = range(3, 9)
    coins: ClassVar[bool] = False
    parts: ClassVar[Mapping[Part, str]] = {
        "stack": "bid",
        "hand": "hand",
        "middle": "pool",
        "facedown": "slug",
        "kept": "captured cards",
        "score": "points",
    }
    words: ClassVar[Mapping[str, Words]] = {
        "keep": Words(
            "Keep",
            "Move the cards that were not kept one seat to the left, facedown.",
            "Three cards are kept at a time, the others go to the left, until all are kept.",
        ),
        "bid": Words(
            "Bid",
            "Turn all bids together, and let them fire from low to high.",
            "The lowest bid captures the highest rank on the table, every other all that is lower; equal ones nothing.",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "down": "First the slug for the middle; all other cards are dealt out.",
        "turn": "The slug is the first pool.",
    }
    outcomes: ClassVar[tuple[str, ...]] = ("win", "split", "lose")
    reasons: ClassVar[Mapping[str, Wording]] = {
        "points": "{points} points, the most have {most}",
    }
    rules_type = Rules

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """The slug, all other cards to the hands, perhaps a draft; then a bid of everyone until the hands are empty."""
        for _ in range(SLUG[len(layout.players)]):
            rank = yield from layout.draw(MIDDLE, down=True)
            layout.pool.append(rank)
        yield from layout.deal(layout.left // len(layout.players), down=True)
        if rules.draft and not layout.opening.blind:
            yield from _draft(layout)
        yield from layout.open_cards(layout.pool, MIDDLE)
        layout.middle, layout.pool = layout.pool, []
        while layout.players[0].hand:
            yield from layout.show_together("bid")
            _fire(layout)
        _score(layout)


def _draft(layout: Layout) -> Script[None]:
    """Each player keeps three cards and passes the others left, until all are kept. Physical cards are not named."""
    passed = {player.seat: player.hand for player in layout.players}
    hands: dict[int, list[int]] = {player.seat: [] for player in layout.players}
    while any(passed.values()):
        choices = yield from layout.choose_all({seat: _keeps(cards) for seat, cards in passed.items()})
        for seat, cards in passed.items():
            for rank in choices[seat].cards or ():
                cards.remove(rank)
                hands[seat].append(rank)
        passed = {layout.left_of(layout.player(seat)).seat: cards for seat, cards in passed.items()}
        for player in layout.players:
            player.hand = [*hands[player.seat], *passed[player.seat]]


def _keeps(cards: list[int]) -> tuple[Choice, ...]:
    """Every three of some cards, or all that are left."""
    threes = sorted(set(combinations(sorted(cards), min(KEPT_AT_ONCE, len(cards)))))
    return tuple(Choice("keep", cards=three) for three in threes)


def _fire(layout: Layout) -> None:
    """Bids fire from low to high, except equal and captured ones; remaining bids stay in the middle."""
    bids = [player.stack[0] for player in layout.players]
    in_order = sorted(layout.players, key=lambda player: player.stack[0])
    for player in in_order:
        if not player.stack or bids.count(player.stack[0]) > 1:
            continue
        bid = player.stack[0]
        if bid == min(bids):
            _capture(layout, player, max([*bids, *layout.middle]).__eq__)
        else:
            _capture(layout, player, bid.__gt__)
    for player in layout.players:
        layout.middle += player.stack
        player.stack.clear()


def _capture(layout: Layout, taker: Player, condition: Callable[[int], bool]) -> None:
    """The cards on the table that are wanted, bids among them, go to one player."""
    for lying in (layout.middle, *(player.stack for player in layout.players)):
        taker.kept += [rank for rank in lying if condition(rank)]
        lying[:] = [rank for rank in lying if not condition(rank)]


def points(layout: Layout, player: Player) -> int:
    """Lose a point for each card, but win a rank that is complete with the cards not taken."""
    total = 0
    for rank in RANKS:
        own_count = player.kept.count(rank)
        is_whole = own_count and own_count + layout.middle.count(rank) == rank
        total += rank if is_whole else -own_count
    return total


def _score(layout: Layout) -> None:
    for player in layout.players:
        player.score = points(layout, player)
    most = max(player.score or 0 for player in layout.players)
    winners = [player for player in layout.players if player.score == most]
    for player in layout.players:
        best = "win" if len(winners) == 1 else "split"
        player.ends(best if player in winners else "lose", because("points", points=player.score or 0, most=most))
