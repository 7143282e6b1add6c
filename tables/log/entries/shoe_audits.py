"""Who looked at what a shoe's cards say of those who bet on it."""

from __future__ import annotations

from typing import ClassVar

from tables.log.event import Author
from tables.log.exception_categories import ORDINARY
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.published.form import INVESTIGATION
from tables.log.writers import staff_with


class AuditsListed(Author, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody looked at the list of a day's audited shoes."""

    subject: ClassVar[str] = "shoe_audit"
    kinds: ClassVar[tuple[str, ...]] = ("listed",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.watch_shoes"), moves=NOTHING, exception=ORDINARY, feed=INVESTIGATION, alert=NO_ALERT
    )

    day: str

    def words(self) -> str:
        return f"{self.name} looks at the audited shoes of {self.day}"


class AuditViewed(Author, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody looked at the audit of a shoe that was finished."""

    subject: ClassVar[str] = "shoe_audit"
    kinds: ClassVar[tuple[str, ...]] = ("viewed",)
    of_the_house: ClassVar[bool] = True
    does: ClassVar[str] = "looks at"
    record = KindRecord(
        writer=staff_with("tables.watch_shoes"), moves=NOTHING, exception=ORDINARY, feed=INVESTIGATION, alert=NO_ALERT
    )

    table: str
    shoe: int
    begun_seq: int
    """The entry with which the shoe began to be dealt."""

    def words(self) -> str:
        return f"{self.name} {self.does} the audit of {self.table}, shoe {self.shoe} from entry {self.begun_seq}"


class AuditExported(AuditViewed, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody took a copy of it."""

    kinds: ClassVar[tuple[str, ...]] = ("exported",)
    does: ClassVar[str] = "takes a copy of"
    record = KindRecord(
        writer=staff_with("tables.watch_shoes"), moves=NOTHING, exception=ORDINARY, feed=INVESTIGATION, alert=NO_ALERT
    )
