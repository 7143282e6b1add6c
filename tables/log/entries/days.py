"""Gaming days: their figures signed by two people, and the roots that they are sealed with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from tables.log import attestation
from tables.log.event import AuditFailure, Context, Event, UnbadgedAuthor
from tables.log.exception_categories import KEYS, ORDINARY
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, both, from_fields
from tables.log.published import days as forms
from tables.log.published.form import FIRST_SIGNATURE, OPERATIONS
from tables.log.signatory import Signatory, document_fault
from tables.log.writers import COMMAND, SITE, staff_with


class DayFigures(UnbadgedAuthor, Event, frozen=True, kw_only=True, omit_defaults=True):
    """A day's figures under a signature."""

    subject: ClassVar[str] = "day"
    of_the_house: ClassVar[bool] = True

    day: str
    figures: tuple[dict[str, Any], ...]
    """Each table's, by the names of the report's columns."""
    digest: str
    """SHA-256 of the day and its figures."""
    through: dict[str, int]
    """How far each table's book was read."""
    username: str
    name: str
    role: str
    cash: tuple[dict[str, Any], ...] | None = None
    """The cage's cash and the vault's: opening, movements, what was counted. None in entries of before it was told."""
    cash_by_shift: tuple[dict[str, Any], ...] | None = None
    """The cash of each shift, and whether it was counted in time. None in entries of earlier releases."""

    def signed_terms(self) -> Mapping[str, Any]:
        """The day, and its figures by their digest."""
        return {"format": attestation.DAY, "day": self.day, "digest": self.digest, "stage": self.kind}


class DayProposed(DayFigures, frozen=True, kw_only=True, omit_defaults=True):
    """The first signature under a day's figures."""

    kinds: ClassVar[tuple[str, ...]] = ("proposed",)
    record = KindRecord(
        writer=staff_with("tables.run_floor"), moves=NOTHING, exception=ORDINARY, feed=FIRST_SIGNATURE, alert=NO_ALERT
    )

    description = from_fields("{name} signs the figures of {day}")


class DayClosed(DayFigures, frozen=True, kw_only=True, omit_defaults=True):
    """The second signature, which closes the day for good."""

    kinds: ClassVar[tuple[str, ...]] = ("closed",)
    record = KindRecord(
        writer=staff_with("tables.close_day"),
        moves=NOTHING,
        exception=ORDINARY,
        feed=(forms.DayClosed,),
        alert=NO_ALERT,
    )

    proposal: int
    """The entry of the first signature."""
    proposed_by: str
    adjusts: tuple[dict[str, Any], ...] | None = None
    """What had arrived by then for days that were closed before."""

    def signers(self, by: str) -> tuple[Signatory, ...]:
        return *super().signers(by), Signatory(self.proposed_by, self.proposed_by, None, "")

    description = from_fields("{name} signs second: {day} is closed")


class DayRootDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is signed of a gaming day."""

    format: str
    number: int
    day: str
    begins: str
    ends: str
    books: int
    root: str
    slips: list[Any]
    """How far each series of slips is numbered, and which numbers are missing for a day."""
    previous: str | None
    """The hash of the day before."""
    key: str


class DaySealed(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A gaming day was sealed."""

    subject: ClassVar[str] = "day"
    kinds: ClassVar[tuple[str, ...]] = ("sealed",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(writer=SITE, moves=NOTHING, exception=ORDINARY, feed=(forms.DaySealed,), alert=NO_ALERT)

    document: DayRootDocument
    signature: str

    description = from_fields("{document.day} is sealed: {document.root}", root=lambda root: root[:16])


class Restoration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What two people stand for when an older database was put back."""

    format: str
    left: list[Any]
    """(number, day, hash) of the sealed days that are given up."""
    number: int
    """The last day that is left."""
    reason: str
    by: tuple[str, ...]
    key: str


class NoteRestored(Event, frozen=True, kw_only=True, omit_defaults=True):
    """An older database was put back."""

    subject: ClassVar[str] = "day"
    kinds: ClassVar[tuple[str, ...]] = ("restored",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(writer=COMMAND, moves=NOTHING, exception=KEYS, feed=OPERATIONS, alert=NO_ALERT)

    document: Restoration
    signature: str

    def bear_out(self, context: Context) -> None:
        """Two people signed its document."""
        if fault := document_fault(self.document.by):
            raise AuditFailure(fault)

    def description(self) -> Message:
        return Message(
            "An older database was put back, {days} sealed days are given up: {reason} ({people})",
            days=len(self.document.left),
            reason=self.document.reason,
            people=both(self.document.by),
        )
