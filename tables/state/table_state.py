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

from django.db import connection

from ledger import replica
from ledger.log import read_head
from ledger.proof.chain import Head
from tables.log.catalog import HOUSE, fold, read
from tables.log.slip_types import CORRECTION
from tables.log.state import UNREADABLE, TableState
from tables.models import Table

HEADS: Final = 2
"""Of a table that many kept: the newest, and the one before for whoever read the head a moment earlier."""


@dataclass(slots=True)
class Cache:
    """The standings of the heads seen last, a few of each table; a hash names one history only, so an item is never
    out of date. It is as large as a floor, not as what is entered there: else a busy floor would push its own tables
    out, and each input would read the registers anew."""

    size: int
    """So many tables; the one that was heard of longest ago goes first."""
    items: OrderedDict[int, OrderedDict[bytes, TableState]] = field(default_factory=OrderedDict)
    """By book, then by the hash of the head; what was kept last stands last."""

    def get(self, book_id: int, head_hash: bytes) -> TableState | None:
        """The standing at this head, if it was kept."""
        kept = self.items.get(book_id)
        return kept.get(head_hash) if kept else None

    def newest(self, book_id: int) -> TableState | None:
        """The standing of a table that was kept last."""
        kept = self.items.get(book_id)
        return next(reversed(kept.values()), None) if kept else None

    def put(self, book_id: int, standing: TableState) -> None:
        """Keep a standing; the oldest ones go."""
        if standing.hash is None:
            return
        kept = OrderedDict(self.items.get(book_id, ()))
        kept.pop(standing.hash, None)
        kept[standing.hash] = standing
        while len(kept) > HEADS:
            kept.popitem(last=False)
        self.items.pop(book_id, None)
        self.items[book_id] = kept  # whole at once: other threads read it meanwhile
        while len(self.items) > self.size:
            self.items.popitem(last=False)

    def clear(self) -> None:
        """As in a process that was just started."""
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
"""So many entries are folded upon an earlier standing; after more of them, the registers are read."""

# The limit inside makes the planner look up each book's entries by their numbers. Joined over the range alone it
# expected a ninth of every book, and read the whole log for each drawing of a floor with a million rounds behind it.
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
    """Where a table's log ended when its row was read with its book."""
    book = table.book
    return Head(book.pk, book.name, book.head_seq, bytes(book.head_hash) if book.head_hash else None)


def of(table: Table) -> TableState:
    """Where a table stands now."""
    return at(read_head(table.book_id))


def at(head: Head) -> TableState:
    """Where a table stands at a head that was just read or locked."""
    # An input at a table that this process knows needs no query, and none of what several tables take.
    return _known(head) or at_all([head])[head.book_id]


def at_all(heads: Sequence[Head]) -> dict[int, TableState]:
    """Where several tables stand, by their books: one query for all that are not known yet."""
    standings = {head.book_id: _known(head) for head in heads}
    for look in (_caught_up, read_anew):
        if missing := [head for head in heads if standings[head.book_id] is None]:
            for book_id, standing in look(missing).items():
                _keep(book_id, standing)
                standings[book_id] = standing
    return {book_id: standing or TableState() for book_id, standing in standings.items()}


def _keep(book_id: int, standing: TableState) -> None:
    """A replica's standing is right, by its hash, but may be older than those that dealers go on from: it would push
    them out, and the next input would read the registers anew."""
    if replica.as_of() is None:
        cache.put(book_id, standing)


def read_anew(heads: Sequence[Head]) -> dict[int, TableState]:
    """What the log says, whatever this process knew before."""
    with connection.cursor() as cursor:
        cursor.execute(_LATEST, [[head.book_id for head in heads], [head.seq for head in heads]])
        rows = {book: [row[1:] for row in group] for book, group in groupby(cursor.fetchall(), key=itemgetter(0))}
    return {
        head.book_id: replace(
            _folded(TableState(), rows.get(head.book_id, ()), head.name, skips=CORRECTION.name),
            seq=head.seq,
            hash=_hash(head),
        )
        for head in heads
    }


def _caught_up(heads: Sequence[Head]) -> dict[int, TableState]:
    """The newest standings of this process, and upon each what was written since; without those it has none for."""
    kept = {head.book_id: (head, cache.newest(head.book_id)) for head in heads}
    earlier = {book: newest for book, (head, newest) in kept.items() if newest and _is_close(head, newest)}
    if not earlier:
        return {}
    ends = {head.book_id: head for head in heads if head.book_id in earlier}
    with connection.cursor() as cursor:
        cursor.execute(_SINCE, [list(ends), [earlier[b].seq for b in ends], [head.seq for head in ends.values()]])
        groups = [(book, list(group)) for book, group in groupby(cursor.fetchall(), key=itemgetter(0))]
    standings = {}
    for book, rows in groups:
        # A standing whose transaction was rolled back is followed by nobody: its hash is in no entry. Of what cannot
        # be folded, the registers say whether it matters.
        with suppress(*UNREADABLE):
            if bytes(rows[0][6] or b"") == earlier[book].hash:
                folded = _folded(earlier[book], (row[1:6] for row in rows), ends[book].name)
                standings[book] = replace(folded, hash=_hash(ends[book]))
    return standings


def _is_close(head: Head, newest: TableState) -> bool:
    return 0 < head.seq - newest.seq <= MOST_TO_CATCH_UP


def registers(head: Head) -> list[int]:
    """The numbers of the entries that tell where a table stands at a head."""
    with connection.cursor() as cursor:
        cursor.execute(_LATEST, [[head.book_id], [head.seq]])
        return [row[1] for row in cursor.fetchall()]


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
