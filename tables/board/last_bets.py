"""Bets of the previous round, so that a bet can be repeated."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from django.db.models import Subquery

from ledger.models import LogEntry, Transfer
from tables.games.protocol import MAIN, AskBet, Bet
from tables.log.state import Round, TableState
from tables.state.round_history import as_of

Spot = tuple[int, str]
"""A seat and a wager."""
_NONE: Final[Mapping[Spot, int]] = {}


def last_bets(book_id: int, standing: TableState) -> Mapping[Spot, int]:
    """Bets of the previous round by seat and wager, in cents, until the next round's bets are closed.

    Empty at tables with a pot.
    """
    current = standing.round
    if current is None:
        return _NONE
    if current.over:
        return placed(current)
    if not any(isinstance(prompt, AskBet) for prompt in current.game.prompts(current.state)):
        return _NONE
    if current.game.spots:
        return _placed_before(book_id, current.number, current.first_seq)
    return _stakes_before(book_id, current.number, current.first_seq)


@lru_cache(maxsize=10_000)
def _placed_before(book_id: int, number: int, first_seq: int) -> Mapping[Spot, int]:
    """The bets of the previous round, replayed from its entries, since its stakes also include doubles and splits.

    Cached: what precedes an entry never changes.
    """
    before = as_of(book_id, number - 1, first_seq - 1)
    return placed(before.round) if before else _NONE


def placed(current: Round) -> Mapping[Spot, int]:
    """The bets that were placed before the cards."""
    bets: dict[Spot, int] = {}
    for play in current.plays:
        for action in play.actions:
            if isinstance(action, Bet):
                bets[action.seat, action.wager] = action.amount_cents
    return {spot: cents for spot, cents in bets.items() if cents}


@lru_cache(maxsize=10_000)
def _stakes_before(book_id: int, number: int, first_seq: int) -> Mapping[Spot, int]:
    """The stakes that settled the previous round, since a table's state contains only the newest round.

    Cached: they never change.
    """
    plays = LogEntry.objects.filter(book=book_id, round=number - 1, subject="round", kind="play", seq__lt=first_seq)
    stakes = Transfer.objects.filter(book=book_id, seq=Subquery(plays.order_by("-seq").values("seq")[:1]), kind="stake")
    return {(seat or 0, MAIN): cents for seat, cents in stakes.values_list("target__seat", "amount_cents")}
