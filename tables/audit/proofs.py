"""Verifies a log: the chain, each round through the game engine, and each transfer, from the log alone.

A verification reads a log's entries and transfers once, in order and in chunks, and stops at the first fault. A
verification of new entries starts from the last verified one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Final

from django.conf import settings
from django.db import DataError
from django.db.models import Exists, Max, OuterRef

from ledger import queue
from ledger.alerts import raise_alert, raise_lasting
from ledger.cage import chart, transfers
from ledger.inspection import OUTAGE, unexpected_fault
from ledger.log import entries, read_head
from ledger.models import HOUSE, Book, LogEntry, Recount
from ledger.proof import p256
from ledger.proof.chain import Broken, Entry, Fault, Head, walk
from ledger.proof.chips import RACK
from ledger.proof.moves import Posted, reconcile
from ledger.recount import beyond_head, wrong_recount
from ledger.slips import unmatched
from tables.audit import commitments, day_seals, log_rules, row_comparison, sealed_note_checks
from tables.audit.floor_as_of import Floor
from tables.floor import signature_checks
from tables.floor.card_readers import latest_number
from tables.games.protocol import Illegal
from tables.log import non_tracked
from tables.log.catalog import event_of
from tables.log.event import AuditFailure, Unreadable
from tables.log.reader_messages import Messages
from tables.log.replay import Replay
from tables.log.shoe_orders import Seals, Unproven
from tables.log.state import UNREADABLE, TableState
from tables.models import (
    DayClose,
    SeriesRetirement,
    Table,
    Verification,
)
from tables.projections.site_rows import SITE_ROWS
from tables.state import table_state

ROWS_OF_ENTRIES: Final = (
    *((projection.model, projection.event.subject, projection.event.kinds[0]) for projection in SITE_ROWS),
    (DayClose, "day", "closed"),
    (SeriesRetirement, "slip", "retirement_confirmed"),
)
"""Rows that index entries of the site log: the model, and the subject and kind of its entries."""
AT_MOST: Final = 40
"""The maximum number of faults that are listed of one witness."""
NAMED: Final = 3
"""The number of faults that an alert names; it counts the rest."""
ENOUGH: Final = 110
"""Characters of each fault in an alert with several faults."""
MOST_ORPHANS: Final = 1_000
"""The maximum number of rows of one kind without an entry that are named: a report is held in memory."""
Check = Callable[[], Iterable[Fault | None]]


@dataclass(slots=True)
class BookProof:
    """The result of verifying one log: counts, the first fault, and further ones if all were requested."""

    book: str
    entries: int = 0
    rounds: int = 0
    transfers: int = 0
    fault: Fault | None = None
    further: list[Fault] = field(default_factory=list)
    through: Head | None = None

    @property
    def faults(self) -> list[Fault]:
        """All faults, the first one first."""
        return [self.fault, *self.further] if self.fault else []

    def add(self, fault: Fault) -> None:
        """Add a fault."""
        if self.fault is None:
            self.fault = fault
        else:
            self.further.append(fault)


def verify(book: Book, since: Verification | None = None, *, with_note: bool = True, every: bool = False) -> BookProof:
    """Verify a log from its first entry, or from the end of an earlier verification.

    Any content of the log leads to a report, because other logs are verified after it. For the site log, the note next
    to the key is compared with all logs, if the key is on this host and ``with_note`` is set. ``every``: continue after
    the first fault. The chain is followed up to its first fault only; the other checks are made in any case.
    """
    # The chain is first: the other checks rely on entries that it has verified.
    report, start = _followed(book, since), since.through_seq if since else 0
    for check in _checks(book, start, with_note=with_note):
        if every or report.fault is None:
            _make(check, report, start, every=every)
    if report.fault is not None:
        # A log with a fault is not verified up to any entry: the next verification starts at the same place.
        report.through = None
    return report


def _followed(book: Book, since: Verification | None) -> BookProof:
    """The verified chain, rounds and transfers of a log up to its head."""
    try:
        head = read_head(book.pk)
        after = Head(book.pk, head.name, since.through_seq, bytes(since.head_hash)) if since else None
        report = prove(book, after, head)
        report.through = head
    except OUTAGE:
        raise
    except Exception as error:
        start = since.through_seq if since else 0
        report = BookProof(book.name, fault=unexpected_fault(book.name, start + 1, error))
    return report


def _checks(book: Book, start: int, *, with_note: bool) -> list[Check]:
    """The checks of a log apart from its chain, for entries after ``start``."""
    checks: list[Check] = [
        lambda: [beyond_head(book.pk)],
        lambda: [wrong_recount(book.pk, since=_recounted(book, start))],
        lambda: [_unsigned(book, start)],
        lambda: [day_seals.wrong_root(book, since=start)],
    ]
    if book.name == HOUSE:
        checks += [lambda: orphan_rows(book), lambda: [queue.fault(book, start)]]
        checks += [lambda: [sealed_note_checks.fault()]] if with_note else []
        checks += [lambda: [unlisted_root(listed_roots())]]
    return checks


def _make(check: Check, report: BookProof, start: int, *, every: bool) -> None:
    """Make one check; an unexpected exception counts as a fault."""
    try:
        for fault in filter(None, check()):
            report.add(fault)
            if not every:
                return
    except OUTAGE:
        raise
    except Exception as error:
        report.add(unexpected_fault(report.book, start + report.entries + 1, error))


def prove(book: Book, after: Head | None, through: Head) -> BookProof:
    """Verify a range of a log: the entries after one head (None: the start) up to another."""
    report = BookProof(book.name)
    start = after.seq if after else 0
    chain = walk(entries(book.pk, start, through.seq), through, after=after, anchors=_anchors(book, start, through.seq))
    try:
        proof = _proof(book, after, report)
        for entry, posted in reconcile(chain, transfers(book.pk, start, through.seq), book.name):
            proof.check(entry, posted)
        # Only a verification from the first entry knows all commitments.
        if after is None and book.name != HOUSE:
            report.fault = commitments.stored_order_fault(book, proof.committed, proof.replay.seals, through)
    except Broken as broken:
        report.fault = broken.fault
    except Unproven as unproven:
        report.fault = Fault(book.name, unproven.seq, unproven.what)
    except (AuditFailure, Unreadable) as wrong:
        report.fault = Fault(book.name, start + report.entries + 1, str(wrong))
    except Illegal as illegal:
        what = f"the rules do not allow it: {illegal.sentence}"
        report.fault = Fault(book.name, start + report.entries + 1, what)
    except (*UNREADABLE, DataError) as error:
        # Any content of the log must end in a fault that names the entry, never in a traceback.
        what = f"it is no entry that a table can write: {type(error).__name__}: {str(error)[:200]}"
        report.fault = Fault(book.name, start + report.entries + 1, what)
    return report


def orphan_rows(book: Book) -> Iterator[Fault]:
    """Rows of the site without the log entry that they index."""
    for model, subject, kind in ROWS_OF_ENTRIES:
        entry = LogEntry.objects.filter(book=book, seq=OuterRef("seq"), subject=subject, kind=kind)
        for seq in model.objects.filter(~Exists(entry)).order_by("seq").values_list("seq", flat=True)[:MOST_ORPHANS]:
            yield Fault(book.name, seq, f"a row of {model._meta.verbose_name} names it, and it is no such entry")


def verify_new(book: Book) -> BookProof:
    """Verify the entries since the last verification, and store how far the log is verified now."""
    since = Verification.objects.filter(book=book).order_by("-through_seq").first()
    report = verify(book, since)
    head = report.through
    if head is not None and head.hash is not None and (since is None or head.seq > since.through_seq):
        Verification.objects.create(
            book=book,
            through_seq=head.seq,
            head_hash=bytes(head.hash),
            rounds=report.rounds,
            transfers=report.transfers,
        )
    return report


def verify_all() -> list[str]:
    """Verify each log from its first entry and count all faults. Returns the messages of the alerts."""
    reports = ((book, verify(book, every=True)) for book in books())
    return [message for book, report in reports if (message := alert(report, book))]


def alert(report: BookProof, book: Book) -> str | None:
    """Open an alert if a verification found a fault. Returns its message, or None."""
    if report.fault is None:
        return None
    message = f"The log does not hold: {summary([str(fault) for fault in report.faults])}"
    facts = {"seq": report.fault.seq, "what": report.fault.what}
    raise_alert(book, "log_broken", message, facts | ({"faults": len(report.faults)} if report.further else {}))
    return message


def summary(faults: Sequence[str], count: int | None = None) -> str:
    """The faults in one line: their number, if there are several, and the first of them. ``count``: the total, if
    ``faults`` is only a part."""
    count = len(faults) if count is None else count
    if count == 1:
        return faults[0]
    more = f"; and {count - NAMED:,} more, which `manage.py verify --all` names" if count > NAMED else ""
    return f"{count:,} faults: {'; '.join(fault[:ENOUGH] for fault in faults[:NAMED])}{more}"


def books(table: str | None = None) -> Sequence[Book]:
    """The logs to verify: one table's, or the site log and those of all tables. Raises LookupError for an unknown
    table."""
    if table is None:
        return [*Book.objects.filter(name=HOUSE), *Book.objects.of_tables().order_by("name")]
    row = Table.objects.filter(name=table).select_related("book").first()
    if row is None:
        names = ", ".join(Table.objects.values_list("name", flat=True))
        raise LookupError(f"there is no table {table!r}; there are: {names or 'none'}")
    return [row.book]


def verify_rows() -> int:
    """Compare all derived rows with the log, and the schema with the migrations. Returns the number of faults; one
    alert names the first ones."""
    first: list[str] = []
    count = 0
    for count, fault in enumerate(row_faults(row_comparison.Comparison(), None), 1):
        if count <= NAMED:
            first.append(fault)
    if first:
        message = f"What is kept beside the log is not what it says: {summary(first, count)}"
        house = Book.objects.filter(name=HOUSE).first()
        raise_lasting(house, "row_differs", "rows", message, {"what": first, "faults": count})
    return count


def row_faults(comparison: row_comparison.Comparison, most: int | None) -> Iterator[str]:
    """The derived rows that differ from the log, at most ``most`` of each kind (None: all), and the faults of the
    schema."""
    yield from row_comparison.differences(comparison, most)
    yield from row_comparison.shape_faults()


def listed_roots() -> list[str]:
    """The root key fingerprints in the site's configuration; empty if it has no list."""
    return [p256.read_fingerprint(root) for root in settings.TERMINAL_ROOTS]


