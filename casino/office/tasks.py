"""The head office's work: verifying what came, and looking for houses that are late."""

from __future__ import annotations

from celery import shared_task

from casino.office import houses, lateness, receiving, replication
from casino.office.models import House


@shared_task
def verify_arrivals(pk: int) -> int:
    """Verify the bundles of a house that wait; how many hold."""
    return receiving.verify_waiting(House.objects.get(pk=pk))


@shared_task
def take_replicated(*, again: bool = False) -> int:
    """Take the bundles that came by replication; those that were refused, too, where it says so. How many wait now."""
    return replication.take_all(again=again)


@shared_task
def look_after_houses() -> int:
    """Verify what a worker that was killed left lying, and say which houses are late; how many are."""
    waiting = House.objects.filter(arrivals__isnull=False, arrivals__verdict=None).distinct()
    houses.each(waiting, receiving.verify_waiting)
    return lateness.report()
