"""Slips and their signatures. The amounts of a blind count are withheld until its slip is complete, so that the second
counter cannot know the first count."""

from __future__ import annotations

from typing import Any, ClassVar

from ledger.proof.chain import Entry
from tables.log.published.form import FeedEvent, RoundHistory


class SlipStepSigned(FeedEvent, frozen=True, kw_only=True):
    """One step of a slip was signed."""

    type: ClassVar[str] = "slip.signed"

    slip: str
    """Its series, year and number."""
    series: str
    step: str
    username: str
    role: str
    state: str
    """in_progress, complete or void."""
    amount_cents: int | None
    """What is moved; of a count what two people agreed upon, once the slip is complete."""

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> SlipStepSigned:
        slip = event.after
        goes_on = slip in event.waiting
        blind = slip.series.count is not None and (goes_on or slip.agreed is None)
        return cls(
            slip=event.slip,
            series=slip.series.name,
            step=event.stage,
            username=event.username,
            role=event.role,
            state="void" if slip.is_void else "in_progress" if goes_on else "complete",
            amount_cents=None if blind else slip.total_cents,
        )
