"""Search of the log by author, subject, kind, table, round, time, amount and words of the description.

The database filters by indexed fields: subject, kind, author (except for round inputs), round and time. Words and
amounts are matched against the description of each entry, newest first. A page examines a limited number of entries and
states how far it got. Content that a game still conceals is masked, as on the log page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Q
from django.utils import timezone

from ledger import clock_corrections
from ledger.log import COLUMNS
from ledger.models import HOUSE, Book
from ledger.proof.chain import Entry
from ledger.proof.chips import money
from ledger.raw_rows import fetch_rows
from tables.log.catalog import EVENTS
from tables.log.message import Description, Money, values_of
from tables.log.moments import is_possible
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.reports import entry_list

PAGE: Final = 50
AT_ONCE: Final = 500
"""Entries whose words are looked at with one statement."""
MOST_LOOKED_AT: Final = 2_000
"""Entries whose words one page looks at."""
MOST_OF_ROUNDS: Final = timedelta(days=2)
"""Inputs of rounds are nearly all that there is: by person, word or amount they are searched over no longer a time."""
FIRST_WINDOW: Final = timedelta(hours=1)
WIDER: Final = 8
LONGEST: Final = 100
"""Characters of a word or a name."""

ROUND: Final = "round"
SUBJECTS: Final = tuple(sorted({event.subject for event in EVENTS}))
KINDS: Final = tuple(sorted({kind for event in EVENTS for kind in event.kinds}))


@dataclass(frozen=True, slots=True)
class PagePosition:
    """Where a page begins: before this entry, in order of time, book and number."""

    moment: datetime
    book: int
    seq: int

    def __str__(self) -> str:
        return f"{self.moment.isoformat()}~{self.book}~{self.seq}"

    @classmethod
    def read(cls, text: str | None) -> PagePosition | None:
        """As an address brings it; None for anything else."""
        match (text or "").split("~"):
            case [moment, book, seq] if book.isdecimal() and seq.isdecimal() and len(book + seq) < 30:
                try:
                    read = datetime.fromisoformat(moment.replace(" ", "+"))
                except ValueError:
                    return None
                if read.tzinfo is None or not is_possible(read):
                    return None
                return cls(read, min(int(book), 2**31 - 1), min(int(seq), 2**31 - 1))
        return None


@dataclass(frozen=True, slots=True)
class LogQuery:
    """What is searched for; what is not named does not matter."""

    person: str = ""
    subject: str = ""
    kind: str = ""
    table: int | None = None
    """The table's own number."""
    in_house: bool = False
    """Only the house's own book."""
    round: int | None = None
    seat: int | None = None
    """Entries whose words name this seat; inputs of rounds are among them."""
    entry: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""
    cents: int | None = None
    with_rounds: bool = False
    """Inputs of rounds too, where a person, a word or an amount is looked for."""

    @property
    def reads_words(self) -> bool:
        """Whether an entry has to be read to know whether it is wanted."""
        return bool(self.text) or self.cents is not None or self.seat is not None

    @property
    def is_of_rounds(self) -> bool:
        """Whether inputs of rounds are among what is searched."""
        if self.subject or self.round is not None or self.entry is not None:
            return self.subject in ("", ROUND)
        return self.with_rounds or self.seat is not None or not (self.person or self.reads_words or self.kind)

    @property
    def is_wide(self) -> bool:
        """Whether no index leads to it, so that all inputs of rounds of its span have to be looked at."""
        finds = self.round is not None or self.entry is not None
        return self.is_of_rounds and not finds and bool(self.person or self.reads_words or self.kind)


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry with its words."""

    entry: Entry
    moment: datetime
    says: str
    table: Table | None
    """None: it is in the house's book."""

    @property
    def place(self) -> PagePosition:
        return PagePosition(self.moment, self.entry.book_id, self.entry.seq)


@dataclass(frozen=True, slots=True)
class LogPage:
    """A page of what was searched for."""

    hits: Sequence[Hit]
    older: PagePosition | None
    """Where the next one begins; None where there is nothing more."""
    looked_at: int = 0
    """How many entries were read for it."""


