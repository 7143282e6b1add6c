"""A table's log in a list, an entry a line, with its words for people. What a game still hides is veiled."""

from __future__ import annotations

from typing import Final

from django.db import connection

from ledger.log import COLUMNS
from ledger.proof.chain import Entry
from tables.board import secrecy
from tables.log import catalog
from tables.log.fold import UNREADABLE

PAGE: Final = 50


def entries(book_id: int, *, before: int | None = None, subject: str = "", count: int = PAGE) -> list[Entry]:
    """``count`` entries of a table's log before the entry ``before``, the newest first; only of ``subject``, if given.

    Nothing is told of what a game still hides.
    """
    where = "book_id = %(book)s" + " AND seq < %(before)s" * (before is not None)
    where += " AND subject = %(subject)s" * bool(subject)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {COLUMNS} FROM ledger_logentry WHERE {where} ORDER BY seq DESC LIMIT %(count)s",  # noqa: S608
            {"book": book_id, "before": before, "subject": subject, "count": count},
        )
        return secrecy.veiled(book_id, [Entry(*row) for row in cursor.fetchall()])


def words_of(entry: Entry) -> str:
    """An entry in plain words."""
    try:
        return catalog.told(secrecy.event_of(entry))
    except UNREADABLE:
        return f"{entry.subject} {entry.kind}: it cannot be read"
