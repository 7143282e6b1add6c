"""The stream of the feed's events. A message that is refused at the last attempt becomes a dead letter, and the next
one follows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID, uuid5

from django.db import transaction

from ledger import clock
from tables.alerts import delivery, streams
from tables.alerts.models import AlertChannel, ChannelContent, Delivery, DeliveryAttempt, FeedPosition, Outcome
from tables.alerts.outbox import MOST_SAID
from tables.alerts.streams import STREAMS, Stream
from tables.feed import feed_records, order
from tables.feed.feed_records import Envelope, EventFilter
from tables.models import Table

A_MESSAGE: Final = 50
"""Maximum of events in a message."""
A_TURN: Final = 20
"""Maximum of messages before another channel has its turn."""
_KEYS: Final = UUID("6a1b7f1e-9d0a-5c55-8f37-6f3f3a1d2c60")


def _send(channel: AlertChannel, row: FeedPosition) -> tuple[int, str] | None:
    events, through = _message(channel, row.place, row.through)
    if through <= row.place:
        return None
    if not events:
        return through, ""
    if row.through is None:  # stored before sending: a repeated attempt has the same events
        row.through = through
        row.save(update_fields=["through"])
    body = _body(row.name, row.place, through, events)
    return through, delivery.post(channel, _key(row.name, row.place, through), body)


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


def _give_up(channel: AlertChannel, row: FeedPosition, reason: str) -> bool:
    """Make the message in progress a dead letter."""
    if row.through is None:  # it failed before its end was stored
        return False
    with transaction.atomic():
        moment, key = clock.read().database, _key(row.name, row.place, row.through)
        body = {"id": str(key), "event": "events", "first": row.place, "through": row.through}
        letter = Delivery.objects.create(
            channel=channel, name=row.name, step=0, key=key, body=body, at=moment, due_at=None
        )
        DeliveryAttempt.objects.create(
            delivery=letter, number=row.failures + 1, outcome=Outcome.DEAD, says=reason[:MOST_SAID], at=moment
        )
        streams.move_on(row, row.through, reason)
    delivery.report_dead(letter, reason)
    return True


def _again(channel: AlertChannel, letter: Delivery) -> Mapping[str, Any]:
    """The body of a dead letter, read from the feed again; a test has its own body."""
    if "through" not in letter.body:
        body: Mapping[str, Any] = letter.body
        return body
    first, through = letter.body["first"], letter.body["through"]
    return _body(letter.name, first, through, _message(channel, first, through)[0])


delivery.BODIES[ChannelContent.EVENTS] = _again
STREAMS[ChannelContent.EVENTS] = Stream(
    ChannelContent.EVENTS,
    "tables.tasks.tell_events",
    A_TURN,
    end=lambda: order.end() + order.unfed(),
    moment_after=order.moment_after,
    send=_send,
    give_up=_give_up,
)
