"""Audits of finished shoes: each view and export is recorded."""

from __future__ import annotations

from typing import ClassVar

from tables.log.event import Author
from tables.log.exception_categories import ORDINARY
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import from_fields
from tables.log.published.form import INVESTIGATION
from tables.log.writers import staff_with


class AuditsListed(Author, frozen=True, kw_only=True, omit_defaults=True):
    """The list of a day's audited shoes was viewed."""

    subject: ClassVar[str] = "shoe_audit"
    kinds: ClassVar[tuple[str, ...]] = ("listed",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.watch_shoes"), moves=NOTHING, exception=ORDINARY, feed=INVESTIGATION, alert=NO_ALERT
    )

    day: str

    description = from_fields("{name} looks at the audited shoes of {day}")


class AuditViewed(Author, frozen=True, kw_only=True, omit_defaults=True):
    """The audit of a finished shoe was viewed."""

    subject: ClassVar[str] = "shoe_audit"
    kinds: ClassVar[tuple[str, ...]] = ("viewed",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.watch_shoes"), moves=NOTHING, exception=ORDINARY, feed=INVESTIGATION, alert=NO_ALERT
    )

    table: str
    shoe: int
    begun_seq: int
    """The entry with which the shoe began to be dealt."""

    description = from_fields("{name} looks at the audit of {table}, shoe {shoe} from entry {begun_seq}")


class AuditExported(AuditViewed, frozen=True, kw_only=True, omit_defaults=True):
    """The audit of a finished shoe was exported."""

    kinds: ClassVar[tuple[str, ...]] = ("exported",)
    record = KindRecord(
        writer=staff_with("tables.watch_shoes"), moves=NOTHING, exception=ORDINARY, feed=INVESTIGATION, alert=NO_ALERT
    )

    description = from_fields("{name} takes a copy of the audit of {table}, shoe {shoe} from entry {begun_seq}")
