"""The door of a book: what is to be written in it while somebody else holds it, and how it gets there.

A notice is kept in the transaction of what it tells of, so it stands or falls with that. Whoever holds the book next
writes it down first, in the order in which the notices were left, under the notice's own key: once, however often that
is tried. Its entry says when it happened (``happened_at``), for its own time is that of the writing.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from django.db import DataError, IntegrityError, connection, transaction

from ledger import clock, log
from ledger.clock import WrongClock
from ledger.log import Draft
from ledger.models import Book, Notice
from ledger.proof.chain import Fault, Head
from ledger.proof.spelling import timestamp

AT_ONCE: Final = 500
"""So many are written in one transaction: whoever came for something else is not to wait for a crowd."""
LATE: Final = timedelta(minutes=10)
"""The watch carries what waits every minute; what has waited so long is a fault."""


def enqueue(book_id: int, draft: Draft) -> None:
    """Write an entry if the book is free, after those that wait; else leave a notice. Nobody is waited for."""
    with transaction.atomic():
        head = log.lock_if_free(book_id)
        if head is not None:
            log.append(flush(head), draft)
        else:
            keep(draft)
    if head is None:
        carry_if_free(book_id)  # whoever held it may have gone before they could see this notice


def report(book_id: int, draft: Draft, moment: datetime) -> None:
    """The same of something that is told whatever is wrong: with the clocks, or with the book itself. Then the notice
    stays at the door, and says so when the book is proved."""
    try:
        with transaction.atomic():
            enqueue(book_id, draft)
    except (WrongClock, IntegrityError, DataError, log.Stale, log.KeyReused):
        keep(replace(draft, at=moment))


def carry_if_free(book_id: int) -> int:
    """Write what waits, unless somebody else holds the book; how many that were."""
    with transaction.atomic():
        before = log.lock_if_free(book_id)
        return flush(before).seq - before.seq if before else 0


def flush(head: Head) -> Head:
    """Write what waits after the head that the book's lock gave; returns the new head."""
    for notice in Notice.objects.filter(seq=None).order_by("pk")[:AT_ONCE]:
        head = log.append(head, _draft(notice))
        Notice.objects.filter(pk=notice.pk).update(seq=head.seq)
    return head


def keep(draft: Draft) -> None:
    """Leave a notice: it needs no lock, and counts once this transaction does."""
    Notice.objects.create(
        key=draft.key or uuid4(),
        at=draft.at or clock.agreed(),
        subject=draft.subject,
        kind=draft.kind,
        by=draft.by,
        content=dict(draft.content),
    )


def _draft(notice: Notice) -> Draft:
    content: dict[str, Any] = notice.content | {"happened_at": timestamp(notice.at)}
    return Draft(notice.subject, notice.kind, notice.by, content, key=notice.key)


# --- Proving ---------------------------------------------------------------------------------------------------

_LATE: Final = "SELECT at, subject, kind FROM ledger_notice WHERE seq IS NULL AND at < %s ORDER BY id LIMIT 1"

# Each notice against its entry, and each entry that says when it happened against its notice. A notice is one of few:
# those of the moments in which somebody else held the book.
_WRONG: Final = f"""
    SELECT coalesce(n.seq, e.seq) FROM
        (SELECT * FROM ledger_notice WHERE seq > %(since)s) AS n
        FULL JOIN (
            SELECT seq, key, subject, kind, by, {log.CONTENT.format(body="body")} AS content
            FROM ledger_logentry WHERE book_id = %(book)s AND seq > %(since)s AND key IS NOT NULL
            AND subject IN ('staff', 'terminal', 'alert', 'discrepancy', 'pepper', 'bookmark', 'refusal')) AS e
        ON (e.seq, e.key) = (n.seq, n.key)
    WHERE (e.content ? 'happened_at' OR n.id IS NOT NULL)
        AND (n.subject, n.kind, n.by, n.content) IS DISTINCT FROM
            (e.subject, e.kind, e.by, e.content - 'happened_at')
    ORDER BY 1 LIMIT 1
"""  # noqa: S608


def fault(book: Book, since: int = 0) -> Fault | None:
    """The first notice that never reached the book, or that an entry after ``since`` does not repeat."""
    with connection.cursor() as cursor:
        cursor.execute(_LATE, [clock.read().database - LATE])
        late = cursor.fetchone()
        cursor.execute(_WRONG, {"book": book.pk, "since": since})
        wrong = cursor.fetchone()
    if wrong is not None:
        return Fault(book.name, wrong[0], "is not what was left at the book's door, or nothing was left there")
    if late is not None:
        moment, subject, kind = late
        sentence = f"{subject} {kind} of {timestamp(moment)} was never written in the book"
        return Fault(book.name, book.head_seq + 1, sentence)
    return None
