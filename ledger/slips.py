"""Numbers and signatures of slips, as the database enforces them: no gap, no number twice, nobody twice on one slip."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import Max

from ledger.models import Slip, SlipSignature


@dataclass(frozen=True, slots=True)
class Signing:
    """A signature that is about to be written with its entry; the first one begins the slip."""

    series: str
    year: int
    number: int
    stage: str
    username: str
    role: str
    begins_cents: int | None = None
    """What the slip is about, in its first step."""


def next_number(series: str, year: int) -> int:
    """The next number of a series, held until the transaction ends: whoever asks next waits, and then gets the one
    after it, or the same one if this transaction came to nothing. So there is never a gap."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("a slip is numbered in the transaction that writes it")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"slips {series} {year}"])
    last: int | None = Slip.objects.filter(series=series, year=year).aggregate(last=Max("number"))["last"]
    return (last or 0) + 1


def write(signing: Signing, book_id: int, seq: int) -> None:
    """Keep a signature beside its entry, with the slip that it begins. An IntegrityError refuses what may not be."""
    if signing.begins_cents is not None:
        Slip.objects.create(
            series=signing.series,
            year=signing.year,
            number=signing.number,
            previous=signing.number - 1 or None,
            book_id=book_id,
            seq=seq,
            total_cents=signing.begins_cents,
        )
    slip = Slip.objects.get(series=signing.series, year=signing.year, number=signing.number)
    SlipSignature.objects.create(
        slip=slip, stage=signing.stage, username=signing.username, role=signing.role, book_id=book_id, seq=seq
    )


_UNMATCHED = """
    SELECT coalesce(e.seq, s.seq) FROM
        (SELECT seq FROM ledger_logentry
            WHERE book_id = %(book)s AND subject IN ('slip', 'correction') AND seq > %(since)s) AS e
        FULL JOIN (SELECT seq FROM ledger_slipsignature WHERE book_id = %(book)s AND seq > %(since)s) AS s
        ON s.seq = e.seq
    WHERE e.seq IS NULL OR s.seq IS NULL ORDER BY 1 LIMIT 1
"""


def unmatched(book_id: int, since: int = 0) -> int | None:
    """The first entry of a book that signs a slip and has no signature beside it, or the reverse."""
    with connection.cursor() as cursor:
        cursor.execute(_UNMATCHED, {"book": book_id, "since": since})
        row = cursor.fetchone()
    return None if row is None else int(row[0])
