"""One order for the entries of all books: each gets a place in the feed once, and keeps it.

Every book has an order of its own, given under its lock: what is below its head was committed before the head was. So
whatever is between a book's place in the feed and its head can be put at the feed's end, whoever commits late
elsewhere: what comes later stands later. One at a time extends the feed, so its sheets are committed in their order.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from django.db import connection, transaction

from ledger import log
from tables.feed.models import FeedSheet

AT_ONCE: Final = 500
"""So many entries one sheet has at most."""


class Spot(NamedTuple):
    """An entry by its book and number there, with how many entries stand in the feed through it."""

    through: int
    book_id: int
    seq: int


_ALONE: Final = "SELECT pg_try_advisory_xact_lock(hashtextextended('the feed of events', 0))"
# By time where books are told apart by nothing else. A book's time steps back where its clock was mended; its order
# does not, which is why the latest time that it reached counts.
_NEW: Final = """
    SELECT book, seq FROM (
        SELECT b.id AS book, e.seq AS seq, max(e.at) OVER (PARTITION BY b.id ORDER BY e.seq) AS reached
        FROM (
            SELECT b.id, b.head_seq, coalesce(f.seq, 0) AS fed
            FROM ledger_book AS b LEFT JOIN tables_feedbook AS f ON f.book_id = b.id
            WHERE b.head_seq > coalesce(f.seq, 0)
        ) AS b CROSS JOIN LATERAL (
            SELECT seq, at FROM ledger_logentry
            WHERE book_id = b.id AND seq > b.fed AND seq <= b.head_seq ORDER BY seq LIMIT %(most)s
        ) AS e
    ) AS news ORDER BY reached, book, seq LIMIT %(most)s
"""
_FED: Final = """
    INSERT INTO tables_feedbook (book_id, seq)
    SELECT book, max(seq) FROM unnest(%s::int[], %s::int[]) AS fed (book, seq) GROUP BY book
    ON CONFLICT (book_id) DO UPDATE SET seq = EXCLUDED.seq
"""


def extend() -> int:
    """Put what was committed since at the feed's end, unless somebody else is at it; how many entries that were."""
    extended = 0
    while added := _sheet():
        extended += added
        if added < AT_ONCE:
            break
    return extended


def _sheet() -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_ALONE)
        if not cursor.fetchone()[0]:
            return 0
        cursor.execute(_NEW, {"most": AT_ONCE})
        news = cursor.fetchall()
        if not news:
            return 0
        books, seqs = (list(column) for column in zip(*news, strict=True))
        first = end()
        FeedSheet.objects.bulk_create([FeedSheet(first=first, through=first + len(news), books=books, seqs=seqs)])
        cursor.execute(_FED, [books, seqs])
    return len(news)


def end() -> int:
    """How many entries stand in the feed."""
    return FeedSheet.objects.order_by("-first").values_list("through", flat=True).first() or 0


def unfed() -> int:
    """How many entries no sheet has yet."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(b.head_seq - coalesce(f.seq, 0)), 0) FROM ledger_book AS b"
            " LEFT JOIN tables_feedbook AS f ON f.book_id = b.id"
        )
        return int(cursor.fetchone()[0])


def moment_after(place: int) -> datetime | None:
    """When the entry was written that stands after so many; None where none does."""
    following = spots(place, 1)
    entries = log.picked([(spot.book_id, spot.seq) for spot in following])
    return entries[0].at if entries else None


def spots(after: int, most: int) -> list[Spot]:
    """The next entries of the feed, in its order."""
    spots: list[Spot] = []
    sheets = FeedSheet.objects.filter(through__gt=after, first__lt=after + most).order_by("first")
    for sheet in sheets:
        places = zip(range(sheet.first + 1, sheet.through + 1), sheet.books, sheet.seqs, strict=True)
        spots += [Spot(*place) for place in places if after < place[0] <= after + most]
    return spots
