"""The state of a table now, by replay of its latest log entries. It is stored nowhere else.

The hash of a log's head identifies its history, so states are cached by it. Entries that another process has written
since the newest cached state are replayed upon that state. Without one, the newest entry of each register (open or
closed, dealer, shoe, rack, slips, corrections, notice of limits) and those of the latest round are read, so the cost
does not grow with history.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Final

from ledger import replica
from ledger.log import read_head
from ledger.proof.chain import Head
from ledger.raw_rows import fetch_rows
from tables.log.catalog import HOUSE, fold, read
from tables.log.slip_types import CORRECTION
from tables.log.state import UNREADABLE, TableState
from tables.models import Table

HEADS: Final = 2
"""Cached states of each table: the newest, and the one before for a reader that read the head a moment earlier."""


@dataclass(slots=True)
class Cache:
    """The states at the latest heads, a few of each table. A hash identifies one history, so an item is never stale.

    Its size is limited by tables, not by entries: otherwise a busy floor would evict its own tables, and each input
    would read the registers again.
    """

    size: int
    """Maximum of tables; the one updated longest ago is evicted first."""
    items: OrderedDict[int, OrderedDict[bytes, TableState]] = field(default_factory=OrderedDict)
    """By log, then by the hash of the head, oldest first."""

    def get(self, book_id: int, head_hash: bytes) -> TableState | None:
        """The cached state at a head; None if there is none."""
        kept = self.items.get(book_id)
        return kept.get(head_hash) if kept else None

    def newest(self, book_id: int) -> TableState | None:
        """The newest cached state of a table; None if there is none."""
        kept = self.items.get(book_id)
        return next(reversed(kept.values()), None) if kept else None

    def put(self, book_id: int, standing: TableState) -> None:
        """Cache a state, evicting the oldest ones."""
        if standing.hash is None:
            return
        kept = OrderedDict(self.items.get(book_id, ()))
        kept.pop(standing.hash, None)
        kept[standing.hash] = standing
        while len(kept) > HEADS:
            kept.popitem(last=False)
        self.items.pop(book_id, None)
        self.items[book_id] = kept  # replaced as a whole: other threads may be reading it
        while len(self.items) > self.size:
            self.items.popitem(last=False)

    def clear(self) -> None:
        """Empty the cache, for tests."""
        self.items.clear()


cache: Final = Cache(size=5_000)

_LATEST: Final = """
    SELECT head.book, latest.* FROM unnest(%s::bigint[], %s::bigint[]) AS head (book, seq) CROSS JOIN LATERAL (
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'table' AND kind IN ('opened', 'closed') ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'dealer' ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'shoe' ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'seats' ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'commission' ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'rack' ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'slip' ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'correction' ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'outage' ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'limits' ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'reader' ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'restored' ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'round'
            AND round = (SELECT round FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
                AND subject = 'round' ORDER BY seq DESC LIMIT 1))
    ) AS latest
    ORDER BY head.book, latest.seq
"""

MOST_TO_CATCH_UP: Final = 50
"""Entries that are replayed on an earlier state; beyond that the registers are read."""

# The inner limit makes the planner look up each log's entries by number. For a join over the range alone it expected
# a ninth of every log, and read the whole log for each view of a floor with a million rounds.
_SINCE: Final = f"""
    SELECT head.book, entry.*,
        (SELECT hash FROM ledger_logentry WHERE book_id = head.book AND seq = head.after) AS upon
    FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS head (book, after, seq)
    CROSS JOIN LATERAL (SELECT seq, subject, kind, round, body FROM ledger_logentry
        WHERE book_id = head.book AND seq > head.after AND seq <= head.seq
        ORDER BY seq LIMIT {MOST_TO_CATCH_UP}) AS entry
    ORDER BY head.book, entry.seq
"""  # noqa: S608


def head_of(table: Table) -> Head:
    """The head of a table's log as of when its row was read with its log."""
    book = table.book
    return Head(book.pk, book.name, book.head_seq, bytes(book.head_hash) if book.head_hash else None)


