"""Monster: discards make the Monster's hand, and the best hand among the players must beat it for the pot.

Designed by James Ernest and Paul Peterson.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import ClassVar, Final

from tables.games.cards import UNKNOWN
from tables.games.game import Due, Part, Script, Wording, Words
from tables.games.layout import REASONS, Layout
from tables.games.protocol import MIDDLE, Choice, Struct, because
from tables.games.script import Scripted

HAND: Final = 6
MOST_DISCARDS: Final = 3
PENALTY: Final = 5


class Rules(Struct, frozen=True):
    """No options."""


class Monster(Scripted[Rules]):
    """The game, as the kernel plays it.

    It ends: each deal but one leaves fewer players. The exception, all who remain holding the same best hand and
    losing with it, has no bound by the rules; it is rare enough that no game sees a handful of them.
    """

    name: ClassVar[str] = "monster"
    title: ClassVar[str] = "Monster"
    carries: ClassVar[frozenset[str]] = frozenset({"pot"})
    seat_counts: ClassVar[range] = range(4, 9)
    parts: ClassVar[Mapping[Part, str]] = {
        "stack": "cards",
        "hand": "hand",
        "middle": "the Monster's hand",
        "facedown": "the Monster's cards",
        "pot": "pot",
    }
    words: ClassVar[Mapping[str, Words]] = {
        "discard": Words(
            "Discard",
            "Move the discards facedown to the Monster.",
            "Up to three cards, so that no pair is left in the hand.",
        ),
        "fold": Words(
            "Fold",
            "Clear the hand facedown; it is out of play.",
            "A fold costs nothing more; its cards are not the Monster's.",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "down": "A hand of six; only its owner looks at it.",
        "turn": "All hands are shown, then the Monster's, where each rank counts once.",
        "shuffle": "Nobody has beaten the Monster: the next deal is from the whole deck.",
    }
    outcomes: ClassVar[tuple[str, ...]] = ("win", "split", "lose", "fold", "out")
    reasons: ClassVar[Mapping[str, Wording]] = {
        "last_player": REASONS["last_player"],
        "fold": "folds before the showdown",
        "paired_hand": lambda cards: f"shows {_spoken(cards)}: a hand with a pair has to be folded",
        "beat": lambda best, monster: f"beat the Monster: {_faced(best, monster)}",
        "beaten_by_other": lambda best, monster: f"another hand beat the Monster: {_faced(best, monster)}",
        "lost": lambda best, monster: f"lost to the Monster: {_faced(best, monster)}; pays {PENALTY} to the pot",
    }
    rules_type = Rules

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """Antes; then deals from the whole deck, until the Monster is beaten or one player is left."""
        ante = 2 if len(layout.players) < 6 else 1
        for player in layout.players:
            layout.to_pot(player, ante)
        while True:
            yield from layout.deal(HAND, down=True)
            yield from _discards(layout)
            if len(layout.still_in) > 1 and (yield from _showdown(layout)):
                return
            if len(layout.still_in) == 1:
                layout.last_one_wins()
            if len(layout.still_in) < 2:
                return
            yield from _shuffle_all(layout)


def _discards(layout: Layout) -> Script[None]:
    """Each player in turn feeds the Monster or folds, except a player who alone remains."""
    for player in layout.still_in:
        choice = yield from layout.choose(player, (*_ways_to_discard(player.hand), Choice("fold")))
        for rank in choice.cards or (UNKNOWN,) * (choice.count or 0):
            player.hand.remove(rank)
            layout.pool.append(rank)
        if choice.name == "fold":
            player.out("fold", because("fold"))
        if len(layout.still_in) == 1:
            return


def _ways_to_discard(hand: list[int]) -> Iterator[Choice]:
    """Every way to discard so few cards that no pair is left in the hand. Of unknown cards, only how many."""
    if UNKNOWN in hand:
        yield from (Choice("discard", count=cards) for cards in range(MOST_DISCARDS + 1))
        return
    for cards in range(MOST_DISCARDS + 1):
        for discards in sorted(set(combinations(sorted(hand), cards))):
            if all(copies == 1 for copies in (Counter(hand) - Counter(discards)).values()):
                yield Choice("discard", cards=discards)


def _showdown(layout: Layout) -> Script[bool]:
    """All hands are shown, and the best one faces the Monster: whether it was beaten."""
    yield from _show_all(layout)
    if len(layout.still_in) < 2:
        return False
    monster = sorted(set(layout.middle), reverse=True)
    # As lists compare: card by card from the highest, and a further card is better than none.
    best = max(player.stack for player in layout.still_in)
    tied = [player for player in layout.still_in if player.stack == best]
    faced = {"best": tuple(best), "monster": tuple(monster)}
    if best > monster:
        layout.share_pot(tied)
        for player in layout.still_in:
            player.ends("lose", because("beaten_by_other", **faced))
        for winner in tied:
            winner.ends("win" if len(tied) == 1 else "split", because("beat", **faced))
        return True
    all_lose = len(tied) > 1 and tied == layout.still_in
    for loser in tied:
        layout.to_pot(loser, PENALTY)
        if not all_lose:
            loser.out("out", because("lost", **faced))
    return False


def _show_all(layout: Layout) -> Script[None]:
    """Hands first, then the Monster's. Physical cards may turn out to be a hand that had to be folded."""
    for player in layout.still_in:
        yield from layout.open_hand(player)
        player.stack, player.hand = sorted(player.hand, reverse=True), []
        if len(set(player.stack)) < len(player.stack):
            player.out("fold", because("paired_hand", cards=tuple(player.stack)))
    yield from layout.open_cards(layout.pool, MIDDLE)
    layout.middle, layout.pool = layout.pool, []


def _shuffle_all(layout: Layout) -> Script[None]:
    layout.middle.clear()
    for player in layout.still_in:
        player.stack.clear()
    yield from layout.reshuffle()


def _spoken(cards: Sequence[int]) -> str:
    return "-".join(map(str, cards)) or "no cards"


def _faced(best: Sequence[int], monster: Sequence[int]) -> str:
    return f"{_spoken(best)} against the Monster's {_spoken(monster)}"
