"""What the worker does for the ledger: prove and recount every book."""

from celery import shared_task

from ledger.cage import all_books
from ledger.inspection import inspect_book, inspect_house


@shared_task(name="ledger.tasks.recount_table")
def recount_table(book_id: int) -> list[str]:
    """Prove what a book gained since its last recount and recount it; returns the messages of what was found."""
    return [alert.message for alert in inspect_book(book_id)]


@shared_task(name="ledger.tasks.recount_all")
def recount_all() -> list[str]:
    """Recount every book, each in a task of its own, and look at the house as a whole."""
    for book_id in all_books():
        recount_table.delay(book_id)
    return [alert.message for alert in inspect_house()]