def roots_in_words() -> list[str]:
    """The root keys of terminals, which no other terminal vouches for, with the time of each."""
    keys = signature_checks.trust().roots
    entries = LogEntry.objects.of_site().filter(seq__in=[key.seq for key in keys])
    moments = dict(entries.values_list("seq", "at"))
    days = [f"{moments[key.seq]:%Y-%m-%d %H:%M} UTC, entry {key.seq}" for key in keys]
    return [
        f"{key.terminal} has a root key since {day}: {key.fingerprint}" for key, day in zip(keys, days, strict=True)
    ]


def unlisted_root(listed: Sequence[str]) -> Fault | None:
    """The first root key that is not on the site's list; None if all are, or there is no list."""
    unlisted = signature_checks.trust().unlisted(listed) if listed else []
    if not unlisted:
        return None
    key = unlisted[0]
    return Fault(HOUSE, key.seq, f"the key {key.fingerprint} of {key.terminal} is a root that is not on the list")


# --- one entry after the other ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _Proof:
    """Replays the log as the floor does, and compares each entry with the one that the program would have written."""

    report: BookProof
    floor: Floor
    replay: Replay
    messages: Messages
    committed: dict[str, int] = field(default_factory=dict)
    """The commitments to orders of electronic shoes, with their entries."""

    def check(self, entry: Entry, posted: Sequence[Posted]) -> None:
        """Verify one entry of the chain with the transfers that its body records."""
        event, settings, balances = event_of(entry), self.floor.settings, self.replay.held
        if settings is not None:
            non_tracked.refuse(event, settings, None if balances is None else balances.get(RACK, 0))
        move_kinds = {transfer.move.kind for transfer in posted}
        self.messages.follow(self.replay.standing, event, entry)
        # Before the replay applies the entry: its rules are those of the state before it.
        log_rules.enact(self.floor, self.replay.standing, event, entry, move_kinds)
        self.replay.follow(entry, event, posted)
        if (commitment := event.commits) is not None:
            self.committed[commitment] = entry.seq
        self.report.entries += 1
        self.report.transfers += len(posted)
        self.report.rounds = self.replay.rounds


