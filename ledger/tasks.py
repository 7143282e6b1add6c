"""The Celery tasks of the ledger: verify and recount all logs."""

from typing import Any, Final

from celery import shared_task

from ledger.cage import all_books
from ledger.inspection import OUTAGE, inspect_book, inspect_house

RETRIED: Final[dict[str, Any]] = {"autoretry_for": OUTAGE, "retry_backoff": 5, "max_retries": 6}
"""Options of a task that nothing queues again soon: it is retried for some minutes while the database is away, as
during a failover. A task of the beat's schedule does not need them: the beat queues it again within a minute."""


@shared_task(name="ledger.tasks.recount_table", **RETRIED)
def recount_table(book_id: int) -> list[str]:
    """Verify and recount one log. Returns the messages of the alerts opened."""
    return [alert.message for alert in inspect_book(book_id)]


@shared_task(name="ledger.tasks.recount_all")
def recount_all() -> list[str]:
    """Queue a recount of each log, and check the totals of the site. Returns the messages of the alerts opened for
    it."""
    for book_id in all_books():
        recount_table.delay(book_id)
    return [alert.message for alert in inspect_house()]