def search(wanted: LogQuery, *, before: PagePosition | None = None, whole: bool, count: int = PAGE) -> LogPage:
    """A page of entries, the newest first. Without ``whole``, of tables alone. Raises Refused."""
    _refuse_wide(wanted)
    books = _books(wanted, whole=whole)
    hits: list[Hit] = []
    looked_at, place = 0, before
    batch = AT_ONCE if wanted.reads_words else count + 1
    while books.heads:
        rows = _rows(wanted, books, place, batch)
        looked_at += len(rows)
        hits += _hits(rows, wanted, books)
        if len(hits) > count:
            return LogPage(hits[:count], hits[count - 1].place, looked_at)
        if len(rows) < batch:
            break
        moment, entry = rows[-1]
        place = PagePosition(moment, entry.book_id, entry.seq)
        if looked_at >= MOST_LOOKED_AT:
            return LogPage(hits, place, looked_at)
    return LogPage(hits, None, looked_at)


def _refuse_wide(wanted: LogQuery) -> None:
    if not wanted.is_wide:
        return
    until = wanted.until or timezone.now()
    if wanted.since is None or until - wanted.since > MOST_OF_ROUNDS:
        days = MOST_OF_ROUNDS.days
        raise Refused(
            "too_wide",
            f"Inputs of rounds are searched by person, kind, seat, word or amount over {days} days at most:"
            " say from when to when, or name a round.",
            422,
        )


# --- What is asked of the database -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Books:
    heads: Mapping[int, int]
    """The books that are searched, each with the number of its last entry."""
    tables: Mapping[int, Table]


def _books(wanted: LogQuery, *, whole: bool) -> _Books:
    tables = {table.book_id: table for table in Table.objects.all()}
    if wanted.in_house or wanted.table is not None:
        tables = {book: table for book, table in tables.items() if table.pk == wanted.table and not wanted.in_house}
    names = Q(pk__in=tables)
    if whole and wanted.table is None:
        names |= Q(name=HOUSE)
    return _Books(dict(Book.objects.filter(names).values_list("pk", "head_seq")), tables)


def _through(books: _Books, wanted: LogQuery, before: PagePosition | None) -> dict[int, int]:
    """Up to which entry each book is read: those of one moment are in order of their books, the last book first."""
    moment = before.moment if before else wanted.until
    if moment is None:
        return dict(books.heads)
    just_after = moment + timedelta(microseconds=1)
    moments = {book: just_after if before and book < before.book else moment for book in books.heads}
    ends = clock_corrections.last_before_each(books.heads, moments)
    if before and before.book in ends:
        ends[before.book] = before.seq - 1
    return ends


def _rows(wanted: LogQuery, books: _Books, before: PagePosition | None, count: int) -> list[tuple[datetime, Entry]]:
    """Up to ``count`` entries, the newest first. Several logs are read in widening time windows, so that a page that
    needs only the last few minutes does not read each log in full."""
    highs = _through(books, wanted, before)
    lowest = dict.fromkeys(books.heads, 0)
    if wanted.since:
        lowest = clock_corrections.last_before_each(books.heads, dict.fromkeys(books.heads, wanted.since))
    window, start = FIRST_WINDOW, before.moment if before else wanted.until or timezone.now()
    while len(books.heads) > 1 and start - window > (wanted.since or start - timedelta(days=400)):
        lows = clock_corrections.last_before_each(books.heads, dict.fromkeys(books.heads, start - window))
        rows = _read(wanted, {book: (max(lows[book], lowest[book]), highs[book]) for book in highs}, count)
        if len(rows) == count:
            return rows
        window *= WIDER
    return _read(wanted, {book: (lowest[book], highs[book]) for book in highs}, count)


_FOUND: Final = """
    SELECT e.*, {time} AS moment FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[])
        AS s (book, low, high)
    CROSS JOIN LATERAL (SELECT {columns} FROM ledger_logentry
        WHERE book_id = s.book AND seq > s.low AND seq <= s.high{conditions} ORDER BY seq DESC LIMIT %(count)s) AS e
        (book_id, name, seq, at, subject, kind, round, by, key, legs, body, hash, previous)
    ORDER BY moment DESC, e.book_id DESC, e.seq DESC LIMIT %(count)s
"""


def _read(wanted: LogQuery, bounds: Mapping[int, tuple[int, int]], count: int) -> list[tuple[datetime, Entry]]:
    conditions, asked = _conditions(wanted)
    sql = _FOUND.format(
        time=clock_corrections.TRUE_TIME.format(book="s.book", entry="e"), columns=COLUMNS, conditions=conditions
    )
    asked |= {
        "books": list(bounds),
        "lows": [low for low, _ in bounds.values()],
        "highs": [high for _, high in bounds.values()],
        "count": count,
    }
    return [(row[-1], Entry(*row[:-1])) for row in fetch_rows(sql, asked)]


