"""Disputes of rounds, and corrections that put mispays right."""

from __future__ import annotations

from typing import Any, ClassVar

from ledger.proof.chain import Entry
from tables.log.published.form import FeedEvent, RoundHistory


class DisputeMoved(FeedEvent, frozen=True, kw_only=True):
    """A dispute was opened, heard, ruled on or closed. Whose claim it is, and what was said, stays in the house."""

    type: ClassVar[str] = "dispute.moved"

    dispute: int
    round: int
    seat: int
    """0 for the whole round."""
    state: str
    """opened, ruled or closed."""
    claim_cents: int
    ruling: str | None

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> DisputeMoved:
        claim = event.dispute
        return cls(
            dispute=claim.number,
            round=claim.round,
            seat=claim.seat,
            state=claim.state,
            claim_cents=claim.claim_cents,
            ruling=claim.ruling,
        )


class CorrectionMoved(FeedEvent, frozen=True, kw_only=True):
    """A correction of one seat was proposed, signed or declined. Signed, its chips changed hands."""

    type: ClassVar[str] = "correction.moved"

    slip: str
    round: int
    seat: int
    state: str
    """proposed, signed or declined."""
    recorded_cents: int
    """What the player won by the log; below zero what they lost."""
    due_cents: int
    """What the player should have won."""
    difference_cents: int
    """What changes hands: above zero the house pays, below it takes."""
    dispute: int | None

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> CorrectionMoved:
        mispay = event.correction
        return cls(
            slip=mispay.slip,
            round=mispay.round,
            seat=mispay.seat,
            state=event.kind,
            recorded_cents=mispay.recorded_cents,
            due_cents=mispay.due_cents,
            difference_cents=mispay.difference_cents,
            dispute=mispay.dispute,
        )
