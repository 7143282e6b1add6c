"""Gaming days: closed by two people, and sealed."""

from __future__ import annotations

from typing import Any, ClassVar

from ledger.proof.chain import Entry
from tables.log.published.form import FeedEvent, RoundHistory


class DayClosed(FeedEvent, frozen=True, kw_only=True):
    """Two people signed a day's figures: they stand for good."""

    type: ClassVar[str] = "day.closed"

    day: str
    digest: str
    """SHA-256 of the day and its figures."""


class DaySealed(FeedEvent, frozen=True, kw_only=True):
    """A day's entries were sealed by the house's key."""

    type: ClassVar[str] = "day.sealed"

    day: str
    root: str

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> DaySealed:
        return cls(day=event.document.day, root=event.document.root)
