"""Many entries of several books stored at once: each is sealed as ``log.seal`` does, and all are
copied in with their transfers. The database holds every one against its guards, as it does single ones."""

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
    """Entries that wait to be stored together, under the locks of their books: made and written in one transaction."""

    def __init__(self, books: Iterable[int]) -> None:
        self.heads: dict[int, Head] = {book: log.lock(book) for book in books}
        self._entries: list[tuple[Any, ...]] = []
        self._transfers: list[tuple[Any, ...]] = []

    def add(self, book_id: int, draft: Draft, moves: Sequence[Move] = ()) -> Head:
        """Seal an entry, with the chips that it moves, after the last one of its book; returns the book's new head."""
        sealed = log.seal(self.heads[book_id], draft, [move.spelled() for move in moves])
        head = self.heads[book_id] = sealed.head
        self._entries.append(sealed.row)
        for leg, move in enumerate(moves, 1):
            self._transfers.append((book_id, head.seq, leg, len(moves), *astuple(move)))
        return head

    def write(self) -> None:
        """Store what was added: entries, transfers, the books' heads and the announcement of each."""
        if not self._entries:
            return
        with connection.cursor() as cursor:
            for statement, rows in ((_ENTRIES, self._entries), (_TRANSFERS, self._transfers)):
                with cursor.copy(statement) as copy:
                    for row in rows:
                        copy.write_row(row)
            written = [self.heads[book] for book in sorted({row[0] for row in self._entries})]
            books, seqs, hashes = zip(*((head.book_id, head.seq, head.hash) for head in written), strict=True)
            cursor.execute(_HEADS, [list(books), list(seqs), list(hashes)])
        self._entries, self._transfers = [], []
