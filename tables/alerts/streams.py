"""Channels that send a sequence in order, one message at a time for each receiver: the feed's events, the sealed days.

A channel's position is a number: accepted messages leave no rows, and a receiver that is away for a week causes only a
wait. The position advances after a message is accepted. If a worker is killed in between, the message is repeated.

The row of the position schedules the retries, instead of Celery: their count and the time of the next one outlive the
broker, pages show both, and each sweep queues what is due.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from ledger import broker, clock, runs
from tables import pepper
from tables.alerts import channels
from tables.alerts.delivery import MOST_ATTEMPTS, MOST_SAID, wait_after
from tables.alerts.models import AlertChannel, ChannelContent, FeedPosition
from tables.alerts.outbound import NotSent
from tables.feed import order

ASKED_AGAIN: Final = timedelta(seconds=30)
"""Time after which a requested worker that has not come is requested again: it may have been killed."""
MOST_COUNTED: Final = 10_000
"""Failures are not counted beyond this."""


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
    end = stream.end()
    return [
        StreamState(
            channel, max(end - row.place, 0), stream.moment_after(row.place), row.failures, row.says, row.due_at
        )
        for channel, row in _positions(stream)
    ]


def _positions(stream: Stream) -> list[tuple[AlertChannel, FeedPosition]]:
    sending = [channel for channel in channels.in_force() if channel.tells == stream.content]
    rows = {row.name: row for row in FeedPosition.objects.filter(name__in=[channel.name for channel in sending])}
    return [(channel, rows[channel.name]) for channel in sending if channel.name in rows]


# --- Asking for a worker ---------------------------------------------------------------------------------------


def ask_due() -> int:
    """Request a worker for each channel with something to send; returns how many. Does not wait for them."""
    order.extend()
    return sum(_ask_due(stream) for stream in STREAMS.values())


def _ask_due(stream: Stream) -> int:
    moment, count = clock.read().database, 0
    due = [row for channel, row in _positions(stream) if channel.is_on and _is_due(row, moment)]
    end = stream.end() if due else 0
    for row in due:
        if row.place < end:
            # Noted before the task is queued, so that the next sweep does not queue it again.
            FeedPosition.objects.filter(pk=row.pk).update(asked_at=moment)
            _ask(stream.task, row.name)
            count += 1
    return count


def _is_due(row: FeedPosition, moment: datetime) -> bool:
    is_asked = row.asked_at is not None and moment - row.asked_at < ASKED_AGAIN
    return not is_asked and (row.due_at is None or row.due_at <= moment)


def _ask(task: str, name: str) -> None:
    """Enqueue a channel's task. If the broker is unavailable, the next sweep does it."""
    broker.send(task, name, otherwise=f"what goes to {name} waits for the next sweep")


# --- Sending ---------------------------------------------------------------------------------------------------


def send_turn(name: str) -> int:
    """Send a channel its due messages, while each is accepted; returns their number, 0 if another worker has the
    channel's lock."""
    stream, count = STREAMS[ChannelContent(channels.newest(name).tells)], 0
    with runs.alone(f"{stream.content} to {name}") as is_alone:
        if not is_alone:
            return 0
        while count < stream.most and _send_next(stream, name):
            count += 1
        FeedPosition.objects.filter(name=name).update(asked_at=None)
    return count


def _send_next(stream: Stream, name: str) -> bool:
    """Send the next message of a channel; returns whether another may follow at once."""
    row, channel = FeedPosition.objects.get(name=name), channels.newest(name)
    if not channel.is_on or (row.due_at is not None and row.due_at > clock.read().database):
        return False
    try:
        progress = stream.send(channel, row)
    except NotSent as failure:
        return _fail(stream, channel, row, failure)
    except pepper.NoSuchKey as missing:
        return _fail(stream, channel, row, NotSent(f"{missing}: set the channel's secret anew"))
    if progress is None:
        return False
    move_on(row, *progress)
    return True


def move_on(row: FeedPosition, through: int, answer: str) -> None:
    """Advance a channel's position after an accepted message."""
    moment = clock.read().database
    FeedPosition.objects.filter(pk=row.pk).update(
        place=through, through=None, failures=0, due_at=None, tried_at=moment, says=answer[:MOST_SAID]
    )


def _fail(stream: Stream, channel: AlertChannel, row: FeedPosition, failure: NotSent) -> bool:
    """Put a failed message off or, after the last attempt, give it up. Returns whether the next may follow."""
    failures, moment = min(row.failures + 1, MOST_COUNTED), clock.read().database
    is_last = failure.for_good or failures >= MOST_ATTEMPTS
    if is_last and stream.give_up(channel, row, str(failure)):
        return True
    FeedPosition.objects.filter(pk=row.pk).update(
        failures=failures, due_at=moment + wait_after(failures), tried_at=moment, says=str(failure)[:MOST_SAID]
    )
    return False
