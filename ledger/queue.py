"""The queue of the site log: entries to write while another transaction holds the log, and how they get written.

A queued notice is part of the transaction that it reports, so both commit or neither does. The next holder of the log
writes queued notices first, in their order and each under its own key: once, however often that is retried. The entry
has the time of the event in ``happened_at``; its own time is that of writing.
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
"""The maximum number of queued notices written in one transaction, which bounds the delay of the caller."""
LATE: Final = timedelta(minutes=10)
"""The queue is written every minute; a notice that waits longer than this is a fault."""


def enqueue(book_id: int, draft: Draft) -> None:
    """Write an entry if the log is free, after its queued notices; else queue it. Never waits."""
    with transaction.atomic():
        head = log.lock_if_free(book_id)
        if head is not None:
            log.append(flush(head), draft)
        else:
            store(draft)
    if head is None:
        # The holder may have committed before it could see this notice: nothing else would write it soon.
        flush_if_free(book_id)


def report(book_id: int, draft: Draft, moment: datetime) -> None:
    """Write or queue an entry even if a clock is wrong or the log is faulty. Then the notice stays queued, dated
    ``moment``, and verification of the log reports it."""
    try:
        with transaction.atomic():
            enqueue(book_id, draft)
    except (WrongClock, IntegrityError, DataError, log.Stale, log.KeyReused):
        store(replace(draft, at=moment))


def flush_if_free(book_id: int) -> int:
    """Write queued notices, unless another transaction holds the log. Returns the number written."""
    with transaction.atomic():
        before = log.lock_if_free(book_id)
        return flush(before).seq - before.seq if before else 0


def flush(head: Head) -> Head:
    """Write up to AT_ONCE queued notices after a locked head. Returns the new head."""
    for notice in Notice.objects.filter(seq=None).order_by("pk")[:AT_ONCE]:
        head = log.append(head, _draft(notice))
        Notice.objects.filter(pk=notice.pk).update(seq=head.seq)
    return head


def store(draft: Draft) -> None:
    """Queue a notice in the current transaction. Takes no lock."""
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

# Each notice against its entry, and each entry with ``happened_at`` against its notice. Notices are few: they arise
# only while another transaction holds the log.
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
    """The first notice that never reached the log, or that differs from its entry after ``since``; None if all
    agree."""
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
