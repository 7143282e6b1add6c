"""Blackstone: dare each other to take more and more cards, and never take a second 10.

Designed by James Ernest and Paul Peterson. The 10s are black stones, all other cards are white ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from tables.games.game import Due, Part, Script, Wording, Words
from tables.games.layout import Layout, Player
from tables.games.protocol import Choice, Struct, because
from tables.games.script import Scripted

ANTE: Final = 5
BLACK: Final = 10


class Rules(Struct, frozen=True):
    """No options."""


class Blackstone(Scripted[Rules]):
    """The game, as the kernel plays it. An ante is in front of its owner, and paid by the players who lose it."""

    name: ClassVar[str] = "blackstone"
    title: ClassVar[str] = "Blackstone"
    seat_counts: ClassVar[range] = range(2, 9)
    parts: ClassVar[Mapping[Part, str]] = {"stack": "black stone", "middle": "white stones", "pot": "pot"}
    words: ClassVar[Mapping[str, Words]] = {
        "take": Words(
            "Take",
            "Reveal the cards one by one, up to the seat's second 10. White stones go to the middle.",
            "At least as many as the last player took. A second 10 pays the ante and a coin for each white stone.",
        ),
        "fold": Words(
            "Fold",
            "Move the seat's ante and what the fold costs to the pot.",
            "A fold pays half the white stones, rounded up, and the ante.",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "seat": "A 10 is a black stone and stays with the seat; all others are white stones for the middle.",
        "shuffle": "Extra 10s go back into the deck first: nobody starts with more than one.",
    }
    outcomes: ClassVar[tuple[str, ...]] = ("win", "split", "fold", "pair")
    reasons: ClassVar[Mapping[str, Wording]] = {
        "fold": "pays the ante and {cost}, half of {stones} white stones, to the pot",
        "pair": "pair of 10s: pays the ante and {stones}, one for each white stone, to the pot",
        "last_player": "the last player in takes the pot",
        "survivors": "one of {count} survivors who share the pot",
    }
    rules_type = Rules

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """The low card starts; then everyone takes as many cards as the one before or folds, until a second 10.

        Every turn takes cards from the deck or a player from the game: it ends.
        """
        yield from layout.deal()
        acting = yield from layout.low_card(pairs_count=False)
        yield from _sort_stones(layout)
        least = 1
        while True:
            choice = yield from layout.choose(acting, _choices(layout, least))
            if choice.count is None:
                _fold(layout, acting)
            else:
                least = choice.count
                yield from _take(layout, acting, least)
            if acting.outcome == "pair" or len(layout.still_in) == 1:
                break
            acting = layout.left_of(acting)
        _share(layout)


def fold_cost(layout: Layout) -> int:
    """Half the white stones, rounded up, in coins; the ante is lost as well."""
    return (len(layout.middle) + 1) // 2


def _sort_stones(layout: Layout) -> Script[None]:
    """White stones go to the middle; of several 10s a player keeps one, the others are shuffled back."""
    returned = 0
    for player in layout.players:
        layout.middle += [rank for rank in player.stack if rank != BLACK]
        black = player.stack.count(BLACK)
        player.stack = [BLACK] if black else []
        returned += max(0, black - 1)
    if returned:
        yield from layout.reshuffle()


def _choices(layout: Layout, least: int) -> list[Choice]:
    takes = [Choice("take", count=count) for count in range(least, layout.left + 1)]
    return [*takes, Choice("fold", fold_cost(layout))]


def _fold(layout: Layout, player: Player) -> None:
    cost = fold_cost(layout)
    layout.to_pot(player, ANTE + cost)
    player.out("fold", because("fold", cost=cost, stones=len(layout.middle)))


def _take(layout: Layout, player: Player, cards: int) -> Script[None]:
    """The cards are revealed one by one, but none after the player's second 10."""
    for _ in range(cards):
        rank = yield from layout.draw(player.seat)
        if rank != BLACK:
            layout.middle.append(rank)
        elif BLACK not in player.stack:
            player.stack.append(rank)
        else:
            white = len(layout.middle)
            layout.to_pot(player, ANTE + white)
            player.out("pair", because("pair", stones=white), BLACK)
            return


def _share(layout: Layout) -> None:
    survivors = layout.still_in
    layout.share_pot(survivors)
    alone = len(survivors) == 1
    for survivor in survivors:
        reason = because("last_player") if alone else because("survivors", count=len(survivors))
        survivor.ends("win" if alone else "split", reason)
