"""Streams, which channels send in order, one message at a time: the feed's events, the sealed days.

A channel's position is a number: accepted messages leave no rows, and a receiver that is away for a week causes only a
wait.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from django.db.models import QuerySet

from ledger import clock, runs
from tables import pepper
from tables.alerts import channels, delivery, outbox
from tables.alerts.models import AlertChannel, ChannelContent, FeedPosition, Outcome
from tables.alerts.outbound import NotSent
from tables.alerts.outbox import MOST_SAID
from tables.feed import order


@dataclass(frozen=True, slots=True)
class Stream:
    """The sequence that the channels of one content send."""

    content: ChannelContent
    task: str
    """The Celery task that sends a channel its messages."""
    most: int
    """Maximum of messages before another channel has its turn."""
    end: Callable[[], int]
    """The number of items in the sequence."""
    moment_after: Callable[[int], datetime | None]
    """The time of the item after a place."""
    send: Callable[[AlertChannel, FeedPosition], tuple[int, str] | None]
    """Sends the next message; returns the new place and the answer, None if nothing is to be sent. Raises NotSent."""
    give_up: Callable[[AlertChannel, FeedPosition, str], bool]
    """Handles a message that failed for good or for the last time; returns whether the position moved on from it."""


STREAMS: Final[dict[ChannelContent, Stream]] = {}
"""The streams, by the content of their channels. Their packages add them."""


@dataclass(frozen=True, slots=True)
class StreamState:
    """Progress of a channel through its stream."""

    channel: AlertChannel
    behind: int
    """Number of items not yet sent."""
    since: datetime | None
    """Time of the first of them."""
    failures: int
    says: str
    due_at: datetime | None


def states(content: ChannelContent) -> list[StreamState]:
    """Progress of all channels of a content."""
    stream = STREAMS[content]
    end, sending = stream.end(), {channel.name: channel for channel in _channels(stream)}
    return [
        StreamState(
            sending[row.name],
            max(end - row.place, 0),
            stream.moment_after(row.place),
            row.failures,
            row.says,
            row.due_at,
        )
        for row in FeedPosition.objects.filter(name__in=sending).order_by("name")
    ]


def _channels(stream: Stream) -> list[AlertChannel]:
    return [channel for channel in channels.in_force() if channel.tells == stream.content]


def queue_due() -> int:
    """Queue a task for each delivery and each channel with a message that is due; returns how many."""
    order.extend()
    moment = clock.read().database
    count = outbox.queue_due(delivery.waiting(), moment, delivery.TASK, "pk")
    return count + sum(outbox.queue_due(_waiting(stream), moment, stream.task, "name") for stream in STREAMS.values())


def _waiting(stream: Stream) -> QuerySet[FeedPosition]:
    names = [channel.name for channel in _channels(stream) if channel.is_on]
    return FeedPosition.objects.filter(name__in=names, place__lt=stream.end() if names else 0)


def send_turn(name: str) -> int:
    """Send a channel its due messages, while each is accepted; returns their number, 0 if another worker has the
    channel's lock."""
    stream, count = STREAMS[ChannelContent(channels.newest(name).tells)], 0
    with runs.alone(f"{stream.content} to {name}") as is_alone:
        if not is_alone:
            return 0
        while count < stream.most and _send_next(stream, name) in (Outcome.SENT, Outcome.DEAD):
            count += 1
        FeedPosition.objects.filter(name=name).update(asked_at=None)
    return count


def _send_next(stream: Stream, name: str) -> Outcome | None:
    row = outbox.due(_waiting(stream), clock.read().database).filter(name=name).first()
    return outbox.attempt(row, partial(_send, stream), _note, stream.give_up) if row else None


def _send(stream: Stream, channel: AlertChannel, row: FeedPosition) -> bool:
    try:
        progress = stream.send(channel, row)
    except pepper.NoSuchKey as missing:  # not for good: another secret may be set
        raise NotSent(f"{missing}: set the channel's secret anew") from None
    if progress is not None:
        move_on(row, *progress)
    return progress is not None


def move_on(row: FeedPosition, through: int, answer: str) -> None:
    """Advance a channel's position after an accepted message."""
    _note(row, answer[:MOST_SAID], place=through, through=None, failures=0, due_at=None)


def _note(row: FeedPosition, answer: str, **progress: Any) -> None:
    FeedPosition.objects.filter(pk=row.pk).update(says=answer, tried_at=clock.read().database, **progress)
