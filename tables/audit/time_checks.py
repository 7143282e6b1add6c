"""Checks signed statements about time and about a restored database against the site's keys and the logs."""

from __future__ import annotations

import msgspec

from ledger import clock_corrections
from ledger.models import Book, LogEntry
from ledger.proof import seals
from ledger.proof.chain import Entry, mends_in
from ledger.proof.spelling import timestamp
from tables.floor.handlers import checks
from tables.log.catalog import read
from tables.log.entries.clocks import ClockConfirmed, ClockMended, HouseClockMended
from tables.log.entries.days import NoteRestored
from tables.log.entries.keys import AboutKey
from tables.log.event import AuditFailure


@checks(NoteRestored, ClockConfirmed)
def check_signed(event: NoteRestored | ClockConfirmed | ClockMended, entry: Entry) -> None:
    """Check that a document was signed with a key of the site."""
    keys = LogEntry.objects.of_site().filter(subject=AboutKey.subject).values_list("kind", "body")
    events = [read(AboutKey.subject, kind, body, house=True) for kind, body in keys]
    if event.document.key not in {published.key for published in events if isinstance(published, AboutKey)}:
        raise AuditFailure("it is signed by a key that is not the house's")
    if isinstance(event, ClockConfirmed) and event.document.by != entry.by:
        raise AuditFailure(f"its document is signed by {event.document.by}, and {entry.by} wrote it")
    document = msgspec.to_builtins(event.document)
    if not seals.is_signed(event.document.key, bytes.fromhex(event.signature), document):
        raise AuditFailure("its document is not signed by its key")


@checks(ClockMended, HouseClockMended)
def check_mend(event: ClockMended, entry: Entry) -> None:
    """Check that corrected times were signed with the site's key, and do not precede the last true time before them."""
    check_signed(event, entry)
    if event.document.by[:1] != (entry.by,):
        raise AuditFailure(f"its document is not signed first by {entry.by}, who wrote it")
    first = mends_in(entry)[0]
    if event.document.book != Book.objects.get(pk=entry.book_id).name:
        raise AuditFailure("it mends another book")
    if [mend for mend in clock_corrections.of(entry.book_id, first.first, entry.seq) if mend.entry < entry.seq]:
        raise AuditFailure("it mends entries that were mended before")
    if first.first > 1 and timestamp(clock_corrections.time_of(entry.book_id, first.first - 1)) > first.since:
        raise AuditFailure("it mends entries to times before the entry that they follow")
