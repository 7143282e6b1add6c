"""Where a table stands now: the fold of its latest log entries, read back. Nothing beside the log knows it.

``of`` reads the newest entry of each register (open or closed, dealer, shoe) and those of the latest round, so its
cost does not grow with history. A book's head hash names its whole history, so a standing is cached by it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Final

import msgspec
from django.db import connection

from ledger.surveillance import Head, read_head
from tables.fold import Dealer, Play, Round, Shoe, Stacks, Standing, fold, holds_cards, read_opening
from tables.models import Table

__all__ = ["Dealer", "Play", "Round", "Shoe", "Stacks", "Standing", "fold", "holds_cards", "read_opening"]


@dataclass(slots=True)
class Cache:
    """The standings of the heads seen last; a hash names one history only, so an item is never out of date."""

    size: int
    items: OrderedDict[tuple[int, bytes], Standing] = field(default_factory=OrderedDict)

    def get(self, book_id: int, head_hash: bytes) -> Standing | None:
        """The standing at this head, if it is known."""
        return self.items.get((book_id, head_hash))

    def put(self, book_id: int, standing: Standing) -> None:
        """Keep a standing; the oldest ones go."""
        if standing.hash is None:
            return
        self.items[book_id, standing.hash] = standing
        while len(self.items) > self.size:
            self.items.popitem(last=False)


cache: Final = Cache(size=1_000)

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
            AND subject = 'slip' ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, subject, kind, round, body FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
            AND subject = 'round'
            AND round = (SELECT round FROM ledger_logentry WHERE book_id = head.book AND seq <= head.seq
                AND subject = 'round' ORDER BY seq DESC LIMIT 1))
    ) AS latest
    ORDER BY head.book, latest.seq
"""


def head_of(table: Table) -> Head:
    """Where a table's log ended when its row was read with its book."""
    book = table.book
    return Head(book.pk, book.name, book.head_seq, bytes(book.head_hash) if book.head_hash else None)


def of(table: Table) -> Standing:
    """Where a table stands now."""
    return at(read_head(table.book_id))


def at(head: Head) -> Standing:
    """Where a table stands at a head that was just read or locked."""
    return at_all([head])[head.book_id]


def at_all(heads: Sequence[Head]) -> dict[int, Standing]:
    """Where several tables stand, by their books: one query for all that are not known yet."""
    found = {head.book_id: _known(head) for head in heads}
    unknown = [head for head in heads if found[head.book_id] is None]
    if unknown:
        with connection.cursor() as cursor:
            cursor.execute(_LATEST, [[head.book_id for head in unknown], [head.seq for head in unknown]])
            rows = {book: [row[1:] for row in group] for book, group in groupby(cursor.fetchall(), key=itemgetter(0))}
        for head in unknown:
            standing = replace(_fold_rows(rows.get(head.book_id, ())), seq=head.seq, hash=bytes(head.hash or b""))
            cache.put(head.book_id, standing)
            found[head.book_id] = standing
    return {book: standing or Standing() for book, standing in found.items()}


def registers(head: Head) -> list[int]:
    """The numbers of the entries that tell where a table stands at a head."""
    with connection.cursor() as cursor:
        cursor.execute(_LATEST, [[head.book_id], [head.seq]])
        return [row[1] for row in cursor.fetchall()]


def _known(head: Head) -> Standing | None:
    return Standing() if head.hash is None else cache.get(head.book_id, bytes(head.hash))


def _fold_rows(rows: Iterable[tuple[int, str, str, int | None, bytes]]) -> Standing:
    standing = Standing()
    for seq, subject, kind, number, body in rows:
        content = msgspec.json.decode(bytes(body))["content"]
        standing = fold(standing, seq=seq, subject=subject, kind=kind, round=number, content=content)
    return standing
