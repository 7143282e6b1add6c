"""The hash chain without a database: entries, and the verification that each follows from the one before."""

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
    """The end of a log's chain. Only a head from ``log.lock``, or from a write after it, may be extended."""

    book_id: int
    name: str
    seq: int
    hash: bytes | None
    at: datetime | None = field(default=None, compare=False)
    """The time of its last entry, if known: no later entry has an earlier time."""
    clock: datetime | None = field(default=None, compare=False)
    """The database's clock when the log was locked; None for a head that was read without the lock."""

    @property
    def moment(self) -> datetime:
        """The time of the next entry. Raises ValueError for a head without the lock."""
        if self.clock is None:
            raise ValueError(f"{self.name} was not locked: only a head from lock() is written upon")
        return max(self.clock, self.at or self.clock)


@dataclass(frozen=True)
class Entry:
    """A log entry read from the database."""

    book_id: int
    book: str
    seq: int
    at: datetime | None
    """None for a time that datetime cannot represent: an infinity, or a year out of range."""
    subject: str
    kind: str
    round: int | None
    by: str
    key: UUID | None
    legs: int
    body: bytes
    hash: bytes
    prev_hash: bytes | None = None
    """The hash of the entry before it, if that was read with it."""

    @cached_property
    def parts(self) -> Body:
        """The parsed body. Raises Misspelled."""
        return spelling.read(self.subject, self.body)

    @property
    def content(self) -> dict[str, Any]:
        """The content as its writer passed it. Raises Misspelled."""
        content: dict[str, Any] = self.parts.content
        return content

    @property
    def moves(self) -> list[list[Any]]:
        """The transfers that the body records, each in the format of ``Move.spelled``. Raises Misspelled."""
        moves: list[list[Any]] = self.parts.moves
        return moves

    @property
    def heading(self) -> Heading:
        """The columns that identify it. Raises ValueError if its time cannot be represented."""
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
        """The bytes that are hashed after the hash of the entry before it."""
        return self.body if self.body.startswith(b"{") else spelling.line(self.heading, self.body)


@dataclass(frozen=True, slots=True)
class Fault:
    """The first entry of a log that fails verification, and the reason."""

    book: str
    seq: int
    what: str

    def __str__(self) -> str:
        return f"{self.book}, entry {self.seq}: {self.what}"


