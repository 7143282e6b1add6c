"""Celery: proving the log again while the floor is open, clearing away sessions that are over, dealing by chance.

A mismatch opens an alert that somebody must acknowledge.
"""

from __future__ import annotations

from celery import shared_task
from django.core.management import call_command

from tables import attempts, audit, spreading
from tables import watch as watching


@shared_task
def verify_new() -> list[str]:
    """Prove what every table added since the last proof; returns the faults."""
    return [fault for book in audit.books() if (fault := audit.alert(audit.verify_new(book), book))]


@shared_task
def verify_everything() -> list[str]:
    """Prove every book from its first entry, nightly; returns the faults."""
    return [fault for book in audit.books() if (fault := audit.alert(audit.verify(book), book))]


@shared_task
def watch() -> list[str]:
    """Do what the watch has due; the names of what this worker did."""
    return watching.watch()


@shared_task
def clear_sessions() -> None:
    """Forget the sessions that are over, and the failed tries that no limit asks for."""
    call_command("clearsessions")
    attempts.forget_old()


@shared_task
def simulate(run: str, chunks: int) -> int:
    """Deal what is missing of a simulation for some seconds; how many chunks that were."""
    return spreading.turn(run, chunks)
