"""The house's own book: what happens away from any table is written there, one entry for each event."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from django.db import transaction

from ledger import cage, log, queue
from ledger.log import Draft, Saying
from ledger.models import HOUSE, Book
from ledger.proof.chain import Head


def lock() -> Head:
    """Hold the house's book until the transaction ends: what takes this first happens one at a time. What was left at
    its door comes before it."""
    return queue.flush(log.lock(_book_id()))


def append(event: Saying, by: str) -> None:
    """Write one entry. Inside a transaction it stands or falls with it; never put a secret into it."""
    with transaction.atomic():
        log.append(lock(), Draft.of(event, by))


def enqueue(event: Saying, by: str) -> None:
    """Write one entry if nobody else holds the book; else leave a notice, for whoever holds it next. On the way to a
    table nobody waits for the house."""
    queue.enqueue(_book_id(), Draft.of(event, by))


def enqueue_at(subject: str, kind: str, by: str, content: dict[str, Any], moment: datetime) -> None:
    """Leave a notice in any case, for whoever holds the book next."""
    queue.keep(Draft(subject, kind, by, content, at=moment))


def report(subject: str, kind: str, by: str, content: dict[str, Any], moment: datetime) -> None:
    """The same of what is told whatever is wrong, with the clocks or with the book itself."""
    queue.report(_book_id(), Draft(subject, kind, by, content), moment)


def digest_of(secret: str) -> str:
    """What an entry says of a secret: the SHA-256 of what the database keeps of it, which is a salted hash or the
    digest of a long token itself, so nobody learns the secret from it; empty where there is none."""
    return sha256(secret.encode()).hexdigest() if secret else ""


def flush_queue() -> int:
    """Write what was left, unless somebody else holds the book now; how many notices that were."""
    return queue.carry_if_free(_book_id())


def _book_id() -> int:
    book_id = Book.objects.filter(name=HOUSE).values_list("pk", flat=True).first()
    return book_id if book_id is not None else cage.open_house().pk


class Difference(NamedTuple):
    """What changed, as a log entry says it: only the changed values."""

    before: dict[str, Any]
    after: dict[str, Any]


def difference(before: dict[str, Any], after: dict[str, Any]) -> Difference:
    """The values that are others after than before."""
    changed = [name for name, value in after.items() if name not in before or before[name] != value]
    earlier = {name: before[name] for name in changed if name in before}
    return Difference(earlier, {name: after[name] for name in changed})
