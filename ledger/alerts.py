"""Alerts: faults and events, open until a named user acknowledges them."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Q, QuerySet

from ledger import clock, findings
from ledger.clock import WrongClock
from ledger.log import CHANNEL
from ledger.models import Acknowledgement, Alert, AlertRepeat, Book, Escalation
from ledger.raw_rows import fetch_row

QUIET = timedelta(hours=20)
"""A lasting fault that was acknowledged raises its next alert after this time, not every few minutes."""
LONGEST_REPEAT = 300
"""The maximum length of a repeat's message, in characters."""


class AlreadyAcknowledged(Exception):
    """The alert was acknowledged before."""


def open_alerts() -> QuerySet[Alert]:
    """The unacknowledged alerts, newest first."""
    alerts: QuerySet[Alert] = Alert.objects.filter(acknowledgement=None).select_related("book").order_by("-at", "-pk")
    return alerts


def raise_alert(book: Book | None, kind: str, message: str, evidence: Mapping[str, Any] | None = None) -> Alert:
    """Open an alert, or return the equal one that is open or was acknowledged less than QUIET ago.

    Call it in the transaction that found the fault, or after that one rolled back; never inside one that will roll
    back.
    """
    message = message[: Alert._meta.get_field("message").max_length]
    with transaction.atomic():
        moment = _alone(kind, book)
        recent = Q(acknowledgement=None) | Q(acknowledgement__at__gt=moment - QUIET)
        # Compared under the lock of _alone, so that two workers cannot both see no earlier alert.
        earlier = Alert.objects.filter(recent, book=book, kind=kind, message=message).order_by("pk").last()
        return earlier if isinstance(earlier, Alert) else _opened(book, kind, message, evidence, moment)


def raise_for(
    book: Book | None, kind: str, message: str, evidence: Mapping[str, Any], *, once: bool = False, lasts: bool = False
) -> tuple[Alert, bool]:
    """Open an alert for a cause, which its evidence names; or return the one that is open for it, and False.

    ``once``: an acknowledged alert is not opened again either, for a cause of one moment, such as a table that is idle
    since an entry. ``lasts``: the cause is a condition that checks report repeatedly, so within QUIET of an
    acknowledgement no other alert with the same message is opened. Otherwise the next report after an acknowledgement
    opens another alert.
    """
    message = message[: Alert._meta.get_field("message").max_length]
    with transaction.atomic():
        moment = _alone(kind, book)
        alike = Alert.objects.filter(book=book, kind=kind, evidence__cause=evidence["cause"])
        current = Q(acknowledgement=None)
        if lasts:
            current |= Q(acknowledgement__at__gt=moment - QUIET, message=message)
        earlier = (alike if once else alike.filter(current)).order_by("pk").last()
        if isinstance(earlier, Alert):
            return earlier, False
        return _opened(book, kind, message, evidence, moment), True


def raise_event(book: Book | None, kind: str, message: str, evidence: Mapping[str, Any]) -> Alert:
    """Open an alert about an event. While it is open, another event with the same ``cause`` in its evidence, such as
    another wrong count of one shoe, is added as a repeat. Without a cause, an equal message is the same alert."""
    if "cause" not in evidence:
        return raise_alert(book, kind, message, evidence)
    with transaction.atomic():
        alert, is_new = raise_for(book, kind, message, evidence)
        if not is_new:
            seq, number = evidence.get("seq"), evidence.get("round")
            repeat(alert, message, clock.read().database, book=book.pk if book else None, seq=seq, round_=number)
    return alert


def raise_lasting(book: Book | None, kind: str, cause: str, message: str, evidence: Mapping[str, Any]) -> Alert:
    """Open an alert about a condition that checks report repeatedly, with a message that may change. While the alert is
    open, a changed message is added as a repeat."""
    with transaction.atomic():  # keeps the lock of `raise_for`: another worker adds no second repeat
        alert, is_new = raise_for(book, kind, message, {"cause": cause, **evidence}, lasts=True)
        if not is_new and not hasattr(alert, "acknowledgement") and not is_current(alert, message):
            repeat(alert, message, clock.read().database)
    return alert


def repeat(
    alert: Alert, says: str, at: datetime, *, book: int | None = None, seq: int | None = None, round_: int | None = None
) -> None:
    """Add a message to an open alert."""
    AlertRepeat.objects.create(alert=alert, book_id=book, seq=seq, round=round_, says=says[:LONGEST_REPEAT], at=at)
    announce(alert)


def is_current(alert: Alert, message: str) -> bool:
    """Whether a message is the newest one of an alert, as far as a repeat stores it."""
    return message[:LONGEST_REPEAT] == last_message(alert)


def last_message(alert: Alert) -> str:
    """The newest message of an alert, at most as long as a repeat's."""
    newest = AlertRepeat.objects.filter(alert=alert).last()
    return newest.says if newest else alert.message[:LONGEST_REPEAT]


def _opened(book: Book | None, kind: str, message: str, evidence: Mapping[str, Any] | None, moment: datetime) -> Alert:
    alert: Alert = Alert.objects.create(book=book, kind=kind, message=message, evidence=dict(evidence or {}), at=moment)
    findings.record(findings.ALERTS, alert.pk, moment, queued_only=True)
    announce(alert)
    return alert


def escalate(alert: Alert, step: int, level: int, roles: Sequence[str]) -> Escalation | None:
    """Notify further roles of an unacknowledged alert. Returns None if it was acknowledged meanwhile, or another worker
    escalated it."""
    with transaction.atomic():
        moment = _alone(alert.kind, alert.book)
        # An acknowledgement may have arrived between the search for overdue alerts and this lock.
        is_acknowledged = Acknowledgement.objects.filter(alert=alert).exists()
        if is_acknowledged or Escalation.objects.filter(alert=alert, step=step).exists():
            return None
        escalation: Escalation = Escalation.objects.create(
            alert=alert, at=moment, step=step, level=level, roles=sorted(roles)
        )
        findings.record(findings.ESCALATIONS, escalation.pk, moment, queued_only=True)
        announce(alert)
    return escalation


def about_the_clock(wrong: WrongClock) -> Alert:
    """Open the alert about a wrong clock, once. Call it after the rejected transaction rolled back."""
    return raise_alert(None, wrong.code, wrong.alert, wrong.facts)


def acknowledge(alert: Alert, by: str, note: str = "") -> Acknowledgement:
    """Acknowledge an alert by name. Raises AlreadyAcknowledged, and ValueError for an empty name."""
    if not by.strip():
        raise ValueError("an alert is acknowledged by name")
    try:
        with transaction.atomic():
            acknowledgement = Acknowledgement.objects.create(alert=alert, by=by, at=clock.read().database, note=note)
            findings.record(findings.ACKNOWLEDGEMENTS, acknowledgement.pk, acknowledgement.at, by)
            announce(alert)
    # The one-to-one key decides: two users may press the button at one moment.
    except IntegrityError as refused:
        raise AlreadyAcknowledged(f"{alert} was acknowledged before") from refused
    return acknowledgement


def _alone(kind: str, book: Book | None) -> datetime:
    """Lock alerts of this kind and log until the transaction ends, so that two workers that find one fault do not both
    open an alert. Returns the database's time.

    That clock dates the alert, because the alert may be about this host's clock.
    """
    lock = f"alert {kind} {book and book.pk}"
    moment: datetime = fetch_row("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0)), ledger_now()", [lock])[1]
    return moment


def announce(alert: Alert) -> None:
    """Notify open screens, on commit, to reload their alerts."""
    with connection.cursor() as cursor:
        news = json.dumps({"book": alert.book_id, "alert": alert.pk})
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, news])
