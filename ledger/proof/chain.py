"""The hash chain without a database: what an entry is, and how each follows from the one before."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import Any
from uuid import UUID

import msgspec

from ledger.proof import spelling
from ledger.proof.spelling import Body, Heading, Misspelled, timestamp


@dataclass(frozen=True, slots=True)
class Head:
    """Where a book's chain ends. Only one made by lock(), or by a write after it, may be built upon."""

    book_id: int
    name: str
    seq: int
    hash: bytes | None
    at: datetime | None = field(default=None, compare=False)
    """When its last entry was written, where that is known: no later entry has an earlier time."""
    clock: datetime | None = field(default=None, compare=False)
    """The database's clock when the book was locked."""

    @property
    def moment(self) -> datetime:
        """What the next entry is dated."""
        if self.clock is None:
            raise ValueError(f"{self.name} was not locked: only a head from lock() is written upon")
        return max(self.clock, self.at or self.clock)


@dataclass(frozen=True)
class Entry:
    """A log entry as it is read back."""

    book_id: int
    book: str
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
    hash: bytes
    prev_hash: bytes | None = None
    """Of the entry before it, as it was read beside this one."""

    @cached_property
    def parts(self) -> Body:
        """What the body holds. Raises Misspelled."""
        return spelling.read(self.subject, self.body)

    @property
    def content(self) -> dict[str, Any]:
        """What the writer put in."""
        content: dict[str, Any] = self.parts.content
        return content

    @property
    def moves(self) -> list[list[Any]]:
        """The transfers that the body records, as ``Move.spelled`` spells each."""
        moves: list[list[Any]] = self.parts.moves
        return moves

    @property
    def heading(self) -> Heading:
        """The columns by which it is looked for. Raises ValueError where its time is no moment."""
        if self.at is None:
            raise ValueError(f"entry {self.seq} is of no moment")
        return Heading(
            book=self.book,
            seq=self.seq,
            at=self.at,
            subject=self.subject,
            kind=self.kind,
            round=self.round,
            by=self.by,
            key=self.key,
        )

    @property
    def line(self) -> bytes:
        """What is hashed of it, after the hash of the entry before it."""
        return self.body if self.body.startswith(b"{") else spelling.line(self.heading, self.body)


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
        if reason := _fault(entry, proven):
            raise Broken(Fault(head.name, *reason))
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
    if entry.at is None:
        return entry.seq, "its time is no moment"
    if sha256((before.hash or b"") + entry.line).digest() != entry.hash:
        return entry.seq, "its hash is not the hash of what it says and of the entry before it"
    if reason := _misshapen(entry) or _disagreement(entry, before.name):
        return entry.seq, reason
    if before.at and entry.at < before.at and not _mends(entry, before):
        return entry.seq, f"it is of {timestamp(entry.at)}, earlier than the entry before it"
    return None


# --- Time that was false ---------------------------------------------------------------------------------------

MENDED = ("clock", "mended")
"""The entry after which a book's time may step back: it says in which true time the entries before it were written."""


@dataclass(frozen=True, slots=True)
class Mend:
    """Some entries whose times are false, and the true span in which they were written."""

    entry: int
    """The one that says so."""
    first: int
    last: int
    since: str
    until: str
    """Moments as a body spells them: they are in order as text, too."""

    @property
    def moment(self) -> datetime:
        """The time that counts for each of them: they belong to the day in which the span begins."""
        return datetime.strptime(self.since, "%Y-%m-%dT%H:%M:%S.%f%z")

    def spelled(self) -> list[Any]:
        """As a document has it."""
        return [self.first, self.last, self.since, self.until]


class _Mending(msgspec.Struct, frozen=True):
    """What an entry that mends times says, as far as the chain needs it."""

    document: "_MendDocument"


class _MendDocument(msgspec.Struct, frozen=True):
    head: str
    """The hash of the last entry that it mends."""
    spans: tuple[tuple[int, int, str, str], ...]


def _mending(entry: Entry) -> _MendDocument:
    try:
        return msgspec.convert(entry.content, _Mending).document
    except msgspec.ValidationError as wrong:
        raise ValueError(f"entry {entry.seq} does not say which times it mends: {wrong}") from None


def mends_in(entry: Entry) -> tuple[Mend, ...]:
    """What an entry mends; nothing, if it is another one."""
    if (entry.subject, entry.kind) != MENDED:
        return ()
    return tuple(Mend(entry.seq, *span) for span in _mending(entry).spans)


def time_of(entry: Entry, mends: Iterable[Mend]) -> str:
    """When an entry was written: as it says, unless a later one says otherwise."""
    mended = next((mend.since for mend in mends if mend.first <= entry.seq <= mend.last), None)
    return mended or timestamp(entry.heading.at)


def _mends(entry: Entry, before: Head) -> bool:
    """Whether an entry may be earlier than the one before it: it mends the times up to that one, and no others."""
    try:
        mends = mends_in(entry)
        heads = mends and _mending(entry).head == (before.hash or b"").hex()
        return bool(heads) and _joined(mends, entry, before.seq)
    except (TypeError, ValueError, KeyError, AttributeError):
        return False


def _joined(mends: Sequence[Mend], entry: Entry, last: int) -> bool:
    """Whether mends are in order without a gap, up to the last entry, and over by the time of the entry itself."""
    numbers = all(mend.last + 1 == following.first for mend, following in pairwise(mends)) and mends[-1].last == last
    moments = [moment for mend in mends for moment in (mend.since, mend.until)]
    moments.append(timestamp(entry.heading.at))
    times = all(earlier <= later for earlier, later in pairwise(moments))
    return numbers and times and all(1 <= mend.first <= mend.last for mend in mends)


_COLUMNS = frozenset({"book", "seq", "at", "subject", "kind", "round", "by", "key"})


def _misshapen(entry: Entry) -> str | None:
    """Whether the body is one such as seal() writes, or wrote; only then its parts may be read."""
    try:
        parts = entry.parts
        canonically = spelling.is_canonical(entry.subject, entry.body, parts)
    except Misspelled as wrong:
        return str(wrong)
    except (ValueError, RecursionError):
        return "its body is not JSON"
    if parts.columns is not None and parts.columns.keys() != _COLUMNS:
        return "its body has not the parts of an entry"
    if not canonically:
        return "its body is not spelled canonically"
    if not isinstance(parts.content, dict) or not isinstance(parts.moves, list):
        return "its content or its transfers have not the shape of an entry's"
    return None


def _disagreement(entry: Entry, book: str) -> str | None:
    """Where a body repeats the columns, a hash that fits proves the body alone: the columns must say the same."""
    if entry.book != book:
        return f"its book is {entry.book!r}, not {book!r}"
    columns = entry.heading.columns() if entry.parts.columns else {}
    for name, spelled in (entry.parts.columns or {}).items():
        value = columns[name]
        if spelled != value or type(spelled) is not type(value):  # 1 is True, and 1.0
            return f"its {name} is {value!r}, its body says {spelled!r}"
    if len(entry.moves) != entry.legs:
        return f"its body moves chips {len(entry.moves)} times, not {entry.legs}"
    return None
