"""Sealed days on their way to a head office: each as its bundle, in order, until it is there.

The channel is one of those that tell what happens (``tables/alerting``): its address, its secret and that one's change
are set as for any other. A bundle goes in signed pieces, so a line that breaks costs a piece. The head office says
which day it waits for: where it turned one down later, or forgot, the house goes back to that one. No day is passed
over, however often it fails.
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
from tables.alerting import channels, delivery, subscriptions
from tables.alerting.delivery import MOST_ATTEMPTS, NotSent
from tables.alerting.rows import AlertChannel, FeedPosition, Tells
from tables.audit import export
from tables.audit.export import NotYet

A_PIECE: Final = 512 * 1024
"""Bytes. It has to go over the line within the patience of an attempt."""
A_TURN: Final = 30
"""So many days go out before another channel has its turn."""


# --- Asking for a worker ---------------------------------------------------------------------------------------


def ask_due() -> int:
    """Ask a worker for each channel that has days to hand over; how many."""
    moment, newest = clock.read().database, _newest()
    count = 0
    for channel, row in _rows():
        if channel.is_on and row.place < newest and subscriptions.is_due(row, moment):
            FeedPosition.objects.filter(pk=row.pk).update(asked_at=moment)
            subscriptions.ask_worker("tables.tasks.hand_over_days", row.name)
            count += 1
    return count


def _rows() -> Iterator[tuple[AlertChannel, FeedPosition]]:
    telling = [channel for channel in channels.in_force() if channel.tells == Tells.DAYS]
    rows = {row.name: row for row in FeedPosition.objects.filter(name__in=[channel.name for channel in telling])}
    return ((channel, rows[channel.name]) for channel in telling if channel.name in rows)


def _newest() -> int:
    return DayRoot.objects.order_by("-number").values_list("number", flat=True).first() or 0


# --- Handing over ----------------------------------------------------------------------------------------------


def hand_over(name: str) -> int:
    """Hand over the days that are due; how many were taken."""
    return subscriptions.take_turn(f"days to {name}", name, _next, A_TURN)


def _next(name: str) -> bool:
    """One day; whether another may follow at once."""
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
        return _put_off(row, f"{missing}: set the channel's secret anew")
    if reply.due == row.place + 1:
        return _put_off(row, reply.says or f"the head office answered {reply.status} and waits for day {reply.due}")
    if reply.due > _newest() + 1:
        return _put_off(
            row, f"the head office has day {reply.due - 1}, this house {_newest()}: is this an older database?"
        )
    subscriptions.move_on(row, reply.due - 1, reply.says)
    return True


def _put_off(row: FeedPosition, says: str) -> bool:
    """The same day is tried again later. After as many failures as make other messages dead letters, the pit hears."""
    subscriptions.put_off(row, says)
    if row.failures + 1 >= MOST_ATTEMPTS:
        alerts.raise_alert(None, "not_delivered", f"Sealed days do not reach {row.name}.", {"channel": row.name})
    return False


# --- The line --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reply:
    """What the head office said of a whole bundle."""

    status: int
    due: int
    """The number of the day that it waits for."""
    says: str


def _send(channel: AlertChannel, day: date) -> Reply:
    """A day's bundle, from where the line broke the last time. Raises NotSent, NotYet and pepper.NoSuchKey."""
    with TemporaryFile() as file:
        export.export(day, day, file)
        size = file.tell()
        file.seek(0)
        digest = file_digest(file, "sha256").hexdigest()
        offset = 0
        while offset < size:
            file.seek(offset)
            status, answer = _post(channel, f"{digest}/{offset}/{size}", file.read(A_PIECE))
            if "due" in answer:
                return Reply(status, _number(answer["due"]), str(answer.get("says", "")))
            have = _number(answer.get("have"))
            if have == offset or have > size:
                break
            offset = have
    raise NotSent("the head office took all pieces and did not say what became of them")


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
        raise NotSent("the head office answered without the number of a day")
    return value


# --- How they stand --------------------------------------------------------------------------------------------


def states() -> list[subscriptions.State]:
    """How far each channel has handed over the sealed days."""
    newest = _newest()
    return [
        subscriptions.State(
            channel, max(newest - row.place, 0), _sealed_at(row.place + 1), row.failures, row.says, row.due_at
        )
        for channel, row in _rows()
    ]


def _sealed_at(number: int) -> datetime | None:
    return DayRoot.objects.filter(number=number).values_list("at", flat=True).first()
