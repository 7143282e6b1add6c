"""Alerts and discrepancies, and what people did about them. `ledger/journal.py` spells them from their rows."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from tables.log.event import Event


class OfARow(Event, frozen=True, kw_only=True, omit_defaults=True):
    """What became a row of its own in the same transaction."""

    of_the_house: ClassVar[bool] = True

    number: int
    """The row's."""
    at: str
    """The row's moment."""


class AlertRaised(OfARow, frozen=True, kw_only=True, omit_defaults=True):
    """Something does not reconcile."""

    subject: ClassVar[str] = "alert"
    kinds: ClassVar[tuple[str, ...]] = ("raised",)

    book: str | None
    what: str = field(name="kind")
    message: str
    evidence_sha256: str

    def words(self) -> str:
        return f"Alert {self.number}: {self.message}"


class AlertAcknowledged(OfARow, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody took note of an alert by name."""

    subject: ClassVar[str] = "alert"
    kinds: ClassVar[tuple[str, ...]] = ("acknowledged",)

    alert: int
    by: str
    note: str

    def words(self) -> str:
        return f"{self.by} takes note of alert {self.alert}" + (f": {self.note}" if self.note else "")


class DiscrepancyOpened(OfARow, frozen=True, kw_only=True, omit_defaults=True):
    """What was counted and what the transfers say were not the same."""

    subject: ClassVar[str] = "discrepancy"
    kinds: ClassVar[tuple[str, ...]] = ("opened",)

    book: str
    what: str = field(name="kind")
    amount_cents: int
    level: int
    message: str
    evidence_sha256: str
    involved: tuple[str, ...]
    key: str

    def words(self) -> str:
        return f"Discrepancy {self.number}: {self.message}"


class DiscrepancyAssigned(OfARow, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody looks into a discrepancy from now on."""

    subject: ClassVar[str] = "discrepancy"
    kinds: ClassVar[tuple[str, ...]] = ("assigned",)

    discrepancy: int
    username: str
    name: str
    by: str

    def words(self) -> str:
        return f"{self.name} looks into discrepancy {self.discrepancy}"


class DiscrepancyFound(OfARow, frozen=True, kw_only=True, omit_defaults=True):
    """What a discrepancy came to, by somebody who had no part in it."""

    subject: ClassVar[str] = "discrepancy"
    kinds: ClassVar[tuple[str, ...]] = ("found",)

    discrepancy: int
    username: str
    by: str
    text: str

    def words(self) -> str:
        return f"Discrepancy {self.discrepancy} is closed: {self.text}"
