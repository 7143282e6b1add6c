"""The hash chain in the database: entries are appended under the lock of their log, and read in order."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import Any, Protocol
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from ledger import clock
from ledger.prepared import Call, Statement, executed
from ledger.proof import spelling
from ledger.proof.chain import MENDED, Entry, Head
from ledger.proof.spelling import Heading
from ledger.raw_rows import fetch_row, fetch_rows

CHUNK = 2_000
LAST_SEQ = 2**63 - 1
CHANNEL = "floor"
MOMENT = "CASE WHEN at BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-30 00:00:00+00' THEN at END"
"""The time of an entry, in SQL; NULL for a time that Python's datetime cannot represent, which could not be read."""


class Stale(Exception):
    """The given head is no longer the log's head. The transaction is aborted: lock the log and start again."""


class KeyReused(Exception):
    """The log has an entry with this idempotency key. The transaction is aborted: start again and read that entry."""


class Loggable(Protocol):
    """The content of an entry, in the vocabulary of the package that writes it."""

    @property
    def subject(self) -> str: ...
    @property
    def kind(self) -> str: ...
    def content(self) -> dict[str, Any]:
        """The content as JSON data."""
        ...


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry before it has its place in the chain."""

    subject: str
    kind: str
    by: str
    content: Mapping[str, Any]
    round: int | None = None
    key: UUID | None = None
    at: datetime | None = None

    @classmethod
    def of(cls, event: Loggable, by: str, *, round: int | None = None, key: UUID | None = None) -> "Draft":
        return cls(event.subject, event.kind, by, event.content(), round=round, key=key)


# --- Writing --------------------------------------------------------------------------------------------------

# NO KEY: inserts that reference the log's row, as ours do, would deadlock with a stronger lock. The second statement of
# the round trip has its own snapshot: it sees entries that were committed during the wait, and a clock after that.
_BOOK = "SELECT id, name, head_seq, head_hash FROM ledger_book WHERE id = $1 FOR NO KEY UPDATE"
LOCK = Statement("ledger_lock", "bigint", _BOOK)
LOCK_IF_FREE = Statement("ledger_lock_if_free", "bigint", f"{_BOOK} SKIP LOCKED")
MOMENTS = Statement(
    "ledger_moments",
    "bigint",
    f"SELECT {clock.NOW}, (SELECT {MOMENT} FROM ledger_logentry WHERE book_id = $1 ORDER BY seq DESC LIMIT 1)",  # noqa: S608
)


def lock(book_id: int, *, to_mend: bool = False) -> Head:
    """Lock a log until the transaction ends. Returns its head.

    Raises LookupError if there is no such log, and WrongClock if a wrong clock would date the next entry. ``to_mend``:
    the caller writes a clock correction, so a log whose last entry is dated in the future is accepted.
    """
    return lock_and_read(book_id, to_mend=to_mend)[0]


def lock_if_free(book_id: int) -> Head | None:
    """Lock a log until the transaction ends without waiting. Returns its head, or None where another transaction holds
    it. Raises WrongClock."""
    try:
        return lock_and_read(book_id, statement=LOCK_IF_FREE)[0]
    except LookupError:
        return None


def lock_and_read(
    book_id: int, *readings: Call, statement: Statement = LOCK, to_mend: bool = False
) -> tuple[Head, list[list[tuple[Any, ...]]]]:
    """Lock a log until the transaction ends, and execute further queries under the lock. Returns its head and the rows
    of each query.

    All statements, with the begin of the transaction, take one round trip. Raises WrongClock, and LookupError if there
    is no such log (with LOCK_IF_FREE also if it is locked). ``to_mend``: as for ``lock``.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("a book is locked inside a transaction, or not at all")
    before, rows = clock.host_now(), []
    with executed([(statement, [book_id]), (MOMENTS, [book_id]), *readings], begin=True) as cursor:
        row = cursor.fetchone()
        cursor.nextset()
        moment, latest = cursor.fetchone()
        for _ in readings:
            cursor.nextset()
            rows.append(cursor.fetchall())
    # Both clocks are compared for each write: an entry that a wrong clock dated could not be changed later.
    clock.Reading(before, moment, clock.host_now()).refuse_drift()
    if row is None:
        raise LookupError(f"there is no book {book_id}")
    pk, name, seq, digest = row
    if not to_mend:
        clock.refuse_ahead(name, latest, moment)
    return Head(pk, name, seq, digest, at=latest, clock=moment), rows


