"""One order for the entries of all logs: each entry gets a place in the feed once and keeps it.

Each log assigns its order under its own lock: everything below its head was committed before the head. So the entries
between a log's position in the feed and its head can be appended to the feed, whatever is committed to other logs
later. Only one process extends the feed at a time, so its sheets are committed in order.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from django.db import connection, transaction

from ledger import log
from ledger.raw_rows import fetch_row
from tables.feed.models import FeedSheet

AT_ONCE: Final = 500
"""Maximum of entries in a sheet."""


class Spot(NamedTuple):
    """An entry by log and number there, with the number of entries in the feed up to and including it."""

    through: int
    book_id: int
    seq: int


_ALONE: Final = "SELECT pg_try_advisory_xact_lock(hashtextextended('the feed of events', 0))"
# Between logs, time decides. A log's time steps back at a clock correction but its order does not, so the latest time
# that the log has reached counts.
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
    """Append the entries committed since to the feed, unless another process does; returns how many there were."""
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
    """Number of entries in the feed."""
    return FeedSheet.objects.order_by("-first").values_list("through", flat=True).first() or 0


def unfed() -> int:
    """Number of entries not in the feed yet."""
    row = fetch_row(
        "SELECT coalesce(sum(b.head_seq - coalesce(f.seq, 0)), 0) FROM ledger_book AS b"
        " LEFT JOIN tables_feedbook AS f ON f.book_id = b.id"
    )
    return int(row[0])


def moment_after(place: int) -> datetime | None:
    """Time of the entry after a place; None if there is none."""
    following = spots(place, 1)
    entries = log.picked([(spot.book_id, spot.seq) for spot in following])
    return entries[0].at if entries else None


def spots(after: int, most: int) -> list[Spot]:
    """The next entries of the feed, in order."""
    spots: list[Spot] = []
    sheets = FeedSheet.objects.filter(through__gt=after, first__lt=after + most).order_by("first")
    for sheet in sheets:
        places = zip(range(sheet.first + 1, sheet.through + 1), sheet.books, sheet.seqs, strict=True)
        spots += [Spot(*place) for place in places if after < place[0] <= after + most]
    return spots
