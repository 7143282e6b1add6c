"""A table's log in a list, an entry a line, with its words for people. What a game still hides is veiled."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Final

from ledger.log import COLUMNS
from ledger.proof.chain import Entry
from ledger.raw_rows import fetch_rows
from tables.board import secrecy
from tables.games.cards import PAIRS, Pack, pack_of
from tables.log import catalog
from tables.log.entries.rounds import Played
from tables.log.message import Description, Message, text_of
from tables.log.state import UNREADABLE

PAGE: Final = 50


def entries(book_id: int, *, before: int | None = None, subject: str = "", count: int = PAGE) -> list[Entry]:
    """``count`` entries of a table's log before the entry ``before``, the newest first; only of ``subject``, if given.

    Content that the game still conceals is masked.
    """
    where = "book_id = %(book)s" + " AND seq < %(before)s" * (before is not None)
    where += " AND subject = %(subject)s" * bool(subject)
    rows = fetch_rows(
        f"SELECT {COLUMNS} FROM ledger_logentry WHERE {where} ORDER BY seq DESC LIMIT %(count)s",  # noqa: S608
        {"book": book_id, "before": before, "subject": subject, "count": count},
    )
    return secrecy.veiled(book_id, [Entry(*row) for row in rows])


def words_of(entry: Entry, pack: Pack = PAIRS) -> str:
    """The text of an entry, with cards written as the pack writes them."""
    return _described(entry, pack)[1]


def _described(entry: Entry, pack: Pack) -> tuple[Description, str]:
    """The description of an entry, and its text."""
    try:
        description = catalog.described(secrecy.event_of(entry))
        return description, text_of(description, pack)
    except UNREADABLE:
        description = Message("{subject} {kind}: it cannot be read", subject=entry.subject, kind=entry.kind)
        return description, text_of(description)


def in_words(book_id: int, page: Sequence[Entry]) -> list[str]:
    """Entries of a table's log in plain words, a clause each."""
    packs = _packs(book_id, {entry.round for entry in page if entry.round and entry.subject == "round"})
    return [words_of(entry, packs.get(entry.round or 0, PAIRS)) for entry in page]


def of_several_books(entries: Sequence[tuple[int, Entry]]) -> list[tuple[Description, str]]:
    """The descriptions of entries of several books, given as (book, entry), with their texts. The number of database
    queries does not depend on the number of entries.

    Of a game with secrets, only what everyone at the table saw is described; of a blind count, no amount before two
    counts agree.
    """
    shown = secrecy.veiled_in_several(entries)
    packs = _packs_of([(book, entry.round) for book, entry in shown if entry.round and entry.subject == "round"])
    return [_described(entry, packs.get((book, entry.round or 0), PAIRS)) for book, entry in shown]


_OPENINGS: Final = """
    SELECT opens.book, opens.round, e.subject, e.kind, e.body
    FROM unnest(%s::bigint[], %s::bigint[]) AS opens (book, round)
    CROSS JOIN LATERAL (SELECT subject, kind, body FROM ledger_logentry
        WHERE book_id = opens.book AND round = opens.round AND subject = 'round' ORDER BY seq LIMIT 1) AS e
"""


def _packs(book_id: int, rounds: Collection[int]) -> dict[int, Pack]:
    """With which cards rounds were dealt: the first entry of each pins that."""
    packs = _packs_of([(book_id, number) for number in rounds])
    return {number: pack for (_, number), pack in packs.items()}


def _packs_of(rounds: Collection[tuple[int, int]]) -> dict[tuple[int, int], Pack]:
    packs: dict[tuple[int, int], Pack] = {}
    asked = sorted(set(rounds))
    rows = fetch_rows(_OPENINGS, [[book for book, _ in asked], [number for _, number in asked]])
    for book, number, subject, kind, body in rows:
        with suppress(*UNREADABLE):
            event = catalog.read(subject, kind, body)
            if isinstance(event, Played) and event.opening is not None:
                packs[book, number] = pack_of(event.opening.opening.dealt)
    return packs