def of(table: Table) -> TableState:
    """The present state of a table."""
    return at(read_head(table.book_id))


def at(head: Head) -> TableState:
    """The state of a table at a head that was just read or locked."""
    # An input at a cached table needs no query and no work for several tables.
    return _known(head) or at_all([head])[head.book_id]


def at_all(heads: Sequence[Head]) -> dict[int, TableState]:
    """The states of several tables, by log: one query for all that are not cached."""
    standings = {head.book_id: _known(head) for head in heads}
    for look in (_caught_up, read_anew):
        if missing := [head for head in heads if standings[head.book_id] is None]:
            for book_id, standing in look(missing).items():
                _keep(book_id, standing)
                standings[book_id] = standing
    return {book_id: standing or TableState() for book_id, standing in standings.items()}


def _keep(book_id: int, standing: TableState) -> None:
    """Cache a state, but not one from a replica.

    A replica's state is correct by its hash but may be older than those that dealers continue from; it would evict
    them.
    """
    if replica.as_of() is None:
        cache.put(book_id, standing)


def read_anew(heads: Sequence[Head]) -> dict[int, TableState]:
    """The states of tables at these heads as the log has them, without the cache."""
    latest = fetch_rows(_LATEST, [[head.book_id for head in heads], [head.seq for head in heads]])
    rows = {book: [row[1:] for row in group] for book, group in groupby(latest, key=itemgetter(0))}
    return {
        head.book_id: replace(
            _folded(TableState(), rows.get(head.book_id, ()), head.name, skips=CORRECTION.name),
            seq=head.seq,
            hash=_hash(head),
        )
        for head in heads
    }


def _caught_up(heads: Sequence[Head]) -> dict[int, TableState]:
    """The newest cached states with the entries since replayed on them; omits tables that have none."""
    kept = {head.book_id: (head, cache.newest(head.book_id)) for head in heads}
    earlier = {book: newest for book, (head, newest) in kept.items() if newest and _is_close(head, newest)}
    if not earlier:
        return {}
    ends = {head.book_id: head for head in heads if head.book_id in earlier}
    since = fetch_rows(_SINCE, [list(ends), [earlier[b].seq for b in ends], [head.seq for head in ends.values()]])
    groups = [(book, list(group)) for book, group in groupby(since, key=itemgetter(0))]
    standings = {}
    for book, rows in groups:
        # A cached state whose transaction was rolled back has no successor: its hash is in no entry. If an entry
        # cannot be replayed, the registers decide whether that matters.
        with suppress(*UNREADABLE):
            if bytes(rows[0][6] or b"") == earlier[book].hash:
                folded = _folded(earlier[book], (row[1:6] for row in rows), ends[book].name)
                standings[book] = replace(folded, hash=_hash(ends[book]))
    return standings


def _is_close(head: Head, newest: TableState) -> bool:
    return 0 < head.seq - newest.seq <= MOST_TO_CATCH_UP


def registers(head: Head) -> list[int]:
    """Numbers of the entries that determine a table's state at a head."""
    return [row[1] for row in fetch_rows(_LATEST, [[head.book_id], [head.seq]])]


def _known(head: Head) -> TableState | None:
    return TableState() if head.hash is None else cache.get(head.book_id, bytes(head.hash))


def _hash(head: Head) -> bytes:
    return bytes(head.hash or b"")


def _folded(
    standing: TableState, rows: Iterable[tuple[int, str, str, int | None, bytes]], book: str, skips: str = ""
) -> TableState:
    """The state after these entries. ``skips``: a subject whose unreadable entries are left out."""
    for seq, subject, kind, number, body in rows:
        # One forged entry about corrections must not close the table: none waits then, and a proof names the entry.
        with suppress(*UNREADABLE if subject == skips else ()):
            standing = fold(standing, read(subject, kind, body, house=book == HOUSE), seq=seq, round=number)
    return standing
