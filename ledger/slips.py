"""Numbers and signatures of slips, as the database enforces them: no gap, no duplicate, no signer twice on one slip.

One pair of steps is exempt: the supervisor who requested a fill or credit may also sign for it at the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from ledger import discrepancies
from ledger.models import Book, Slip, SlipSignature
from ledger.proof.slip_name import SlipName
from ledger.raw_rows import fetch_row


@dataclass(frozen=True, slots=True)
class Variance:
    """The difference between a count and the transfers, in cents: positive for over, negative for short."""

    what: str
    amount_cents: int
    involved: Sequence[str]
    """The user names of the counters and the dealers. None of them may write the finding."""


@dataclass(frozen=True, slots=True)
class Signing:
    """A signature that is written with its entry; the first signature starts the slip."""

    name: SlipName
    stage: str
    username: str
    role: str
    begins_cents: int | None = None
    """The amount of the slip, in its first step; None in others."""
    variance: Variance | None = None
    """The variance of two counts that agree, where this signature completes them."""


def next_name(series: str) -> SlipName:
    """The next slip name of a series in the current calendar year. Raises TransactionManagementError outside a
    transaction."""
    year = timezone.localtime().year
    return SlipName(series, year, next_number(series, year))


def next_number(series: str, year: int) -> int:
    """The next number of a series in a year, reserved until the transaction ends.

    A concurrent caller waits, and gets the number after it, or this number if the transaction is rolled back. So the
    series has no gap. Raises TransactionManagementError outside a transaction.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("a slip is numbered in the transaction that writes it")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"slips {series} {year}"])
    # Read under the advisory lock, which is held to the commit: the number of an uncommitted slip cannot be given out
    # twice.
    last: int | None = Slip.objects.filter(series=series, year=year).aggregate(last=Max("number"))["last"]
    return (last or 0) + 1


def write(signing: Signing, book_id: int, seq: int) -> None:
    """Store a signature of the entry that was just written, the slip that it starts, and the discrepancy that it finds.

    It must be in the transaction of the entry. Raises IntegrityError if the database rejects a number or a signer.
    """
    name = signing.name
    if signing.begins_cents is not None:
        Slip.objects.create(
            series=name.series,
            year=name.year,
            number=name.number,
            # The database checks that this number exists, which excludes gaps even for concurrent transactions.
            previous=name.number - 1 or None,
            book_id=book_id,
            seq=seq,
            total_cents=signing.begins_cents,
        )
    slip = Slip.objects.get(series=name.series, year=name.year, number=name.number)
    SlipSignature.objects.create(
        slip=slip,
        stage=signing.stage,
        username=signing.username,
        role=signing.role,
        book_id=book_id,
        seq=seq,
    )
    # In this transaction: a count that ends in a variance must not be stored without it.
    if signing.variance:
        _open_discrepancy(name, signing.variance, book_id, seq)


def _open_discrepancy(name: SlipName, variance: Variance, book_id: int, seq: int) -> None:
    discrepancies.variance(
        Book.objects.get(pk=book_id),
        variance.what,
        variance.amount_cents,
        key=f"count:{book_id}:{seq}",
        involved=variance.involved,
        seq=seq,
        slip=str(name),
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
    """The number of the first entry after ``since`` that signs a slip and has no signature row, or the reverse; None if
    all match."""
    row = fetch_row(_UNMATCHED, {"book": book_id, "since": since})
    return None if row is None else int(row[0])
