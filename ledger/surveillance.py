"""The hash chain: entries are appended under the book's lock, and proved again one by one."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

CHUNK = 2_000
LAST_SEQ = 2**63 - 1
CHANNEL = "floor"
MOMENT = "CASE WHEN at BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-30 00:00:00+00' THEN at END"
"""The time of an entry, or NULL where it is none that Python knows: reading it would fail."""


class Stale(Exception):
    """The head to build upon is not the book's head any more. The transaction is lost: lock and begin again."""


class KeyReused(Exception):
    """The book holds an entry with this idempotency key already. The transaction is lost: begin again, read it."""


@dataclass(frozen=True, slots=True)
class Head:
    """Where a book's chain ends. Only one made by lock(), or by a write after it, may be built upon."""

    book_id: int
    name: str
    seq: int
    hash: bytes | None
    at: datetime | None = field(default=None, compare=False)
    """When its last entry was written, where that is known: no later entry has an earlier time."""


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


@dataclass(frozen=True)
class Entry:
    """A log entry as it is read back."""

    book_id: int
    seq: int
    at: datetime | None
    """None stands for what is no moment: an infinity, or a year that no calendar of ours has."""
    subject: str
    kind: str
    round: int | None
    by: str
    key: UUID | None
    legs: int
    body: bytes
    prev_seq: int | None
    prev_hash: bytes | None
    hash: bytes
    id: int

    @cached_property
    def document(self) -> dict[str, Any]:
        """The body, read."""
        document: dict[str, Any] = json.loads(self.body)
        return document

    @property
    def content(self) -> dict[str, Any]:
        """What the writer put in."""
        content: dict[str, Any] = self.document["content"]
        return content


@dataclass(frozen=True, slots=True)
class Fault:
    """The first entry of a book that does not hold, and why."""

    book: str
    seq: int
    what: str

    def __str__(self) -> str:
        return f"{self.book}, entry {self.seq}: {self.what}"


class Broken(Exception):
    """A chain does not hold; stops whoever reads on from it."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


# --- Writing --------------------------------------------------------------------------------------------------


def canonical(document: Mapping[str, Any]) -> bytes:
    """The one way to spell a document: sorted keys, no spaces, UTF-8."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def timestamp(at: datetime) -> str:
    """A moment as the body spells it: UTC, microseconds, Z."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def lock(book_id: int) -> Head:
    """Take the book's lock until the transaction ends, and say where its chain ends."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("a book is locked inside a transaction, or not at all")
    with connection.cursor() as cursor:
        # NO KEY: inserts that refer to the book, such as ours, would deadlock with a stronger lock. The second
        # statement sees what was committed while the first waited for the lock.
        cursor.execute(
            "SELECT id, name, head_seq, head_hash FROM ledger_book WHERE id = %s FOR NO KEY UPDATE;"  # noqa: S608
            f"SELECT {MOMENT} FROM ledger_logentry WHERE book_id = %s ORDER BY seq DESC LIMIT 1",
            [book_id, book_id],
        )
        row = cursor.fetchone()
        cursor.nextset()
        latest = cursor.fetchone()
    if row is None:
        raise LookupError(f"there is no book {book_id}")
    return Head(*row, *(latest or ()))


@dataclass(frozen=True, slots=True)
class Sealed:
    """A draft in its place: what the database is to store, and the head that it makes."""

    head: Head
    row: tuple[Any, ...]


def seal(head: Head, draft: Draft, moves: Sequence[Sequence[Any]] = ()) -> Sealed:
    """Put a draft, and the chips that it moves, after the head; no earlier than it, whatever this host's clock says."""
    at = draft.at or timezone.now()
    at = max(at, head.at or at)
    seq = head.seq + 1
    body = canonical(
        {
            "book": head.name,
            "seq": seq,
            "at": timestamp(at),
            "subject": draft.subject,
            "kind": draft.kind,
            "round": draft.round,
            "by": draft.by,
            "key": str(draft.key) if draft.key else None,
            "content": draft.content,
            "moves": moves,
        }
    )
    digest = sha256((head.hash or b"") + body).digest()
    row = (
        head.book_id, seq, at, draft.subject, draft.kind, draft.round, draft.by, draft.key, len(moves), body,
        head.seq or None, head.hash, digest,
    )  # fmt: skip
    return Sealed(Head(head.book_id, head.name, seq, digest, at), row)


INSERT_ENTRY = """
    INSERT INTO ledger_logentry (book_id, seq, at, subject, kind, round, by, key, legs, body, prev_seq, prev_hash, hash)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""
MOVE_HEAD = "UPDATE ledger_book SET head_seq = %s, head_hash = %s WHERE id = %s AND head_seq = %s"
ANNOUNCE = "SELECT pg_notify(%s, %s)"


def append(head: Head, draft: Draft) -> Head:
    """Write an entry that moves no chips after the head that lock() gave; returns the new head."""
    return write(seal(head, draft))


def write(sealed: Sealed, also: str = "", parameters: Sequence[Any] = ()) -> Head:
    """Store a sealed entry, with the statement that goes with it, in one round trip."""
    after = sealed.head
    statements = [INSERT_ENTRY, *([also] if also else []), MOVE_HEAD, ANNOUNCE]
    announcement = f'{{"book": {after.book_id}, "seq": {after.seq}}}'
    values = [*sealed.row, *parameters, after.seq, after.hash, after.book_id, after.seq - 1, CHANNEL, announcement]
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("an entry is written under its book's lock, in a transaction")
    with connection.cursor() as cursor, as_stale_or_reused(after):
        cursor.execute(";".join(statements), values)
    return after


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


# --- Reading and proving --------------------------------------------------------------------------------------


def read_head(book_id: int) -> Head:
    """Where the chain ends now, without the lock: to verify up to it, not to build on it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, name, head_seq, head_hash FROM ledger_book WHERE id = %s", [book_id])
        row = cursor.fetchone()
    if row is None:
        raise LookupError(f"there is no book {book_id}")
    return Head(*row)


