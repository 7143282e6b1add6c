"""A table whose book was put back to an earlier moment: what was acknowledged beyond its end, and who confirmed it.

Each entry says all of how the table stands after it, so that the latest one is enough to know it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Final

from tables.log.event import AuditFailure, Author, Context, Event
from tables.log.exception_categories import MISHAPS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message
from tables.log.published.form import ALERT_TELLS
from tables.log.state import Beyond, Restored, TableState
from tables.log.writers import RESTORE_CONFIRMER, RESTORE_FINDER

SUBJECT: Final = "restored"
STILL: Final = frozenset(
    {"round", "shoe", "rack", "slip", "seats", "commission", "chips", "mishap", "reader", "correction", "outage"}
)
"""The subjects of entries that are not written while a table awaits confirmation."""
MOST: Final = 40
"""The maximum number of receipts listed."""


def stands_still(standing: TableState, event: Event) -> bool:
    """Whether an entry has to wait until the table is confirmed."""
    return standing.restored is not None and standing.restored.waits and event.subject in STILL


class BookBehind(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The book is behind what was acknowledged of it: an older database was put back."""

    subject: ClassVar[str] = SUBJECT
    kinds: ClassVar[tuple[str, ...]] = ("book_behind",)
    record = KindRecord(
        writer=RESTORE_FINDER, moves=NOTHING, exception=MISHAPS, feed=ALERT_TELLS, alert=("book_behind",)
    )

    ended: int
    """The book's last entry when it was found to be behind."""
    beyond: tuple[Beyond, ...] = ()
    """All receipts presented so far, the newest last. Empty if the restore was declared."""
    declared: str = ""
    """The reason given by the person who restored the database."""
    confirmed: int = 0
    """The entry that last confirmed the table before, and the last entry that was acknowledged and given up with it."""
    through: int = 0

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(
            standing,
            restored=Restored(self.ended, self.beyond, self.declared, self.confirmed, self.through, waits=True),
        )

    def bear_out(self, context: Context) -> None:
        """It adds to what was shown before, and forgets nothing of it."""
        before = context.before.restored or Restored()
        earlier = before.beyond if before.waits else ()
        ended = before.ended if before.waits else context.seq - 1
        if self.beyond[: len(earlier)] != earlier or len(self.beyond) > len(earlier) + 1:
            raise AuditFailure("it is not what was shown before, with one more")
        if (self.ended, self.confirmed, self.through) != (ended, before.confirmed, before.through):
            raise AuditFailure("it says otherwise where the book ended, or up to where it was confirmed")

    def description(self) -> Message:
        if not self.beyond:
            return Message(
                "The records were put back to an earlier moment: they end at entry {ended} ({declared})",
                ended=self.ended,
                declared=self.declared,
            )
        newest = self.beyond[-1]
        if newest.seq > self.ended:
            receipt = Message("{who} was acknowledged entry {entry}", who=newest.by, entry=newest.seq)
        else:
            receipt = Message("{who} was acknowledged another entry {entry}", who=newest.by, entry=newest.seq)
        return Message("The records end at entry {ended}; {receipt}", ended=self.ended, receipt=receipt)


class RestoreConfirmed(Author, frozen=True, kw_only=True, omit_defaults=True):
    """A pit boss looked at the table, and lets it deal on."""

    subject: ClassVar[str] = SUBJECT
    kinds: ClassVar[tuple[str, ...]] = ("confirmed",)
    record = KindRecord(writer=RESTORE_CONFIRMER, moves=NOTHING, exception=MISHAPS, feed=ALERT_TELLS, alert=NO_ALERT)

    ended: int
    """The book's last entry when it was found to be behind."""
    through: int
    """The last entry that was acknowledged and is given up."""
    note: str
    """What the hands show."""

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(standing, restored=Restored(self.ended, confirmed=seq, through=self.through))

    def bear_out(self, context: Context) -> None:
        before = context.before.restored
        if before is None or not before.waits or (self.ended, self.through) != (before.ended, before.reach):
            raise AuditFailure("it confirms a table that does not wait for it, or up to another entry")

    def description(self) -> Message:
        if self.through <= self.ended:
            return Message(
                "The table is confirmed after a restore, from entry {ended} on: {note}",
                ended=self.ended,
                note=self.note,
            )
        return Message(
            "The table is confirmed after a restore, from entry {ended} on, {count} lost: {note}",
            ended=self.ended,
            count=self.through - self.ended,
            note=self.note,
        )
