"""Alerts and discrepancies: that there is one, of which kind, and who took note. What it says stays in the house."""

from __future__ import annotations

from typing import Any, ClassVar

from ledger.proof.chain import Entry
from tables.log.published.form import FeedEvent, RoundHistory


class AlertRaised(FeedEvent, frozen=True, kw_only=True):
    """A variance was found, or a rule requires attention."""

    type: ClassVar[str] = "alert.raised"

    alert: int
    kind: str
    book: str | None

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> AlertRaised:
        return cls(alert=event.number, kind=event.what, book=event.book)

    @property
    def about(self) -> str | None:
        return self.book


class AlertAcknowledged(FeedEvent, frozen=True, kw_only=True):
    """A named user acknowledged an alert."""

    type: ClassVar[str] = "alert.acknowledged"

    alert: int


class AlertEscalated(FeedEvent, frozen=True, kw_only=True):
    """An alert was not acknowledged in time."""

    type: ClassVar[str] = "alert.escalated"

    alert: int
    step: int
    level: int


class DiscrepancyOpened(FeedEvent, frozen=True, kw_only=True):
    """A count differs from the transfers."""

    type: ClassVar[str] = "discrepancy.opened"

    discrepancy: int
    kind: str
    level: int
    book: str

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> DiscrepancyOpened:
        return cls(discrepancy=event.number, kind=event.what, level=event.level, book=event.book)

    @property
    def about(self) -> str:
        return self.book


class DiscrepancyClosed(FeedEvent, frozen=True, kw_only=True):
    """A person not involved in a variance recorded its finding."""

    type: ClassVar[str] = "discrepancy.closed"

    discrepancy: int
