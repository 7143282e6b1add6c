"""Channels that send the feed's events in order, one message at a time for each receiver.

A channel's position is a number: accepted messages leave no rows, and a receiver that is away for a week causes only a
wait. The position advances after a message is accepted. If a worker is killed in between, the message is repeated with
its key. A message refused at the last attempt becomes a dead letter, and the next one follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid5

from django.db import transaction

from ledger import broker, clock, runs
from tables import pepper
from tables.alerts import channels, delivery
from tables.alerts.delivery import MOST_ATTEMPTS, MOST_SAID, wait_after
from tables.alerts.models import AlertChannel, ChannelContent, Delivery, DeliveryAttempt, FeedPosition, Outcome
from tables.alerts.outbound import NotSent
from tables.feed import feed_records, order
from tables.feed.feed_records import Envelope, EventFilter
from tables.models import Table

A_MESSAGE: Final = 50
"""Maximum of events in a message."""
A_TURN: Final = 20
"""Maximum of messages before another channel has its turn."""
ASKED_AGAIN: Final = timedelta(seconds=30)
"""Time after which a requested worker that has not come is requested again: it may have been killed."""
MOST_COUNTED: Final = 10_000
"""Failures are not counted beyond this."""
_KEYS: Final = UUID("6a1b7f1e-9d0a-5c55-8f37-6f3f3a1d2c60")


# --- Asking for a worker ---------------------------------------------------------------------------------------


def ask_due() -> int:
    """Request a worker for each channel with events to send; returns how many. Does not wait for them."""
    order.extend()
    moment, end = clock.read().database, order.end()
    positions = {row.name: row for row in FeedPosition.objects.filter(place__lt=end)}
    count = 0
    for channel in _telling() if positions else ():
        row = positions.get(channel.name)
        if row is not None and channel.is_on and is_due(row, moment):
            FeedPosition.objects.filter(pk=row.pk).update(asked_at=moment)
            _ask(row.name)
            count += 1
    return count


def is_due(row: FeedPosition, moment: datetime) -> bool:
    """Whether a worker has to be requested for a channel."""
    is_asked = row.asked_at is not None and moment - row.asked_at < ASKED_AGAIN
    return not is_asked and (row.due_at is None or row.due_at <= moment)


def _telling() -> list[AlertChannel]:
    return [channel for channel in channels.in_force() if channel.tells == ChannelContent.EVENTS]


def _ask(name: str) -> None:
    ask_worker("tables.tasks.tell_events", name)


def ask_worker(task: str, name: str) -> None:
    """Enqueue a channel's task. If the broker is unavailable, the next sweep does it."""
    broker.send(task, name, otherwise=f"what goes to {name} waits for the next sweep")


# --- Telling ---------------------------------------------------------------------------------------------------


def tell(name: str) -> int:
    """Send a channel its due events; returns the number of messages."""
    return take_turn(f"events to {name}", name, _next, A_TURN)


def take_turn(lock: str, name: str, step: Callable[[str], bool], most: int) -> int:
    """A worker's turn at a channel: up to `most` steps, while each returns True; returns the number of such steps.

    Returns 0 if another worker has the lock.
    """
    count = 0
    with runs.alone(lock) as is_alone:
        if not is_alone:
            return 0
        while count < most and step(name):
            count += 1
        FeedPosition.objects.filter(name=name).update(asked_at=None)
    return count


def _next(name: str) -> bool:
    """Send the next message of a channel; returns whether another may follow at once."""
    row = FeedPosition.objects.get(name=name)
    channel = channels.newest(name)
    if not channel.is_on or (row.due_at is not None and row.due_at > clock.read().database):
        return False
    events, through = _message(channel, row.place, row.through)
    if through <= row.place:
        return False
    if not events:
        move_on(row, through, "")
        return True
    if row.through is None:  # stored before sending: a repeated attempt has the same events
        FeedPosition.objects.filter(pk=row.pk).update(through=through)
    try:
        answer = delivery.post(channel, _key(name, row.place, through), _body(name, row.place, through, events))
    except NotSent as failure:
        return _failed(channel, row, through, str(failure), for_good=failure.for_good)
    except pepper.NoSuchKey as missing:
        return _failed(channel, row, through, f"{missing}: set the channel's secret anew", for_good=False)
    move_on(row, through, answer)
    return True


