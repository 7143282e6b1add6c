"""What leaves the site, and when: each row of the outbox has the time of its next attempt, and its failures.

A row is a delivery of an alert, or a channel's position in a stream. It schedules the retries, instead of Celery: count
and time outlive the broker, pages show both, and each sweep queues what is due. A row is changed after its message was
sent. If a worker is killed in between, the message is repeated with its key.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, TypeVar

from django.db.models import QuerySet

from ledger import broker, clock
from tables.alerts import channels
from tables.alerts.models import AlertChannel, Delivery, FeedPosition, Outcome
from tables.alerts.outbound import NotSent

FIRST_WAIT: Final = timedelta(seconds=10)
LONGEST_WAIT: Final = timedelta(hours=1)
MOST_ATTEMPTS: Final = 12
"""The last attempt is about five hours after the first; then a person has to intervene."""
MOST_SAID: Final = 300
ASKED_AGAIN: Final = timedelta(seconds=30)
"""Time after which a requested worker that has not come is requested again: it may have been killed."""
MOST_COUNTED: Final = 10_000
"""Failures are not counted beyond this."""

Row = TypeVar("Row", Delivery, FeedPosition)


def due(waiting: QuerySet[Row], moment: datetime) -> QuerySet[Row]:
    """The waiting rows whose next attempt is due."""
    return waiting.exclude(due_at__gt=moment)


def queue_due(waiting: QuerySet[Row], moment: datetime, task: str, key: str) -> int:
    """Queue a task for each waiting row that is due, with its ``key``; returns how many. Does not wait for them."""
    rows = due(waiting, moment)
    keys = list(rows.exclude(asked_at__gt=moment - ASKED_AGAIN).values_list(key, flat=True))
    # Noted before the tasks are queued, so that the next sweep does not queue them again.
    rows.filter(**{f"{key}__in": keys}).update(asked_at=moment)
    for argument in keys:
        queue(task, argument)
    return len(keys)


def queue(task: str, key: int | str) -> None:
    """Queue the task that sends a row. If the broker is unavailable, the next sweep does it."""
    broker.send(task, key, otherwise=f"{task} of {key} waits for the next sweep")


def attempt(
    row: Row,
    send: Callable[[AlertChannel, Row], bool],
    put_off: Callable[..., None],
    give_up: Callable[[AlertChannel, Row, str], bool],
) -> Outcome | None:
    """Send a row's next message, or put it off after a failure and give it up after the last; returns the outcome, None
    if there is no message. Call it with the row's lock.

    ``send`` records what it sent, and raises NotSent. ``give_up`` returns whether that ends the message.
    """
    channel = channels.newest(row.name)  # the newest version: an operator may have corrected the address
    try:
        return Outcome.SENT if send(channel, row) else None
    except NotSent as failure:
        reason, failures = str(failure)[:MOST_SAID], min(row.failures + 1, MOST_COUNTED)
        is_last = failure.for_good or failures >= MOST_ATTEMPTS
    if is_last and give_up(channel, row, reason):
        return Outcome.DEAD
    put_off(row, reason, failures=failures, due_at=clock.read().database + wait_after(failures))
    return Outcome.FAILED


def wait_after(failures: int) -> timedelta:
    """Wait before the next attempt: doubled each time, up to LONGEST_WAIT."""
    # The power is bounded: sealed days fail without end, and a timedelta overflows after 43 failures.
    return min(FIRST_WAIT * 2 ** min(failures - 1, 16), LONGEST_WAIT)
