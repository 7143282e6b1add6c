"""Alerts: what does not reconcile, open until somebody takes note of it by name."""

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

QUIET = timedelta(hours=20)
"""Somebody who took note of a lasting fault is told again the next day, not every few minutes."""
LONGEST_REPEAT = 300
"""Characters of a repeat's message."""


class AlreadyAcknowledged(Exception):
    """Somebody took note of this alert before."""


def open_alerts() -> QuerySet[Alert]:
    """The alerts that nobody has acknowledged, the newest first."""
    alerts: QuerySet[Alert] = Alert.objects.filter(acknowledgement=None).select_related("book").order_by("-at", "-pk")
    return alerts


def raise_alert(book: Book | None, kind: str, message: str, evidence: Mapping[str, Any] | None = None) -> Alert:
    """Open an alert, or return the same one: it is open still, or was acknowledged less than a day ago.

    Call it in the transaction that found the fault, or after that one rolled back: never inside one that will.
    """
    message = message[: Alert._meta.get_field("message").max_length]
    with transaction.atomic():
        moment = _alone(kind, book)
        recent = Q(acknowledgement=None) | Q(acknowledgement__at__gt=moment - QUIET)
        earlier = Alert.objects.filter(recent, book=book, kind=kind, message=message).order_by("pk").last()
        return earlier if isinstance(earlier, Alert) else _opened(book, kind, message, evidence, moment)


def raise_for(
    book: Book | None, kind: str, message: str, evidence: Mapping[str, Any], *, once: bool = False, lasts: bool = False
) -> tuple[Alert, bool]:
    """Open an alert for a cause, which its evidence names; or return the one that is open for it, and False.

    ``once``: one that was acknowledged is not opened again either, for the cause is of one moment: this table stands
    idle since that entry. ``lasts``: the cause is a condition that checks report repeatedly, so within QUIET of an
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
    findings.enter(findings.ALERTS, alert.pk, moment, at_the_door=True)
    announce(alert)
    return alert


def escalate(alert: Alert, step: int, level: int, roles: Sequence[str]) -> Escalation | None:
    """Tell further people of an alert that nobody took note of; None where somebody just did, or another worker
    escalated it."""
    with transaction.atomic():
        moment = _alone(alert.kind, alert.book)
        is_acknowledged = Acknowledgement.objects.filter(alert=alert).exists()
        if is_acknowledged or Escalation.objects.filter(alert=alert, step=step).exists():
            return None
        escalation: Escalation = Escalation.objects.create(
            alert=alert, at=moment, step=step, level=level, roles=sorted(roles)
        )
        findings.enter(findings.ESCALATIONS, escalation.pk, moment, at_the_door=True)
        announce(alert)
    return escalation


def about_the_clock(wrong: WrongClock) -> Alert:
    """The alert about a clock that is wrong, opened once, by whoever was refused: after that was rolled back."""
    return raise_alert(None, wrong.code, wrong.alert, wrong.facts)


def acknowledge(alert: Alert, by: str, note: str = "") -> Acknowledgement:
    """Take note of an alert, by name and once. Raises AlreadyAcknowledged."""
    if not by.strip():
        raise ValueError("an alert is acknowledged by name")
    try:
        with transaction.atomic():
            acknowledgement = Acknowledgement.objects.create(alert=alert, by=by, at=clock.read().database, note=note)
            findings.enter(findings.ACKNOWLEDGEMENTS, acknowledgement.pk, acknowledgement.at, by)
            announce(alert)
    except IntegrityError as refused:
        raise AlreadyAcknowledged(f"{alert} was acknowledged before") from refused
    return acknowledgement


def _alone(kind: str, book: Book | None) -> datetime:
    """Two workers that find the same fault at once must not both open an alert. The time then, by the database's clock:
    an alert about a host whose clock is wrong is not dated by it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0)), ledger_now()", [f"alert {kind} {book and book.pk}"]
        )
        moment: datetime = cursor.fetchone()[1]
    return moment


def announce(alert: Alert) -> None:
    """Every open screen draws its alerts anew once this is committed."""
    with connection.cursor() as cursor:
        news = json.dumps({"book": alert.book_id, "alert": alert.pk})
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, news])