def _message(channel: AlertChannel, place: int, through: int | None) -> tuple[tuple[Envelope, ...], int]:
    """The next events and the place after them; if a message is in progress, its events."""
    if through is None:
        feed = feed_records.read(place, limit=A_MESSAGE, filters=_filters(channel))
    else:
        looked_at = through - place
        feed = feed_records.page(place, limit=looked_at, filters=_filters(channel), looked_at=looked_at)
    return feed.events, feed_records.place_of(feed.cursor)


def _filters(channel: AlertChannel) -> EventFilter:
    tables = Table.objects.filter(name__in=channel.tables).values_list("pk", flat=True) if channel.tables else ()
    return EventFilter(frozenset(channel.types), frozenset(tables))


def _key(name: str, place: int, through: int) -> UUID:
    return uuid5(_KEYS, f"{name} {place} {through}")


def _body(name: str, place: int, through: int, events: tuple[Envelope, ...]) -> dict[str, Any]:
    return {
        "id": str(_key(name, place, through)),
        "event": "events",
        "cursor": feed_records.cursor_of(through),
        "events": feed_records.as_json(events),
    }


def move_on(row: FeedPosition, through: int, answer: str) -> None:
    """Advance a channel's position after an accepted message."""
    moment = clock.read().database
    FeedPosition.objects.filter(pk=row.pk).update(
        place=through, through=None, failures=0, due_at=None, tried_at=moment, says=answer[:MOST_SAID]
    )


def _failed(channel: AlertChannel, row: FeedPosition, through: int, reason: str, *, for_good: bool) -> bool:
    """Put a failed message off or, after the last attempt, make it a dead letter. Returns whether the next may
    follow."""
    failures, moment = row.failures + 1, clock.read().database
    if not for_good and failures < MOST_ATTEMPTS:
        put_off(row, reason)
        return False
    with transaction.atomic():
        key = _key(row.name, row.place, through)
        body = {"id": str(key), "event": "events", "first": row.place, "through": through}
        letter = Delivery.objects.create(channel=channel, name=row.name, step=0, key=key, body=body, at=moment)
        DeliveryAttempt.objects.create(
            delivery=letter, number=failures, outcome=Outcome.DEAD, says=reason[:MOST_SAID], at=moment
        )
        move_on(row, through, reason)
    delivery.report_dead(letter, reason)
    return True


def put_off(row: FeedPosition, reason: str) -> None:
    """Count a failure and schedule the next attempt at the message."""
    failures, moment = min(row.failures + 1, MOST_COUNTED), clock.read().database
    FeedPosition.objects.filter(pk=row.pk).update(
        failures=failures, due_at=moment + wait_after(failures), tried_at=moment, says=reason[:MOST_SAID]
    )


def _again(channel: AlertChannel, letter: Delivery) -> Mapping[str, Any]:
    """The body of a dead letter, read from the feed again; a test has its own body."""
    if "through" not in letter.body:
        body: Mapping[str, Any] = letter.body
        return body
    first, through = letter.body["first"], letter.body["through"]
    return _body(letter.name, first, through, _message(channel, first, through)[0])


delivery.BODIES[ChannelContent.EVENTS] = _again


# --- How they stand --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SubscriptionState:
    """Progress of a channel through the feed."""

    channel: AlertChannel
    behind: int
    """Number of entries not yet sent."""
    since: datetime | None
    """Time of the first of them."""
    failures: int
    says: str
    due_at: datetime | None


def states() -> list[SubscriptionState]:
    """Progress of all channels that send events."""
    rows = {row.name: row for row in FeedPosition.objects.all()}
    end, unfed = order.end(), order.unfed()
    return [
        SubscriptionState(
            channel, end - row.place + unfed, order.moment_after(row.place), row.failures, row.says, row.due_at
        )
        for channel in _telling()
        if (row := rows.get(channel.name)) is not None
    ]
