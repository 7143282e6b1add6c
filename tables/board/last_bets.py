"""What the seats bet in the round before, for a bet to be repeated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.db.models import Subquery

from ledger.models import LogEntry, Transfer
from tables.games.felt import AskBet
from tables.log.fold import Standing

_NONE: Final[Mapping[int, int]] = {}


def last_bets(book_id: int, standing: Standing) -> Mapping[int, int]:
    """By seat, in cents, until the bets of the next round are closed; nothing at tables with a pot."""
    current = standing.round
    if current is None:
        return _NONE
    if current.over:
        return {payout.seat: payout.staked_cents for payout in current.house_payouts}
    takes_bets = any(isinstance(prompt, AskBet) for prompt in current.game.prompts(current.state))
    return _stakes_before(book_id, current.number, current.first_seq) if takes_bets else _NONE


def _stakes_before(book_id: int, number: int, first_seq: int) -> Mapping[int, int]:
    """The stakes that settled the round before: the fold of a standing has no more than the newest round."""
    plays = LogEntry.objects.filter(book=book_id, round=number - 1, subject="round", kind="play", seq__lt=first_seq)
    stakes = Transfer.objects.filter(book=book_id, seq=Subquery(plays.order_by("-seq").values("seq")[:1]), kind="stake")
    return {seat or 0: cents for seat, cents in stakes.values_list("target__seat", "amount_cents")}