class Broken(Exception):
    """A log failed verification. Carries the fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


def walk(
    entries: Iterable[Entry], head: Head, *, after: Head | None = None, anchors: Iterable[tuple[int, bytes]] = ()
) -> Iterator[Entry]:
    """Yield each entry that follows from the one before. Raises Broken at the first that does not, or if the last one
    is not the head.

    ``after``: a verified head to continue from; None for the start of the log. ``anchors``: (seq, hash) pairs that were
    stored in the past, in order; they reveal a chain that was hashed again with other contents.
    """
    proven = after or Head(head.book_id, head.name, 0, None)
    remaining = iter(anchors)
    anchor = next(remaining, None)
    for entry in entries:
        if reason := _fault(entry, proven):
            raise Broken(Fault(head.name, *reason))
        # An entry after the head was not added by the program, which moves the head in the same statement.
        if entry.seq > head.seq:
            raise Broken(Fault(head.name, entry.seq, "stands after the last entry that the book knows"))
        # Hashes alone cannot reveal a whole chain that was rewritten and hashed again: stored anchors do.
        while anchor and anchor[0] == entry.seq:
            if anchor[1] != entry.hash:
                raise Broken(Fault(head.name, entry.seq, "is not the entry that a recount noted: hashed anew"))
            anchor = next(remaining, None)
        proven = Head(head.book_id, head.name, entry.seq, entry.hash, entry.at)
        yield entry
    if proven.seq < head.seq:
        raise Broken(Fault(head.name, proven.seq + 1, f"is missing: the book knows {head.seq} entries"))
    # The head is stored apart from the entries: an attacker would have to change both.
    if proven.hash != head.hash:
        raise Broken(Fault(head.name, proven.seq, "is not the last entry that the book knows"))


def verify_chain(
    entries: Iterable[Entry], head: Head, *, after: Head | None = None, anchors: Iterable[tuple[int, bytes]] = ()
) -> Fault | None:
    """The first fault of a chain, or None. Parameters as for ``walk``."""
    try:
        for _ in walk(entries, head, after=after, anchors=anchors):
            pass
    except Broken as broken:
        return broken.fault
    return None


def _fault(entry: Entry, before: Head) -> tuple[int, str] | None:
    """The number and fault of an entry that should follow a head; None if it does."""
    # A gap is reported under the missing number, because the entry after it may be genuine.
    expected = before.seq + 1
    if entry.seq > expected:
        return expected, "is missing"
    if entry.seq < expected:
        return entry.seq, "is there twice"
    if entry.at is None:
        return entry.seq, "its time is no moment"
    # The hash comes before the contents: an altered entry is reported as altered, not by what was put into it.
    if sha256((before.hash or b"") + entry.line).digest() != entry.hash:
        return entry.seq, "its hash is not the hash of what it says and of the entry before it"
    if reason := _misshapen(entry) or _disagreement(entry, before.name):
        return entry.seq, reason
    if before.at and entry.at < before.at and not _mends(entry, before):
        return entry.seq, f"it is of {timestamp(entry.at)}, earlier than the entry before it"
    return None


# --- Time that was false ---------------------------------------------------------------------------------------

MENDED = ("clock", "mended")
"""Subject and kind of the clock-correction entry, the only one whose time may be earlier than that of the entry before
it."""


@dataclass(frozen=True, slots=True)
class Mend:
    """A run of entries with false times, and the true span in which they were written."""

    entry: int
    """The number of the correction entry."""
    first: int
    last: int
    since: str
    until: str
    """Both times as text, in the format of a body: their order as text is their order in time."""

    @property
    def moment(self) -> datetime:
        """The time that counts for each of these entries: the begin of the span, which also decides their gaming
        day."""
        return datetime.strptime(self.since, "%Y-%m-%dT%H:%M:%S.%f%z")

    def spelled(self) -> list[Any]:
        """The correction in the format of a document: [first, last, since, until]."""
        return [self.first, self.last, self.since, self.until]


class _Mending(msgspec.Struct, frozen=True):
    """The part of a clock-correction entry that the chain needs."""

    document: "_MendDocument"


class _MendDocument(msgspec.Struct, frozen=True):
    head: str
    """The hex hash of the last entry that it corrects."""
    spans: tuple[tuple[int, int, str, str], ...]


def _mending(entry: Entry) -> _MendDocument:
    try:
        return msgspec.convert(entry.content, _Mending).document
    except msgspec.ValidationError as wrong:
        raise ValueError(f"entry {entry.seq} does not say which times it mends: {wrong}") from None


def mends_in(entry: Entry) -> tuple[Mend, ...]:
    """The corrections in an entry; empty for other kinds. Raises ValueError if they cannot be parsed."""
    if (entry.subject, entry.kind) != MENDED:
        return ()
    return tuple(Mend(entry.seq, *span) for span in _mending(entry).spans)


def time_of(entry: Entry, mends: Iterable[Mend]) -> str:
    """The time of an entry as text: its own, unless a correction replaces it."""
    mended = next((mend.since for mend in mends if mend.first <= entry.seq <= mend.last), None)
    return mended or timestamp(entry.heading.at)


def _mends(entry: Entry, before: Head) -> bool:
    """Whether an entry may be earlier than the one before it: only if it corrects the times up to exactly that
    entry."""
    try:
        mends = mends_in(entry)
        # The correction names the hash before it, so it cannot be moved to another place of the chain.
        heads = mends and _mending(entry).head == (before.hash or b"").hex()
        return bool(heads) and _joined(mends, entry, before.seq)
    except (TypeError, ValueError, KeyError, AttributeError):
        return False


def _joined(mends: Sequence[Mend], entry: Entry, last: int) -> bool:
    """Whether corrections are in order without a gap, end with the last entry, and are over at the time of the
    correction entry."""
    # A gap between spans would leave entries with their false times, in an order that no one can explain.
    numbers = all(mend.last + 1 == following.first for mend, following in pairwise(mends)) and mends[-1].last == last
    moments = [moment for mend in mends for moment in (mend.since, mend.until)]
    moments.append(timestamp(entry.heading.at))
    times = all(earlier <= later for earlier, later in pairwise(moments))
    return numbers and times and all(1 <= mend.first <= mend.last for mend in mends)


_COLUMNS = frozenset({"book", "seq", "at", "subject", "kind", "round", "by", "key"})


def _misshapen(entry: Entry) -> str | None:
    """Why the body is not one that ``seal`` writes or wrote; None if it is. Other parts may be read only after this."""
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
    """A difference between columns and body; None if there is none. The hash covers the body, so columns that the body
    repeats must be equal."""
    if entry.book != book:
        return f"its book is {entry.book!r}, not {book!r}"
    columns = entry.heading.columns() if entry.parts.columns else {}
    for name, spelled in (entry.parts.columns or {}).items():
        value = columns[name]
        if spelled != value or type(spelled) is not type(value):  # 1 is True, and 1.0
            return f"its {name} is {value!r}, its body says {spelled!r}"
    # The count is a column that the database uses to require all transfers of an entry.
    if len(entry.moves) != entry.legs:
        return f"its body moves chips {len(entry.moves)} times, not {entry.legs}"
    return None
