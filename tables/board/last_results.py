"""Net results of the seats in the previous round, until the first card of the next one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from tables.games.protocol import AskBet
from tables.log.state import Round, TableState
from tables.state.round_history import as_of

_NONE: Final[Mapping[int, int]] = {}


def last_results(book_id: int, standing: TableState) -> Mapping[int, int]:
    """Net results by seat, in cents; empty after a void round, and at tables with a pot, where chips show them."""
    current = standing.round
    if current is None or current.coin_cents:
        return _NONE
    if current.over:
        return _nets(current)
    if not any(isinstance(prompt, AskBet) for prompt in current.game.prompts(current.state)):
        return _NONE
    return _nets_before(book_id, current.number, current.first_seq)


@lru_cache(maxsize=1_000)
def _nets_before(book_id: int, number: int, first_seq: int) -> Mapping[int, int]:
    """Net results of the previous round by seat, in cents. Cached: what precedes an entry never changes."""
    before = as_of(book_id, number - 1, first_seq - 1) if number > 1 else None
    return _nets(before.round) if before and before.round else _NONE


def _nets(current: Round) -> Mapping[int, int]:
    return {payout.seat: payout.net_cents for payout in current.settled}