COLUMNS = f"book_id, seq, {MOMENT}, subject, kind, round, by, key, legs, body, prev_seq, prev_hash, hash, id"


def entries(book_id: int, since: int = 0, through: int | None = None) -> Iterator[Entry]:
    """The entries of a book after `since`, in order, a chunk in memory at a time.

    Pages go by (seq, id), so that a row that doubles another's number cannot hide behind the end of a page.
    """
    after, limit = (since + 1, -1), through if through is not None else LAST_SEQ
    while True:
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {COLUMNS} FROM ledger_logentry WHERE book_id = %s AND seq >= %s AND seq <= %s"  # noqa: S608
                " AND (seq, id) > (%s, %s) ORDER BY seq, id LIMIT %s",
                [book_id, after[0], limit, *after, CHUNK],
            )
            page = [Entry(*row) for row in cursor.fetchall()]
        yield from page
        if len(page) < CHUNK:
            return
        after = (page[-1].seq, page[-1].id)


def walk(
    entries: Iterable[Entry], head: Head, *, after: Head | None = None, anchors: Iterable[tuple[int, bytes]] = ()
) -> Iterator[Entry]:
    """Pass on each entry that follows from the one before; raise Broken at the first that does not.

    `after` is a proven head to go on from (default: the beginning), `anchors` are (seq, hash) noted in the past, in
    order: they show a chain that was hashed anew. Afterwards the last entry must be the head that the book knows.
    """
    proven = after or Head(head.book_id, head.name, 0, None)
    noted = iter(anchors)
    anchor = next(noted, None)
    for entry in entries:
        if what := _fault(entry, proven):
            raise Broken(Fault(head.name, *what))
        if entry.seq > head.seq:
            raise Broken(Fault(head.name, entry.seq, "stands after the last entry that the book knows"))
        while anchor and anchor[0] == entry.seq:
            if anchor[1] != entry.hash:
                raise Broken(Fault(head.name, entry.seq, "is not the entry that a recount noted: hashed anew"))
            anchor = next(noted, None)
        proven = Head(head.book_id, head.name, entry.seq, entry.hash, entry.at)
        yield entry
    if proven.seq < head.seq:
        raise Broken(Fault(head.name, proven.seq + 1, f"is missing: the book knows {head.seq} entries"))
    if proven.hash != head.hash:
        raise Broken(Fault(head.name, proven.seq, "is not the last entry that the book knows"))


def verify_chain(
    entries: Iterable[Entry], head: Head, *, after: Head | None = None, anchors: Iterable[tuple[int, bytes]] = ()
) -> Fault | None:
    """The first entry that does not hold, or None."""
    try:
        for _ in walk(entries, head, after=after, anchors=anchors):
            pass
    except Broken as broken:
        return broken.fault
    return None


def _fault(entry: Entry, before: Head) -> tuple[int, str] | None:
    """What is wrong with an entry that should follow another."""
    expected = before.seq + 1
    if entry.seq > expected:
        return expected, "is missing"
    if entry.seq < expected:
        return entry.seq, "is there twice"
    if (entry.prev_seq, entry.prev_hash) != (before.seq or None, before.hash):
        return entry.seq, "does not name the entry before it"
    if sha256((before.hash or b"") + entry.body).digest() != entry.hash:
        return entry.seq, "its hash is not the hash of its body"
    if entry.at is None:
        return entry.seq, "its time is no moment"
    if what := _misshapen(entry) or _disagreement(entry, before.name, entry.at):
        return entry.seq, what
    if before.at and entry.at < before.at:
        return entry.seq, f"it is of {timestamp(entry.at)}, earlier than the entry before it"
    return None


_PARTS = frozenset({"book", "seq", "at", "subject", "kind", "round", "by", "key", "content", "moves"})


def _misshapen(entry: Entry) -> str | None:
    """Whether the body is a document such as seal() writes; only then its parts may be read."""
    try:
        document: Any = entry.document
        spelled = canonical(document)
    except (ValueError, RecursionError):
        return "its body is not JSON"
    if spelled != entry.body:
        return "its body is not spelled canonically"
    if not isinstance(document, dict) or document.keys() != _PARTS:
        return "its body has not the parts of an entry"
    if not isinstance(document["content"], dict) or not isinstance(document["moves"], list):
        return "its content or its transfers have not the shape of an entry's"
    return None


def _disagreement(entry: Entry, book: str, at: datetime) -> str | None:
    """A hash that fits proves the body alone: the columns, by which entries are found, must say the same."""
    document = entry.document
    columns = {
        "book": book,
        "seq": entry.seq,
        "at": timestamp(at),
        "subject": entry.subject,
        "kind": entry.kind,
        "round": entry.round,
        "by": entry.by,
        "key": str(entry.key) if entry.key else None,
    }
    for name, value in columns.items():
        said = document[name]
        if said != value or type(said) is not type(value):  # 1 is True, and 1.0
            return f"its {name} is {value!r}, its body says {said!r}"
    if len(document["moves"]) != entry.legs:
        return f"its body moves chips {len(document['moves'])} times, not {entry.legs}"
    return None