def _proof(book: Book, after: Head | None, report: BookProof) -> _Proof:
    accounts = chart(book.pk)
    if after is None:
        return _Proof(report, Floor(book), Replay(accounts, seals=Seals(), held={}), Messages())
    start = table_state.at(after)
    number = latest_number(book.pk, start.reader, after.seq + 1) if start.reader else 0
    replay = Replay(accounts, start, posted=_posted(book, start))
    return _Proof(report, Floor(book, after.seq), replay, Messages(number))


# --- reading ---------------------------------------------------------------------------------------------------


def _posted(book: Book, start: TableState) -> dict[int, Sequence[Posted]]:
    """The transfers of the latest round's entries and of those after it, by entry."""
    first = start.seq if start.round is None else start.round.first_seq
    rows = transfers(book.pk, first - 1, start.seq)
    return {seq: tuple(group) for seq, group in groupby(rows, key=attrgetter("seq"))}


def _unsigned(book: Book, since: int) -> Fault | None:
    """The first slip entry without its signature row, or signature row without its entry; None if all match."""
    seq = unmatched(book.pk, since)
    return None if seq is None else Fault(book.name, seq, "its slip is not signed beside it, or signed without it")


def _recounted(book: Book, through: int) -> int:
    """The last recount at or before an entry: recounts are compared with the transfers from there on."""
    latest = Recount.objects.filter(book=book, through_seq__lte=through).aggregate(seq=Max("through_seq"))["seq"]
    return int(latest or 0)


def _anchors(book: Book, since: int, through: int) -> Iterator[tuple[int, bytes]]:
    """The (seq, hash) pairs that recounts and earlier verifications stored, in order: they reveal a chain that was
    hashed again."""
    span = {"book": book, "through_seq__gt": since, "through_seq__lte": through}
    recounts = Recount.objects.filter(**span).values_list("through_seq", "head_hash")
    proofs = Verification.objects.filter(**span).values_list("through_seq", "head_hash")
    for seq, digest in recounts.union(proofs).order_by("through_seq").iterator():
        yield seq, bytes(digest)
