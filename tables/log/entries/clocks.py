"""Time that was false, and time in which nothing happened: signed by the house's key."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ledger.proof.chain import MENDED
from tables.log.event import AuditFailure, Context, Event
from tables.log.exception_categories import KEYS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, both, from_fields
from tables.log.published.form import OPERATIONS
from tables.log.signatory import document_fault
from tables.log.writers import COMMAND


class MendDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """In which true time the last entries of a book were written."""

    format: str
    book: str
    head: str
    """The hash of the last of them."""
    spans: tuple[tuple[int, int, str, str], ...]
    """(first entry, last entry, since, until)."""
    by: tuple[str, ...]
    reason: str
    key: str


class ClockMended(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The times of the book's last entries were false."""

    subject: ClassVar[str] = MENDED[0]
    kinds: ClassVar[tuple[str, ...]] = (MENDED[1],)
    record = KindRecord(writer=COMMAND, moves=NOTHING, exception=KEYS, feed=OPERATIONS, alert=NO_ALERT)

    document: MendDocument
    signature: str

    def bear_out(self, context: Context) -> None:
        """Two people signed its document."""
        if fault := document_fault(self.document.by):
            raise AuditFailure(fault)

    def description(self) -> Message:
        mend = self.document
        (first, _, since, _), (_, last, _, until) = mend.spans[0], mend.spans[-1]
        return Message(
            "Entries {first} to {last} were dated by a wrong clock; they are of {since} to {until}:"
            " {reason} ({people})",
            first=first,
            last=last,
            since=since,
            until=until,
            reason=mend.reason,
            people=both(mend.by),
        )


class HouseClockMended(ClockMended, frozen=True, kw_only=True, omit_defaults=True):
    """A clock correction in the log of the site."""

    of_the_house: ClassVar[bool] = True
    record = KindRecord(writer=COMMAND, moves=NOTHING, exception=KEYS, feed=OPERATIONS, alert=NO_ALERT)


class Confirmation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person's confirmation that the time without entries really passed."""

    format: str
    since: str = msgspec.field(name="from")
    until: str = msgspec.field(name="to")
    by: str
    reason: str
    key: str


class ClockConfirmed(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Nothing was written for hours, and that is how it was."""

    subject: ClassVar[str] = "clock"
    kinds: ClassVar[tuple[str, ...]] = ("confirmed",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(writer=COMMAND, moves=NOTHING, exception=KEYS, feed=OPERATIONS, alert=NO_ALERT)

    document: Confirmation
    signature: str

    description = from_fields("Nothing happened from {document.since} to {document.until}: {document.reason}")
