"""The head office's tasks: verifying bundles, and finding late houses."""

from __future__ import annotations

from celery import shared_task

from casino.office import houses, lateness, receiving
from casino.office.models import House
from ledger.tasks import RETRIED


@shared_task(name="casino.office.tasks.verify_arrivals", **RETRIED)
def verify_arrivals(pk: int) -> int:
    """Verify a site's waiting bundles. Returns the number of valid ones."""
    return receiving.verify_waiting(House.objects.get(pk=pk))


# The next release may remove this task, since no beat queues it then.
@shared_task(name="casino.office.tasks.take_replicated")
def take_replicated(*, again: bool = False) -> int:
    """Do nothing: beat of an earlier release queues it, for bundles that came by replication."""
    return 0


@shared_task(name="casino.office.tasks.look_after_houses")
def look_after_houses() -> int:
    """Verify bundles that a killed worker left, and raise alerts for late sites. Returns the number of late sites."""
    waiting = House.objects.filter(arrivals__isnull=False, arrivals__verdict=None).distinct()
    houses.sum_over(waiting, receiving.verify_waiting)
    return lateness.report()
