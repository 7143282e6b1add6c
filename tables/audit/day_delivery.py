"""Sends sealed days to a head office: each as a bundle, in order, until it is accepted.

The channel is an alert channel (``tables/alerts``) with its address and its secret. A bundle goes in signed pieces, so
a broken connection costs one piece. The head office names the day that it expects: if it later rejected or lost a day,
the site goes back to that day. No day is ever skipped, however often it fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import file_digest
from tempfile import TemporaryFile
from typing import Any, Final

from ledger import alerts, clock
from ledger.models import DayRoot
from tables import pepper
from tables.alerts import channels, delivery, subscriptions
from tables.alerts.delivery import MOST_ATTEMPTS
from tables.alerts.models import AlertChannel, ChannelContent, FeedPosition
from tables.alerts.outbound import NotSent
from tables.audit import export
from tables.audit.export import NotYet

PIECE_BYTES: Final = 512 * 1024
"""Bytes of a piece. A slow line must carry it within the time-out of one attempt."""
DAYS_PER_TURN: Final = 30
"""The maximum number of days sent before another channel gets its turn."""


# --- Queueing --------------------------------------------------------------------------------------------------


def ask_due() -> int:
    """Queue a task for each channel that has days to send. Returns the number of tasks."""
    moment, newest = clock.read().database, _newest()
    count = 0
    for channel, row in _rows():
        if channel.is_on and row.place < newest and subscriptions.is_due(row, moment):
            # Noted before the task is queued, so that the next minute does not queue it again.
            FeedPosition.objects.filter(pk=row.pk).update(asked_at=moment)
            subscriptions.ask_worker("tables.tasks.hand_over_days", row.name)
            count += 1
    return count


def _rows() -> Iterator[tuple[AlertChannel, FeedPosition]]:
    day_channels = [channel for channel in channels.in_force() if channel.tells == ChannelContent.DAYS]
    rows = {row.name: row for row in FeedPosition.objects.filter(name__in=[channel.name for channel in day_channels])}
    return ((channel, rows[channel.name]) for channel in day_channels if channel.name in rows)


def _newest() -> int:
    return DayRoot.objects.order_by("-number").values_list("number", flat=True).first() or 0


# --- Sending ---------------------------------------------------------------------------------------------------


def hand_over(name: str) -> int:
    """Send the days that are due. Returns the number that the head office accepted."""
    return subscriptions.take_turn(f"days to {name}", name, _next, DAYS_PER_TURN)


def _next(name: str) -> bool:
    """Send one day. Returns whether the next may follow at once."""
    row, channel = FeedPosition.objects.get(name=name), channels.newest(name)
    root = DayRoot.objects.filter(number=row.place + 1).first()
    is_due = row.due_at is None or row.due_at <= clock.read().database
    if root is None or not channel.is_on or not is_due:
        return False
    try:
        reply = _send(channel, root.day)
    except (NotSent, NotYet) as failure:
        return _put_off(row, str(failure))
    except pepper.NoSuchKey as missing:
        return _put_off(row, f"{missing}: set the channel's secret again")
    # It still expects this day: the bundle arrived but was rejected.
    if reply.due == row.place + 1:
        return _put_off(row, reply.says or f"the head office answered {reply.status} and waits for day {reply.due}")
    if reply.due > _newest() + 1:
        return _put_off(
            row,
            f"the head office has day {reply.due - 1}, this house {_newest()}: was this database restored?",
        )
    # The head office decides the position: it alone knows which days it has.
    subscriptions.move_on(row, reply.due - 1, reply.says)
    return True


def _put_off(row: FeedPosition, reason: str) -> bool:
    """Retry this day later. After as many failures as make other messages a dead letter, an alert is raised."""
    subscriptions.put_off(row, reason)
    if row.failures + 1 >= MOST_ATTEMPTS:
        alerts.raise_alert(None, "not_delivered", f"Sealed days do not reach {row.name}.", {"channel": row.name})
    return False


# --- The line --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reply:
    """The head office's answer to a whole bundle."""

    status: int
    due: int
    """The number of the day that it expects next."""
    says: str


def _send(channel: AlertChannel, day: date) -> Reply:
    """Send a day's bundle, continuing where the connection last broke. Raises NotSent, NotYet and pepper.NoSuchKey."""
    with TemporaryFile() as file:
        export.export(day, day, file)
        size = file.tell()
        file.seek(0)
        digest = file_digest(file, "sha256").hexdigest()
        offset = 0
        while offset < size:
            file.seek(offset)
            status, answer = _post(channel, f"{digest}/{offset}/{size}", file.read(PIECE_BYTES))
            if "due" in answer:
                return Reply(status, _number(answer["due"]), str(answer.get("says", "")))
            received = _number(answer.get("have"))
            # Without progress the loop would never end; the next attempt starts again.
            if received == offset or received > size:
                break
            offset = received
    raise NotSent("the head office took all pieces, but did not say whether it accepts the bundle")


def _post(channel: AlertChannel, piece: str, content: bytes) -> tuple[int, dict[str, Any]]:
    reply = delivery.post_bytes(channel, piece, content, "application/octet-stream")
    try:
        answer = json.loads(reply.body)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or not {"due", "have"} & answer.keys():
        detail = answer.get("detail", "") if isinstance(answer, dict) else ""
        raise NotSent(f"the head office answered {reply.status} {detail}".strip())
    return reply.status, answer


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise NotSent("the head office's answer lacks the number of a day")
    return value


# --- State -----------------------------------------------------------------------------------------------------


def states() -> list[subscriptions.SubscriptionState]:
    """The progress of each channel in sending sealed days."""
    newest = _newest()
    return [
        subscriptions.SubscriptionState(
            channel, max(newest - row.place, 0), _sealed_at(row.place + 1), row.failures, row.says, row.due_at
        )
        for channel, row in _rows()
    ]


def _sealed_at(number: int) -> datetime | None:
    return DayRoot.objects.filter(number=number).values_list("at", flat=True).first()
