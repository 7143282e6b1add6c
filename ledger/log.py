"""The hash chain in the database: entries are appended under the book's lock, and read back in order."""

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

CHUNK = 2_000
LAST_SEQ = 2**63 - 1
CHANNEL = "floor"
MOMENT = "CASE WHEN at BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-30 00:00:00+00' THEN at END"
"""The time of an entry, or NULL where it is none that Python knows: reading it would fail."""


class Stale(Exception):
    """The head to build upon is not the book's head any more. The transaction is lost: lock and begin again."""


class KeyReused(Exception):
    """The book holds an entry with this idempotency key already. The transaction is lost: begin again, read it."""


class Saying(Protocol):
    """What an entry says, in the vocabulary of whoever writes it."""

    @property
    def subject(self) -> str: ...
    @property
    def kind(self) -> str: ...
    def content(self) -> dict[str, Any]:
        """As JSON data."""
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
    def of(cls, event: Saying, by: str, *, round: int | None = None, key: UUID | None = None) -> "Draft":
        return cls(event.subject, event.kind, by, event.content(), round=round, key=key)


# --- Writing --------------------------------------------------------------------------------------------------

# NO KEY: inserts that refer to the book, such as ours, would deadlock with a stronger lock. What follows in the same
# round trip is a statement of its own: it sees what was committed while this one waited, and the clock after that.
_BOOK = "SELECT id, name, head_seq, head_hash FROM ledger_book WHERE id = $1 FOR NO KEY UPDATE"
LOCK = Statement("ledger_lock", "bigint", _BOOK)
LOCK_IF_FREE = Statement("ledger_lock_if_free", "bigint", f"{_BOOK} SKIP LOCKED")
MOMENTS = Statement(
    "ledger_moments",
    "bigint",
    f"SELECT {clock.NOW}, (SELECT {MOMENT} FROM ledger_logentry WHERE book_id = $1 ORDER BY seq DESC LIMIT 1)",  # noqa: S608
)


def lock(book_id: int, *, to_mend: bool = False) -> Head:
    """Take the book's lock until the transaction ends, and say where its chain ends.

    Raises WrongClock where an entry would be dated by a clock that is wrong, but for one that mends just that; and
    LookupError where there is no such book.
    """
    return lock_and_read(book_id, to_mend=to_mend)[0]


def lock_if_free(book_id: int) -> Head | None:
    """The same without waiting for anybody: None where somebody else holds it."""
    try:
        return lock_and_read(book_id, statement=LOCK_IF_FREE)[0]
    except LookupError:
        return None


def lock_and_read(
    book_id: int, *readings: Call, statement: Statement = LOCK, to_mend: bool = False
) -> tuple[Head, list[list[tuple[Any, ...]]]]:
    """The same, and the rows of readings that were made after the lock was had; all of it, and the begin of the
    transaction, in one round trip."""
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
    clock.Reading(before, moment, clock.host_now()).refuse_drift()
    if row is None:
        raise LookupError(f"there is no book {book_id}")
    pk, name, seq, digest = row
    if not to_mend:
        clock.refuse_ahead(name, latest, moment)
    return Head(pk, name, seq, digest, at=latest, clock=moment), rows


@dataclass(frozen=True, slots=True)
class Sealed:
    """A draft in its place: what the database is to store, and the head that it makes."""

    head: Head
    row: tuple[Any, ...]


def seal(head: Head, draft: Draft, moves: Sequence[Sequence[Any]] = ()) -> Sealed:
    """Put a draft, and the chips that it moves, after the head: of the time by the database's clock, no earlier."""
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
    """A book's time steps back with the entry that says why, and with no other."""
    if (draft.subject, draft.kind) == MENDED and head.clock:
        return head.clock
    return max(draft.at, head.at or draft.at) if draft.at else head.moment


# One statement, and its parts in no order: what refers to what is checked at its end.
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
    """Write an entry that moves no chips after the head that lock() gave; returns the new head."""
    return write(seal(head, draft), commit=commit)


def write(sealed: Sealed, *also: Call, commit: bool = False) -> Head:
    """Store a sealed entry, with the statements that go with it, in one round trip.

    ``commit``: the transaction ends with it, unless it is part of a larger one. Nothing may be asked in it afterwards.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("an entry is written under its book's lock, in a transaction")
    with as_stale_or_reused(sealed.head), executed([(WRITE, sealed.row), *also], commit=commit):
        return sealed.head


@contextmanager
def as_stale_or_reused(after: Head) -> Iterator[None]:
    """Name the two refusals by the database that mean something to whoever writes."""
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
    """Where the chain ends now, without the lock: to verify up to it, not to build on it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, name, head_seq, head_hash FROM ledger_book WHERE id = %s", [book_id])
        row = cursor.fetchone()
    if row is None:
        raise LookupError(f"there is no book {book_id}")
    return Head(*row)


