"""Celery tasks: log verification, alerts and deliveries, changes that take effect, session cleanup and simulations.

A failed verification opens an alert that a user must acknowledge.
"""

from __future__ import annotations

from celery import shared_task
from django.conf import settings
from django.core.management import call_command

from ledger.tasks import RETRIED
from tables.alerts import delivery, log_followers, streams
from tables.audit import jobs, proofs, witness_delivery
from tables.audit import watch as watching
from tables.models import KeptAnswer
from tables.staff import guess_counts

if settings.ADVANTAGE_ANALYSIS:
    from tables.edge import distributed_simulation  # noqa: F401 -- its task is found here


@shared_task(name="tables.tasks.verify_new")
def verify_new() -> list[str]:
    """Prove what every table added since the last proof; returns the faults."""
    return [fault for book in proofs.books() if (fault := proofs.alert(proofs.verify_new(book), book))]


@shared_task(name="tables.tasks.verify_everything")
def verify_everything() -> list[str]:
    """Prove every book from its first entry, nightly; returns what each alert says."""
    return proofs.verify_all()


@shared_task(name="tables.tasks.watch")
def watch() -> list[str]:
    """Do what the watch has due; the names of what this worker did."""
    return watching.watch()


@shared_task(name="tables.tasks.run_errand", **RETRIED)
def run_errand(pk: int) -> None:
    """Do what an auditor asked for."""
    jobs.perform(pk)


@shared_task(name="tables.tasks.follow_books")
def follow_books() -> int:
    """Hold what is new in every book against the rules of alerts; how many entries that were."""
    return log_followers.follow()


@shared_task(name="tables.tasks.look_after_alerts")
def look_after_alerts() -> bool:
    """Idle tables, reliefs, escalation, what waits in the outbox; whether it was due."""
    return watching.look_after_alerts()


@shared_task(name="tables.tasks.bring_into_force")
def bring_into_force() -> int:
    """Do what two people approved and whose moment has come; how many proposals that settled."""
    return watching.bring_into_force()


@shared_task(name="tables.tasks.have_witnessed")
def have_witnessed() -> int:
    """Make this minute's checkpoint and hand it to the witnesses; how many cosigned it."""
    return witness_delivery.have_witnessed()


@shared_task(name="tables.tasks.deliver")
def deliver(pk: int) -> str | None:
    """Make the attempt that is due at a delivery; what came of it."""
    return delivery.deliver(pk)


@shared_task(name="tables.tasks.tell_events")
def tell_events(name: str) -> int:
    """Send a channel the new events of the feed; returns the number of messages."""
    return streams.send_turn(name)


@shared_task(name="tables.tasks.ask_for_days")
def ask_for_days() -> int:
    """Do what `follow_books` does for channels; the beat of an earlier release queues it."""
    return streams.queue_due()


@shared_task(name="tables.tasks.hand_over_days")
def hand_over_days(name: str) -> int:
    """Send a head office the sealed days; returns how many it accepted."""
    return streams.send_turn(name)


# The next release may remove this task, since no beat queues it then.
@shared_task(name="tables.tasks.fill_letter_box")
def fill_letter_box() -> int:
    """Do nothing: beat of an earlier release queues it, for a head office that reads by replication."""
    return 0


@shared_task(name="tables.tasks.clear_sessions", **RETRIED)
def clear_sessions() -> None:
    """Forget the sessions that are over, the failed tries that no limit asks for, and the keys of old writes."""
    call_command("clearsessions")
    guess_counts.forget_old()
    KeptAnswer.forget_old()