def _conditions(wanted: LogQuery) -> tuple[str, dict[str, Any]]:
    """As SQL, and its values. A partial index is only taken where a query says what the index leaves out."""
    parts: list[str] = []
    asked: dict[str, Any] = {}
    for name in ("subject", "kind", "round"):
        value = getattr(wanted, name)
        if value not in ("", None):
            parts.append(f"{name} = %({name})s")
            asked[name] = value
    if wanted.entry is not None:
        parts.append("seq = %(entry)s")
        asked["entry"] = wanted.entry
    if not wanted.is_of_rounds:
        parts.append("NOT subject = 'round'")
    if wanted.person:
        forms = _signatures(wanted.person)
        parts.append(f"({' OR '.join(f'by LIKE %(by{place})s' for place in range(len(forms)))})")
        asked |= {f"by{place}": form for place, form in enumerate(forms)}
    return "".join(f" AND {part}" for part in parts), asked


def _signatures(person: str) -> list[str]:
    """SQL LIKE patterns for an author's signatures: user names and badges of up to 20 matching staff members, or the
    typed text as a prefix if no staff member matches."""
    staff = Staff.objects.filter(Q(username__iexact=person) | Q(badge=person) | Q(name__icontains=person))[:20]
    names = {name for member in staff for name in (member.username, member.badge) if name}
    forms = [f"{_literally(name)} %" for name in sorted(names)] + [_literally(name) for name in sorted(names)]
    return forms or [f"{_literally(person)}%"]


def _literally(text: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", text)


# --- What is read ----------------------------------------------------------------------------------------------


def _hits(rows: Sequence[tuple[datetime, Entry]], wanted: LogQuery, books: _Books) -> list[Hit]:
    described = entry_list.of_several_books([(entry.book_id, entry) for _, entry in rows])
    moved = _moved(rows, wanted)
    return [
        Hit(entry, moment, says, books.tables.get(entry.book_id))
        for (moment, entry), (description, says) in zip(rows, described, strict=True)
        if wanted.text.casefold() in says.casefold()
        and (wanted.seat is None or _has_seat(description, wanted.seat))
        and (wanted.cents is None or (entry.book_id, entry.seq) in moved or _has_amount(description, wanted.cents))
    ]


_MOVED: Final = """
    SELECT DISTINCT s.book, s.seq FROM unnest(%(books)s::bigint[], %(seqs)s::bigint[]) AS s (book, seq)
    JOIN ledger_transfer AS t ON t.book_id = s.book AND t.seq = s.seq AND t.amount_cents = %(cents)s
"""


def _moved(rows: Sequence[tuple[datetime, Entry]], wanted: LogQuery) -> frozenset[tuple[int, int]]:
    """The entries with a transfer of the amount that is looked for."""
    movers = [entry for _, entry in rows if entry.legs]
    if wanted.cents is None or not movers:
        return frozenset()
    asked: dict[str, Any] = {
        "books": [entry.book_id for entry in movers],
        "seqs": [entry.seq for entry in movers],
        "cents": wanted.cents,
    }
    return frozenset(fetch_rows(_MOVED, asked))


def _has_seat(description: Description, seat: int) -> bool:
    """Whether a description is about a seat, or has a stored text about it, such as that of an alert."""
    mention = re.compile(rf"\bseat {seat}\b", re.IGNORECASE)
    return any(
        mention.search(value) if isinstance(value, str) else (name, value) == ("seat", seat)
        for name, value in values_of(description)
    )


def _has_amount(description: Description, cents: int) -> bool:
    """Whether a description has an amount, or a stored text with it."""
    mention = re.compile(rf"(?<![\d.,]){re.escape(money(cents))}(?!\d|[.,]\d)")
    return any(
        mention.search(value) if isinstance(value, str) else value == Money(cents)
        for _, value in values_of(description)
    )


def everything(wanted: LogQuery, *, whole: bool, count: int = 1_000) -> Iterator[Sequence[Hit]]:
    """All of it, a page at a time, for a file."""
    before: PagePosition | None = None
    while True:
        page = search(wanted, before=before, whole=whole, count=count)
        yield page.hits
        if page.older is None:
            return
        before = page.older
