"""Alerts and discrepancies: that there is one, of which kind, and who took note. What it says stays in the house."""

from __future__ import annotations

from typing import Any, ClassVar

from ledger.proof.chain import Entry
from tables.log.published.form import FeedEvent, RoundHistory


class AlertRaised(FeedEvent, frozen=True, kw_only=True):
    """Something does not reconcile, or a rule wants somebody to look."""

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
    """Somebody took note of an alert by name."""

    type: ClassVar[str] = "alert.acknowledged"

    alert: int


class AlertEscalated(FeedEvent, frozen=True, kw_only=True):
    """Nobody took note of an alert in time."""

    type: ClassVar[str] = "alert.escalated"

    alert: int
    step: int
    level: int


class DiscrepancyOpened(FeedEvent, frozen=True, kw_only=True):
    """What was counted and what the transfers say were not the same."""

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
    """Somebody who had no part in it said what a discrepancy came to."""

    type: ClassVar[str] = "discrepancy.closed"

    discrepancy: int