@dataclass(frozen=True, slots=True)
class Sealed:
    """A draft in its place in the chain: the row to store and the head after it."""

    head: Head
    row: tuple[Any, ...]


def seal(head: Head, draft: Draft, moves: Sequence[Sequence[Any]] = ()) -> Sealed:
    """Put a draft and its transfers after a head: number, date and hash it. Nothing is stored.

    The time is the database's when the log was locked, but never before the log's last entry.
    """
    seq, moment = head.seq + 1, _dated(head, draft)
    body = spelling.spell(draft.subject, draft.content, moves)
    heading = Heading(
        book=head.name,
        seq=seq,
        at=moment,
        subject=draft.subject,
        kind=draft.kind,
        round=draft.round,
        by=draft.by,
        key=draft.key,
    )
    digest = sha256((head.hash or b"") + spelling.line(heading, body)).digest()
    row = (
        head.book_id, seq, moment, draft.subject, draft.kind, draft.round, draft.by, draft.key, len(moves),
        body, digest,
    )  # fmt: skip
    return Sealed(Head(head.book_id, head.name, seq, digest, at=moment, clock=head.clock), row)


def _dated(head: Head, draft: Draft) -> datetime:
    """The time of a new entry. Timestamps never decrease in a log, except with a clock-correction entry."""
    # Only the correction of a false time may be dated before the last entry, whose time is the false one.
    if (draft.subject, draft.kind) == MENDED and head.clock:
        return head.clock
    return max(draft.at, head.at or draft.at) if draft.at else head.moment


# One statement for entry and head. Its parts have no order; references between them are checked when it ends. The head
# moves only from the number before, so two writers cannot both extend one head.
WRITE = Statement(
    "ledger_write",
    "bigint, bigint, timestamptz, text, text, integer, text, uuid, smallint, bytea, bytea",
    f"""WITH entry AS (
        INSERT INTO ledger_logentry (book_id, seq, at, subject, kind, round, by, key, legs, body, hash)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    ), head AS (
        UPDATE ledger_book SET head_seq = $2, head_hash = $11 WHERE id = $1 AND head_seq = $2 - 1
    ) SELECT pg_notify('{CHANNEL}', '{{"book": ' || $1 || ', "seq": ' || $2 || '}}')""",  # noqa: S608
)


def append(head: Head, draft: Draft, *, commit: bool = False) -> Head:
    """Write an entry without transfers after a locked head. Returns the new head. ``commit``: as for ``write``."""
    return write(seal(head, draft), commit=commit)


def write(sealed: Sealed, *also: Call, commit: bool = False) -> Head:
    """Store a sealed entry, with further statements that belong to it, in one round trip. Returns the new head.

    ``commit``: the transaction ends with it, unless it is part of a larger one. No query may follow in it. Raises Stale
    or KeyReused.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("an entry is written under its book's lock, in a transaction")
    # Entry, head and transfers go out in one text, so a crash cannot separate them, and the lock is held for one round
    # trip less.
    with as_stale_or_reused(sealed.head), executed([(WRITE, sealed.row), *also], commit=commit):
        return sealed.head


@contextmanager
def as_stale_or_reused(after: Head) -> Iterator[None]:
    """Translate violations of two unique constraints, on an entry's number and its key, into Stale and KeyReused."""
    try:
        yield
    except IntegrityError as refused:
        broken = getattr(getattr(refused.__cause__, "diag", None), "constraint_name", None)
        if broken == "ledger_logentry_seq":
            raise Stale(f"{after.name} has an entry {after.seq} already") from refused
        if broken == "ledger_logentry_key":
            raise KeyReused(f"{after.name} has an entry with this key already") from refused
        raise


# --- Reading --------------------------------------------------------------------------------------------------


def read_head(book_id: int) -> Head:
    """The head of a log, read without its lock: for verifying up to it, never for appending. Raises LookupError."""
    row = fetch_row("SELECT id, name, head_seq, head_hash FROM ledger_book WHERE id = %s", [book_id])
    if row is None:
        raise LookupError(f"there is no book {book_id}")
    return Head(*row)


def hash_at(book_id: int, seq: int) -> bytes | None:
    """The hash of an entry; None where the log has no entry of this number."""
    row = fetch_row("SELECT hash FROM ledger_logentry WHERE book_id = %s AND seq = %s", [book_id, seq])
    return bytes(row[0]) if row else None


