"""The site log: events that happen at no table, one entry for each."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from django.db import transaction

from ledger import cage, log, queue
from ledger.log import Draft, Loggable
from ledger.models import HOUSE, Book
from ledger.proof.chain import Head


def lock() -> Head:
    """Lock the site log until the transaction ends, and write its queued entries first. Returns its head.

    Operations that take this lock before anything else run one at a time.
    """
    # Queued events happened earlier, so they get the lower numbers.
    return queue.flush(log.lock(_book_id()))


def append(event: Loggable, by: str) -> None:
    """Write an entry in the site log, as part of the caller's transaction if one is open. It must never contain a
    secret."""
    with transaction.atomic():
        log.append(lock(), Draft.of(event, by))


def enqueue(event: Loggable, by: str) -> None:
    """Write an entry in the site log if it is free, else queue it for the next holder of the lock. Never waits, so that
    no input at a table waits for the site log."""
    queue.enqueue(_book_id(), Draft.of(event, by))


def enqueue_at(subject: str, kind: str, by: str, content: dict[str, Any], moment: datetime) -> None:
    """Queue an entry for the site log without trying to write it, as of the time ``moment``."""
    queue.store(Draft(subject, kind, by, content, at=moment))


def report(subject: str, kind: str, by: str, content: dict[str, Any], moment: datetime) -> None:
    """Write or queue an entry in the site log, as of ``moment``, even when a clock or the site log itself is faulty."""
    queue.report(_book_id(), Draft(subject, kind, by, content), moment)


def digest_of(secret: str) -> str:
    """The SHA-256 in hex that an entry records for a stored secret; empty where there is none.

    The database stores a salted hash, or the digest of a long random token, so the secret cannot be derived from this
    digest.
    """
    return sha256(secret.encode()).hexdigest() if secret else ""


def flush_queue() -> int:
    """Write the queued entries, unless another task holds the site log. Returns the number of entries written."""
    return queue.flush_if_free(_book_id())


def _book_id() -> int:
    book_id = Book.objects.filter(name=HOUSE).values_list("pk", flat=True).first()
    return book_id if book_id is not None else cage.open_house().pk


class Difference(NamedTuple):
    """The changed values of a settings change, before and after, as a log entry records them."""

    before: dict[str, Any]
    after: dict[str, Any]


def difference(before: dict[str, Any], after: dict[str, Any]) -> Difference:
    """The values in ``after`` that are new or differ from ``before``."""
    changed = [name for name, value in after.items() if name not in before or before[name] != value]
    earlier = {name: before[name] for name in changed if name in before}
    return Difference(earlier, {name: after[name] for name in changed})
