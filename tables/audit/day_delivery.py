"""Sends sealed days to a head office: each as a bundle, in order, until it is accepted.

The channel is an alert channel (``tables/alerts``) with its address and its secret. A bundle goes in signed pieces, so
a broken connection costs one piece. The head office names the day that it expects: if it later rejected or lost a day,
the site goes back to that day. No day is ever skipped, however often it fails.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import file_digest
from tempfile import TemporaryFile
from typing import Any, Final
from uuid import uuid4

from django.conf import settings
from django.core.checks import CheckMessage, Warning

from ledger import alerts
from ledger.models import DayRoot
from tables.alerts import delivery
from tables.alerts.models import AlertChannel, ChannelContent, FeedPosition
from tables.alerts.outbound import NotSent
from tables.alerts.streams import STREAMS, Stream
from tables.audit import export
from tables.audit.export import NotYet

PIECE_BYTES: Final = 512 * 1024
"""Bytes of a piece. A slow line must carry it within the time-out of one attempt."""
PIECE_TYPE: Final = "application/octet-stream"
DAYS_PER_TURN: Final = 30
"""The maximum number of days sent before another channel gets its turn."""

NO_LETTER_BOX: Final = "LETTER_BOX_URL is set without effect: no sealed day goes to a letter box any more."
INSTEAD: Final = (
    "Send the days over HTTPS: add a channel to the head office under Alert channels. Then remove LETTER_BOX_URL"
    " (docs/head-office.md, Upgrading)."
)


def _newest() -> int:
    return DayRoot.objects.order_by("-number").values_list("number", flat=True).first() or 0


def _sealed_after(place: int) -> datetime | None:
    return DayRoot.objects.filter(number=place + 1).values_list("at", flat=True).first()


def _send_next(channel: AlertChannel, row: FeedPosition) -> tuple[int, str] | None:
    """Send one day. Returns the number of the day before the one that the head office expects next, with its answer;
    None if no day is due. Raises NotSent."""
    root = DayRoot.objects.filter(number=row.place + 1).first()
    if root is None:
        return None
    try:
        # The days of a new channel may be there already, by an earlier channel or from a stick.
        reply = _send(channel, root.day) if row.place else _ask(channel) or _send(channel, root.day)
    except (NotSent, NotYet) as failure:
        raise NotSent(str(failure)) from None  # for good or not: no day is skipped
    # It still expects this day: the bundle arrived but was rejected.
    if reply.due == row.place + 1:
        raise NotSent(reply.says or f"the head office answered {reply.status} and waits for day {reply.due}")
    if reply.due > (newest := _newest()) + 1:
        raise NotSent(f"the head office has day {reply.due - 1}, this house {newest}: was this database restored?")
    # The head office decides the position: it alone knows which days it has.
    return reply.due - 1, reply.says


def _give_up(channel: AlertChannel, row: FeedPosition, reason: str) -> bool:
    """Raise an alert after as many failures as make other messages a dead letter. The day is retried."""
    alerts.raise_alert(None, "not_delivered", f"Sealed days do not reach {row.name}.", {"channel": row.name})
    return False


def check(**_: Any) -> list[CheckMessage]:
    """System check for ``manage.py check`` and ``migrate``: warn of the setting of a site that reported by
    replication."""
    return [Warning(NO_LETTER_BOX, hint=INSTEAD, id="tables.W003")] if settings.LETTER_BOX_IS_SET else []


STREAMS[ChannelContent.DAYS] = Stream(
    ChannelContent.DAYS,
    "tables.tasks.hand_over_days",
    DAYS_PER_TURN,
    end=_newest,
    moment_after=_sealed_after,
    send=_send_next,
    give_up=_give_up,
)


# --- The line --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reply:
    """The head office's answer to a whole bundle."""

    status: int
    due: int
    """The number of the day that it expects next."""
    says: str


def _ask(channel: AlertChannel) -> Reply | None:
    """Which day the head office expects next; None if that is the first. Raises NotSent and pepper.NoSuchKey."""
    status, answer = _post(channel, str(uuid4()), b"{}", "application/json")
    due = _number(answer.get("due"))
    return Reply(status, due, f"the days before day {due} are here") if due > 1 else None


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
            status, answer = _post(channel, f"{digest}/{offset}/{size}", file.read(PIECE_BYTES), PIECE_TYPE)
            if "due" in answer:
                return Reply(status, _number(answer["due"]), str(answer.get("says", "")))
            received = _number(answer.get("have"))
            # Without progress the loop would never end; the next attempt starts again.
            if received == offset or received > size:
                break
            offset = received
    raise NotSent("the head office took all pieces, but did not say whether it accepts the bundle")


def _post(channel: AlertChannel, key: str, content: bytes, content_type: str) -> tuple[int, dict[str, Any]]:
    reply = delivery.post_bytes(channel, key, content, content_type)
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