def hash_at(book_id: int, seq: int) -> bytes | None:
    """The hash of an entry; None where there is none of this number."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT hash FROM ledger_logentry WHERE book_id = %s AND seq = %s", [book_id, seq])
        row = cursor.fetchone()
    return bytes(row[0]) if row else None


def read_heads(book_ids: Collection[int]) -> list[Head]:
    """The same of several books, in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, name, head_seq, head_hash FROM ledger_book WHERE id = ANY(%s) ORDER BY id", [sorted(book_ids)]
        )
        return [Head(*row) for row in cursor.fetchall()]


_BOOK_NAME = "(SELECT b.name FROM ledger_book AS b WHERE b.id = ledger_logentry.book_id)"
_PREVIOUS = """(SELECT p.hash FROM ledger_logentry AS p
    WHERE p.book_id = ledger_logentry.book_id AND p.seq = ledger_logentry.seq - 1 LIMIT 1)"""
_OWN = f"book_id, {_BOOK_NAME}, seq, {MOMENT}, subject, kind, round, by, key, legs, body, hash"
COLUMNS = f"{_OWN}, {_PREVIOUS}"
"""Of a row, as an Entry has them."""

CONTENT = """(CASE get_byte({body}, 0) WHEN 123 THEN convert_from({body}, 'UTF8')::jsonb -> 'content'
    ELSE convert_from({body}, 'UTF8')::jsonb -> 1 END)"""
"""What an entry says, in SQL, from its body of either format; not of a round's entry, whose body is shortened."""


def entries(book_id: int, since: int = 0, through: int | None = None) -> Iterator[Entry]:
    """The entries of a book after `since`, in order, a chunk in memory at a time."""
    following: int | None = since  # read along: the first entry follows from its hash
    previous = None
    while following is not None:
        rows, following = _page(book_id, following, through if through is not None else LAST_SEQ)
        for row in rows:
            entry = Entry(*(*row, previous))
            if entry.seq > since:
                yield entry
            previous = entry.hash


def picked(places: Collection[tuple[int, int]]) -> list[Entry]:
    """The entries of these books and numbers, in no order, without the hashes of those before them."""
    if not places:
        return []
    books, seqs = (list(column) for column in zip(*places, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {_OWN} FROM ledger_logentry"  # noqa: S608
            " JOIN unnest(%s::int[], %s::int[]) AS place (of_book, number) ON book_id = of_book AND seq = number",
            [books, seqs],
        )
        return [Entry(*row) for row in cursor.fetchall()]


def following(after: Mapping[int, int], most: int) -> dict[int, list[Entry]]:
    """What these books have after these numbers, in order and so much of each, without the hash before the first."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {_OWN} FROM unnest(%s::bigint[], %s::bigint[]) AS place (of_book, number)"  # noqa: S608
            " CROSS JOIN LATERAL (SELECT * FROM ledger_logentry AS own WHERE own.book_id = of_book"
            " AND own.seq > number ORDER BY own.seq LIMIT %s) AS ledger_logentry ORDER BY book_id, seq",
            [list(after), list(after.values()), most],
        )
        rows = cursor.fetchall()
    return {book: [Entry(*row) for row in group] for book, group in groupby(rows, key=itemgetter(0))}


def of_rounds(rounds: Collection[tuple[int, int]], subject: str) -> list[Entry]:
    """The entries of a subject that belong to these books and rounds, those of each in their order."""
    if not rounds:
        return []
    books, numbers = (list(column) for column in zip(*sorted(rounds), strict=True))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {_OWN} FROM ledger_logentry"  # noqa: S608
            " JOIN unnest(%s::int[], %s::int[]) AS dealt (of_book, number) ON book_id = of_book AND round = number"
            " WHERE round IS NOT NULL AND subject = %s ORDER BY book_id, round, seq",
            [books, numbers, subject],
        )
        return [Entry(*row) for row in cursor.fetchall()]


def _page(book_id: int, first: int, last: int) -> tuple[list[tuple[Any, ...]], int | None]:
    """The rows from a number on, and the number that the next page begins with.

    A page has all rows of a number or none, so that a row that doubles another's cannot hide behind the end of one.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {_OWN} FROM ledger_logentry WHERE book_id = %s AND seq >= %s AND seq <= %s"  # noqa: S608
            " ORDER BY seq LIMIT %s",
            [book_id, first, last, CHUNK + 1],
        )
        rows = cursor.fetchall()
    if len(rows) <= CHUNK:
        return rows, None
    following = rows[-1][2]
    whole = [row for row in rows if row[2] != following]
    return (whole, following) if whole else (rows, following + 1)