def read_heads(book_ids: Collection[int]) -> list[Head]:
    """The heads of several logs in one snapshot, by ascending id. Unknown ids are left out."""
    rows = fetch_rows(
        "SELECT id, name, head_seq, head_hash FROM ledger_book WHERE id = ANY(%s) ORDER BY id", [sorted(book_ids)]
    )
    return [Head(*row) for row in rows]


_BOOK_NAME = "(SELECT b.name FROM ledger_book AS b WHERE b.id = ledger_logentry.book_id)"
_PREVIOUS = """(SELECT p.hash FROM ledger_logentry AS p
    WHERE p.book_id = ledger_logentry.book_id AND p.seq = ledger_logentry.seq - 1 LIMIT 1)"""
_OWN = f"book_id, {_BOOK_NAME}, seq, {MOMENT}, subject, kind, round, by, key, legs, body, hash"
COLUMNS = f"{_OWN}, {_PREVIOUS}"
"""The columns of a row in the order of the fields of Entry."""

CONTENT = """(CASE get_byte({body}, 0) WHEN 123 THEN convert_from({body}, 'UTF8')::jsonb -> 'content'
    ELSE convert_from({body}, 'UTF8')::jsonb -> 1 END)"""
"""The content of an entry in SQL, from its body in either format. Not for entries of rounds, whose bodies are
shortened."""


def entries(book_id: int, since: int = 0, through: int | None = None) -> Iterator[Entry]:
    """The entries of a log after ``since``, in order, at most CHUNK + 1 rows in memory at a time."""
    following: int | None = since  # read too: its hash precedes the first entry's
    previous = None
    while following is not None:
        rows, following = _page(book_id, following, through if through is not None else LAST_SEQ)
        for row in rows:
            entry = Entry(*(*row, previous))
            if entry.seq > since:
                yield entry
            previous = entry.hash


def picked(places: Collection[tuple[int, int]]) -> list[Entry]:
    """The entries at these (log, number) pairs, in no order, without the hashes of the entries before them."""
    if not places:
        return []
    books, seqs = (list(column) for column in zip(*places, strict=True))
    rows = fetch_rows(
        f"SELECT {_OWN} FROM ledger_logentry"  # noqa: S608
        " JOIN unnest(%s::int[], %s::int[]) AS place (of_book, number) ON book_id = of_book AND seq = number",
        [books, seqs],
    )
    return [Entry(*row) for row in rows]


def following(after: Mapping[int, int], most: int) -> dict[int, list[Entry]]:
    """The entries of each log after its number, in order and at most ``most`` of each log. The first of each log comes
    without the hash before it."""
    rows = fetch_rows(
        f"SELECT {_OWN} FROM unnest(%s::bigint[], %s::bigint[]) AS place (of_book, number)"  # noqa: S608
        " CROSS JOIN LATERAL (SELECT * FROM ledger_logentry AS own WHERE own.book_id = of_book"
        " AND own.seq > number ORDER BY own.seq LIMIT %s) AS ledger_logentry ORDER BY book_id, seq",
        [list(after), list(after.values()), most],
    )
    return {book: [Entry(*row) for row in group] for book, group in groupby(rows, key=itemgetter(0))}


def of_rounds(rounds: Collection[tuple[int, int]], subject: str) -> list[Entry]:
    """The entries with this subject of these (log, round) pairs, ordered by log, round and number."""
    if not rounds:
        return []
    books, numbers = (list(column) for column in zip(*sorted(rounds), strict=True))
    rows = fetch_rows(
        f"SELECT {_OWN} FROM ledger_logentry"  # noqa: S608
        " JOIN unnest(%s::int[], %s::int[]) AS dealt (of_book, number) ON book_id = of_book AND round = number"
        " WHERE round IS NOT NULL AND subject = %s ORDER BY book_id, round, seq",
        [books, numbers, subject],
    )
    return [Entry(*row) for row in rows]


def _page(book_id: int, first: int, last: int) -> tuple[list[tuple[Any, ...]], int | None]:
    """Rows from a number on, and the number where the next page begins; None after the last page.

    A page has all rows of a number or none: a duplicate row must not be hidden by the end of a page.
    """
    rows = fetch_rows(
        f"SELECT {_OWN} FROM ledger_logentry WHERE book_id = %s AND seq >= %s AND seq <= %s"  # noqa: S608
        " ORDER BY seq LIMIT %s",
        [book_id, first, last, CHUNK + 1],
    )
    if len(rows) <= CHUNK:
        return rows, None
    # The last number may continue on the next page: it is read there as a whole.
    following = rows[-1][2]
    whole = [row for row in rows if row[2] != following]
    return (whole, following) if whole else (rows, following + 1)
