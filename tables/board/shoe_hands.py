"""The hands of the shoe on a table, as its road maps have them: read from the log, of finished rounds alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from django.db.models import Max

from ledger.models import LogEntry
from tables.board.roads import Hand, Winner
from tables.games.cards import RANK_OF
from tables.games.protocol import BANKER_HAND, DRAGON, PLACE_NAMES, PLAYER_HAND, TIGER
from tables.log.state import Round, TableState
from tables.state.round_history import as_of

HAS_ROADS: Final = frozenset({"baccarat", "dragon_tiger"})
"""The games that have road maps."""
_NATURAL: Final = 8


def hands_of_shoe(book_id: int, standing: TableState) -> Sequence[Hand]:
    """The hands dealt since the shoe was made ready, in order.

    Costs one query and the hands since the last call: what precedes an entry never changes.
    """
    shoe = standing.shoe
    if shoe is None or shoe.stage != "ready":
        return ()
    entries = LogEntry.objects.filter(book_id=book_id, subject="round", seq__gte=shoe.ready_seq, seq__lte=standing.seq)
    rounds = entries.values("round").annotate(last=Max("seq")).order_by("round").values_list("round", "last")
    hands = [_hand_as_of(book_id, number or 0, last) for number, last in rounds]
    return [hand for hand in hands if hand is not None]


@lru_cache(maxsize=4_000)
def _hand_as_of(book_id: int, number: int, last_seq: int) -> Hand | None:
    past = as_of(book_id, number, last_seq)
    return _hand(past.round) if past is not None and past.over and not past.round.voided else None


def _hand(current: Round) -> Hand | None:
    lying = {hand.name: hand.cards for hand in current.view(0).hands or ()}
    for sides, hand_of in (((PLAYER_HAND, BANKER_HAND), _of_points), ((DRAGON, TIGER), _of_ranks)):
        names = [PLACE_NAMES[side] for side in sides]
        if all(lying.get(name) for name in names):
            return hand_of(*(lying[name] for name in names))
    return None


def _of_points(player: Sequence[int], banker: Sequence[int]) -> Hand:
    points = _points(player), _points(banker)
    winner: Winner = "player" if points[0] > points[1] else "banker" if points[0] < points[1] else "tie"
    is_natural = max(points) >= _NATURAL and len(banker if points[1] > points[0] else player) == 2
    return Hand(
        winner,
        player_pair=_is_pair(player),
        banker_pair=_is_pair(banker),
        natural=max(points) if is_natural and winner != "tie" else None,
    )


def _of_ranks(dragon: Sequence[int], tiger: Sequence[int]) -> Hand:
    ranks = RANK_OF[dragon[0]], RANK_OF[tiger[0]]
    return Hand("dragon" if ranks[0] > ranks[1] else "tiger" if ranks[0] < ranks[1] else "tie")


def _points(cards: Sequence[int]) -> int:
    return sum(min(RANK_OF[card], 10) for card in cards) % 10


def _is_pair(cards: Sequence[int]) -> bool:
    return RANK_OF[cards[0]] == RANK_OF[cards[1]]
