"""Alerts and discrepancies, and what people did about them. `ledger/findings.py` spells them from their rows."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from tables.log.event import Event
from tables.log.exception_categories import ALERTS, DISCREPANCIES, ORDINARY
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import codes, from_fields
from tables.log.published import alerts as forms
from tables.log.published.form import INVESTIGATION
from tables.log.writers import SITE, staff_with


class OfARow(Event, frozen=True, kw_only=True, omit_defaults=True):
    """An entry written in the same transaction as a row of its own."""

    of_the_house: ClassVar[bool] = True

    number: int
    """The row's."""
    at: str
    """The row's moment."""


class AlertRaised(OfARow, frozen=True, kw_only=True, omit_defaults=True):
    """Something does not reconcile."""

    subject: ClassVar[str] = "alert"
    kinds: ClassVar[tuple[str, ...]] = ("raised",)
    record = KindRecord(writer=SITE, moves=NOTHING, exception=ALERTS, feed=(forms.AlertRaised,), alert=NO_ALERT)

    book: str | None
    what: str = field(name="kind")
    message: str
    evidence_sha256: str

    description = from_fields("Alert {number}: {message}")


class AlertAcknowledged(OfARow, frozen=True, kw_only=True, omit_defaults=True):
    """A named user acknowledged an alert."""

    subject: ClassVar[str] = "alert"
    kinds: ClassVar[tuple[str, ...]] = ("acknowledged",)
    record = KindRecord(
        writer=staff_with("tables.acknowledge", "ledger.acknowledge_alert"),
        moves=NOTHING,
        exception=ORDINARY,
        feed=(forms.AlertAcknowledged,),
        alert=NO_ALERT,
    )

    alert: int
    by: str
    note: str

    description = from_fields(
        "{by} takes note of alert {alert}: {note}", otherwise=from_fields("{by} takes note of alert {alert}")
    )


class AlertEscalated(OfARow, frozen=True, kw_only=True, omit_defaults=True):
    """An alert was not acknowledged in time and was escalated to further people."""

    subject: ClassVar[str] = "alert"
    kinds: ClassVar[tuple[str, ...]] = ("escalated",)
    record = KindRecord(writer=SITE, moves=NOTHING, exception=ORDINARY, feed=(forms.AlertEscalated,), alert=NO_ALERT)

    alert: int
    step: int
    """How often it was escalated by then."""
    level: int
    roles: tuple[str, ...]
    """Who hears of it from then on."""

    description = from_fields("Nobody took note of alert {alert}: escalated to {roles}", roles=codes)


class BookmarkMade(OfARow, frozen=True, kw_only=True, omit_defaults=True):
    """The surveillance marked a moment; which one, and why, stays with the surveillance and the auditors."""

    subject: ClassVar[str] = "bookmark"
    kinds: ClassVar[tuple[str, ...]] = ("made",)
    record = KindRecord(
        writer=staff_with("tables.bookmark"), moves=NOTHING, exception=ORDINARY, feed=INVESTIGATION, alert=NO_ALERT
    )

    by: str
    bookmark_sha256: str

    description = from_fields("{by} makes bookmark {number}")


class DiscrepancyOpened(OfARow, frozen=True, kw_only=True, omit_defaults=True):
    """A count differs from the transfers."""

    subject: ClassVar[str] = "discrepancy"
    kinds: ClassVar[tuple[str, ...]] = ("opened",)
    record = KindRecord(
        writer=SITE, moves=NOTHING, exception=DISCREPANCIES, feed=(forms.DiscrepancyOpened,), alert=("discrepancy",)
    )

    book: str
    what: str = field(name="kind")
    amount_cents: int
    level: int
    message: str
    evidence_sha256: str
    involved: tuple[str, ...]
    key: str

    description = from_fields("Discrepancy {number}: {message}")


class DiscrepancyAssigned(OfARow, frozen=True, kw_only=True, omit_defaults=True):
    """A variance was assigned to a person for investigation."""

    subject: ClassVar[str] = "discrepancy"
    kinds: ClassVar[tuple[str, ...]] = ("assigned",)
    record = KindRecord(
        writer=staff_with("ledger.acknowledge_alert"),
        moves=NOTHING,
        exception=ORDINARY,
        feed=INVESTIGATION,
        alert=NO_ALERT,
    )

    discrepancy: int
    username: str
    name: str
    by: str

    description = from_fields("{name} looks into discrepancy {discrepancy}")


class DiscrepancyFound(OfARow, frozen=True, kw_only=True, omit_defaults=True):
    """The finding on a variance, by a person not involved in it."""

    subject: ClassVar[str] = "discrepancy"
    kinds: ClassVar[tuple[str, ...]] = ("found",)
    record = KindRecord(
        writer=staff_with("ledger.acknowledge_alert"),
        moves=NOTHING,
        exception=ORDINARY,
        feed=(forms.DiscrepancyClosed,),
        alert=NO_ALERT,
    )

    discrepancy: int
    username: str
    by: str
    text: str

    description = from_fields("Discrepancy {discrepancy} is closed: {text}")
