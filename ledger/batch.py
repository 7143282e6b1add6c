"""Stores many entries of several logs at once, sealed as by ``log.seal`` and copied in together with their transfers.

The database checks the rows with the same constraints and triggers as rows that are inserted singly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import Any, Final

from django.db import connection

from ledger import log
from ledger.log import Draft
from ledger.proof.chain import Head
from ledger.proof.moves import Move

_ENTRIES: Final = "COPY ledger_logentry (book_id, seq, at, subject, kind, round, by, key, legs, body, hash) FROM STDIN"
_TRANSFERS: Final = """COPY ledger_transfer (book_id, seq, leg, legs, kind, source_id, source_place, target_id,
    target_place, amount_cents, reverses_id) FROM STDIN"""
_HEADS: Final = f"""WITH ends AS (SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[]) AS e (book, seq, hash)),
    heads AS (UPDATE ledger_book SET head_seq = ends.seq, head_hash = ends.hash FROM ends WHERE id = ends.book)
    SELECT pg_notify('{log.CHANNEL}', '{{"book": ' || book || ', "seq": ' || seq || '}}') FROM ends"""  # noqa: S608


class Batch:
    """Entries that are sealed one by one and stored together, in one transaction under the locks of their logs."""

    def __init__(self, books: Iterable[int]) -> None:
        # All locks are taken before the first entry is sealed: nothing else can extend these logs until the commit.
        self.heads: dict[int, Head] = {book: log.lock(book) for book in books}
        self._entries: list[tuple[Any, ...]] = []
        self._transfers: list[tuple[Any, ...]] = []

    def add(self, book_id: int, draft: Draft, moves: Sequence[Move] = ()) -> Head:
        """Seal an entry and its transfers after the last entry of its log. Returns the log's new head."""
        sealed = log.seal(self.heads[book_id], draft, [move.spelled() for move in moves])
        head = self.heads[book_id] = sealed.head
        self._entries.append(sealed.row)
        for leg, move in enumerate(moves, 1):
            self._transfers.append((book_id, head.seq, leg, len(moves), *astuple(move)))
        return head

    def write(self) -> None:
        """Store all added entries and transfers, move the heads of their logs, and notify listeners once per log."""
        if not self._entries:
            return
        with connection.cursor() as cursor:
            # Entries before transfers: the trigger on a transfer checks it against the body of its entry.
            for statement, rows in ((_ENTRIES, self._entries), (_TRANSFERS, self._transfers)):
                with cursor.copy(statement) as copy:
                    for row in rows:
                        copy.write_row(row)
            written = [self.heads[book] for book in sorted({row[0] for row in self._entries})]
            books, seqs, hashes = zip(*((head.book_id, head.seq, head.hash) for head in written), strict=True)
            cursor.execute(_HEADS, [list(books), list(seqs), list(hashes)])
        self._entries, self._transfers = [], []
