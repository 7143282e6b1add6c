"""Delivery of alerts: each waits in the outbox until it is sent or fails for good, and each attempt is recorded.

An attempt is recorded after it was made. If a worker is killed in between, the next one repeats it. A receiver may
therefore get a delivery twice, and recognises it by its key. Nothing is lost.
"""

from __future__ import annotations

import json
import smtplib
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from ledger import alerts, clock, runs, site_log
from ledger import log as journal
from ledger.log import Draft
from ledger.models import Alert
from ledger.proof.chain import Entry
from tables import pepper
from tables.alerts import channels, outbound, outbox, webhook_signatures
from tables.alerts.alert_raising import Heard, heard, with_steps
from tables.alerts.alert_types import LEVELS, Rule, sort_of
from tables.alerts.models import (
    AlertChannel,
    ChannelContent,
    Delivery,
    DeliveryAttempt,
    Means,
    Outcome,
    Resending,
)
from tables.alerts.outbound import NotSent, OutboundResponse
from tables.alerts.outbox import MOST_SAID
from tables.floor.handlers import checks
from tables.log.entries.alert_rules import DeadLettersResent
from tables.log.event import AuditFailure
from tables.models import Staff
from tables.refusals import Refused

TASK: Final = "tables.tasks.deliver"
PATIENCE_SECONDS: Final = 10
"""Timeout for each step of an attempt; the whole attempt may take twice that."""
BACK: Final = timedelta(days=1)
"""Age beyond which alerts are no longer put out: a new channel does not deliver last week's."""
MOST_READ: Final = 4_000
"""Bytes of an answer that are read."""
MOST_AT_ONCE: Final = 500
"""Dead letters named by one entry of the site log; another entry names the next ones."""


# --- Into the outbox -------------------------------------------------------------------------------------------


def put_out(rules: Mapping[str, Rule]) -> int:
    """Put recent alerts into the outbox for each channel that wants them; returns the number of new deliveries."""
    wanting = [channel for channel in channels.in_force() if channel.is_on]
    if not wanting:
        return 0
    since = clock.read().database - BACK
    late = Q(at__gte=since) | Q(acknowledgement=None, escalations__at__gte=since)
    count = 0
    for alert in with_steps(Alert.objects.filter(late).distinct().select_related("book", "acknowledgement")):
        for step in range(alert.escalations.count() + 1):
            steps = sorted(alert.escalations.all(), key=lambda escalation: escalation.step)[:step]
            count += _put_step(alert, step, heard(alert, rules, steps), wanting)
    return count


def _put_step(alert: Alert, step: int, state: Heard, wanting: list[AlertChannel]) -> int:
    moment, count = state.steps[-1] if step else alert.at, 0
    for channel in wanting:
        since = AlertChannel.objects.filter(name=channel.name).order_by("version").values_list("at", flat=True).first()
        if since is None or moment < since or not channels.wants(channel, alert.kind, state.level):
            continue
        if Delivery.objects.filter(name=channel.name, alert=alert, step=step).exists():
            continue
        count += _keep(channel, alert, step, body_of(alert, step, state))
    return count


def _keep(channel: AlertChannel, alert: Alert | None, step: int, body: Mapping[str, Any]) -> int:
    key, moment = uuid4(), clock.read().database
    rows = Delivery.objects.bulk_create(
        [
            Delivery(
                channel=channel, name=channel.name, alert=alert, step=step, key=key, body={"id": str(key), **body},
                at=moment, due_at=moment, asked_at=moment,
            )
        ],
        ignore_conflicts=alert is not None,
    )  # fmt: skip
    delivery = Delivery.objects.filter(key=key).first()
    if delivery is not None:
        transaction.on_commit(partial(outbox.queue, TASK, delivery.pk))
    return len(rows) if delivery is not None else 0


def body_of(alert: Alert, step: int, state: Heard) -> dict[str, Any]:
    """The message for a receiver: what the alert says, and nothing else of the site."""
    return {
        "event": "alert.escalated" if step else "alert.raised",
        "alert": {
            "number": alert.pk,
            "kind": alert.kind,
            "title": title_of(alert.kind),
            "level": LEVELS[state.level],
            "message": alert.message,
            "table": alert.book.name if alert.book else None,
            "raised_at": alert.at.isoformat(),
            "escalation": step,
        },
    }


def title_of(kind: str) -> str:
    """Title of a kind of alert."""
    return sort_of(kind).title


def send_test(channel: AlertChannel, *, by: Staff) -> Delivery:
    """Put a test message into the outbox. Raises Refused."""
    if not by.has_perm("tables.add_alertchannel"):
        raise Refused("not_permitted", "Only an operator tries a channel.", 403)
    _keep(channel, None, 0, {"event": "test", "message": f"A test of {channel.name}: no alert was raised."})
    return Delivery.objects.filter(name=channel.name).latest("pk")


# --- Out of it -------------------------------------------------------------------------------------------------


def waiting() -> QuerySet[Delivery]:
    """Deliveries that are neither sent nor dead."""
    return Delivery.objects.exclude(due_at=None).order_by("pk")


def deliver(pk: int) -> Outcome | None:
    """Make the due attempt, unless another worker has the delivery's lock; returns its outcome, None if not made."""
    with runs.alone(f"delivery {pk}") as is_alone:
        row = outbox.due(waiting(), clock.read().database).filter(pk=pk).first() if is_alone else None
        return outbox.attempt(row, _send, partial(_note, Outcome.FAILED), _give_up) if row else None


def _send(channel: AlertChannel, row: Delivery) -> bool:
    if not channel.is_on:
        raise NotSent("The channel was switched off", for_good=True)
    _note(Outcome.SENT, row, SENDERS[Means(channel.means)](channel, row))
    return True


def _give_up(channel: AlertChannel, row: Delivery, reason: str) -> bool:
    _note(Outcome.DEAD, row, reason)
    report_dead(row, reason)
    return True


@transaction.atomic
def _note(outcome: Outcome, row: Delivery, answer: str, due_at: datetime | None = None, **progress: int) -> None:
    """Record an attempt, which ends the delivery if no other is due."""
    DeliveryAttempt.objects.create(
        delivery=row, number=row.last_number() + 1, outcome=outcome, says=answer[:MOST_SAID], at=clock.read().database
    )
    Delivery.objects.filter(pk=row.pk).update(due_at=due_at, asked_at=None, **progress)


def dead() -> QuerySet[Delivery]:
    """Deliveries that failed for good and were not sent again since: a person has to intervene."""
    attempts = DeliveryAttempt.objects.filter(delivery=OuterRef("pk"))
    letters = DeliveryAttempt.objects.filter(outcome=Outcome.DEAD).values("delivery")
    rows = Delivery.objects.filter(~Exists(attempts.filter(outcome=Outcome.SENT)), pk__in=letters, due_at=None)
    return rows.prefetch_related("attempts").order_by("-pk")


def report_dead(letter: Delivery, reason: str) -> None:
    """Raise an alert that a delivery failed for good."""
    subject = "Events" if "through" in letter.body else "An alert"
    message = f"{subject} could not leave the house by {letter.name}: {reason}"
    facts = {"delivery": letter.pk, "level": 1}
    alerts.raise_lasting(None, "not_delivered", f"channel {letter.name}", message[:MOST_SAID], facts)


# --- Dead letters ----------------------------------------------------------------------------------------------


def send_again(letters: Sequence[Delivery], *, by: Staff) -> int:
    """Send dead letters of one channel again, with the key that the receiver knows; returns how many. Raises
    Refused."""
    if not by.has_perm("tables.resend_deadletters"):
        raise Refused("not_permitted", "A pit boss or an operator sends dead letters again.", 403)
    with transaction.atomic():
        head = site_log.lock()
        still_dead = list(dead().filter(pk__in=[letter.pk for letter in letters]).order_by("pk")[:MOST_AT_ONCE])
        if not still_dead:
            sentence = "Nothing failed for good here any more: it was sent, or somebody has sent it again already."
            raise Refused("not_dead", sentence, 409)
        names = {letter.name for letter in still_dead}
        if len(names) > 1:
            raise Refused("several_channels", "Send the dead letters of one channel at a time.", 422)
        channel = channels.newest(names.pop())
        _refuse_unfit(channel)
        rows = [Resending(delivery=letter, after=letter.last_number(), by=by.signature) for letter in still_dead]
        event = DeadLettersResent(name=channel.name, deliveries={str(row.delivery.key): row.after for row in rows})
        entry = journal.append(head, Draft.of(event, by.signature))
        for row in rows:
            row.seq, row.at = entry.seq, entry.at or head.moment
        Resending.objects.bulk_create(rows)
        moment = clock.read().database
        Delivery.objects.filter(pk__in=[letter.pk for letter in still_dead]).update(
            due_at=moment, failures=0, asked_at=moment
        )
        for letter in still_dead:
            transaction.on_commit(partial(outbox.queue, TASK, letter.pk))
    return len(rows)


def _refuse_unfit(channel: AlertChannel) -> None:
    """Raises Refused if the channel would only fail again, with the remedy."""
    if not channel.is_on:
        sentence = (
            f"The channel {channel.name} is switched off. An operator switches it on first, in the administration."
        )
        raise Refused("channel_off", sentence, 409)
    if channel.means == Means.MAIL and not settings.EMAIL_HOST:
        raise Refused("no_mail_server", "No mail server is set: whoever runs the servers sets EMAIL_HOST first.", 409)
    if channel.means == Means.WEBHOOK:
        try:
            channels.secret_of(channel)
        except pepper.NoSuchKey as missing:
            sentence = f"{missing}. An operator sets the secret of {channel.name} anew first."
            raise Refused("no_secret", sentence[:1].upper() + sentence[1:], 409) from None


@checks(DeadLettersResent)
def check_resent(event: DeadLettersResent, entry: Entry) -> None:
    """The dead letters that an entry names are exactly those with a row for it."""
    rows = Resending.objects.filter(seq=entry.seq).select_related("delivery")
    letters = {
        str(row.delivery.key): row.after for row in rows if row.by == entry.by and row.delivery.name == event.name
    }
    if letters != event.deliveries or len(rows) != len(letters):
        raise AuditFailure(f"the dead letters of {event.name}, as they are kept beside the log, are others")


# --- E-mail ----------------------------------------------------------------------------------------------------


def _mail(channel: AlertChannel, delivery: Delivery) -> str:
    """Pass a delivery to the mail server. Raises NotSent."""
    subject, text = mail_of(delivery.body)
    if not settings.EMAIL_HOST:
        raise NotSent("no mail server is set: EMAIL_HOST", for_good=True)
    host = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].rstrip(">") or "casino"
    headers = {"Message-ID": f"<{delivery.key}@{host}>", "Auto-Submitted": "auto-generated"}
    message = EmailMessage(subject, text, to=[channel.address], headers=headers)
    try:
        message.send()
    except smtplib.SMTPRecipientsRefused:
        raise NotSent("the mail server refuses the address", for_good=True) from None
    except (smtplib.SMTPException, OSError) as failure:
        raise NotSent(f"the mail server did not take it: {type(failure).__name__}") from None
    return "The mail server took it"


def mail_of(body: Mapping[str, Any]) -> tuple[str, str]:
    """Subject and text of an e-mail."""
    alert = body.get("alert")
    if alert is None:
        return "[test] Casino tables", f"{body['message']}\n"
    escalated = ", nobody took note of it" if alert["escalation"] else ""
    place = f" at {alert['table']}" if alert["table"] else ""
    lines = (
        alert["message"], "", f"Level: {alert['level']}{escalated}", f"Alert {alert['number']} of {alert['raised_at']}",
        "Take note of it by name on the floor's page.", "",
    )  # fmt: skip
    return " ".join(f"[{alert['level']}] {alert['title']}{place}".split()), "\n".join(lines)


# --- Webhook ---------------------------------------------------------------------------------------------------


def _webhook(channel: AlertChannel, delivery: Delivery) -> str:
    """Post a delivery to a webhook. Raises NotSent."""
    try:
        return post(channel, delivery.key, BODIES[ChannelContent(channel.tells)](channel, delivery))
    except pepper.NoSuchKey as missing:
        raise NotSent(f"{missing}: set the channel's secret anew", for_good=True) from None


BODIES: Final[dict[ChannelContent, Callable[[AlertChannel, Delivery], Mapping[str, Any]]]] = {
    ChannelContent.ALERTS: lambda channel, delivery: delivery.body,
    ChannelContent.DAYS: lambda channel, delivery: delivery.body,  # a test: sealed days do not use the outbox
}
"""The body of a delivery, by the content of its channel. Events are read again from the feed (`subscriptions`)."""


def post(channel: AlertChannel, key: UUID, message: Mapping[str, Any]) -> str:
    """Post a signed JSON message. Raises NotSent or pepper.NoSuchKey."""
    body = json.dumps(message, separators=(",", ":")).encode()
    status = post_bytes(channel, str(key), body, "application/json").status
    if 200 <= status < 300:
        return f"The receiver answered {status}"
    reason = "it sends elsewhere, and that is not followed" if 300 <= status < 400 else "it did not take it"
    raise NotSent(f"the receiver answered {status}: {reason}", for_good=300 <= status < 400 or status == 410)


def post_bytes(channel: AlertChannel, key: str, body: bytes, content_type: str) -> OutboundResponse:
    """Post a signed body. Raises NotSent or pepper.NoSuchKey."""
    if fault := channels.url_fault(channel.address):
        raise NotSent(fault, for_good=True)
    secrets = channels.secrets_of(channel, clock.read().database)
    headers = webhook_signatures.headers(secrets, int(time.time()), key, body) | {"Content-Type": content_type}
    return outbound.post(
        channel.address, body, headers,
        to_own_host=settings.WEBHOOKS_TO_LOOPBACK, seconds=PATIENCE_SECONDS, most=MOST_READ,
    )  # fmt: skip


SENDERS: Final[Mapping[Means, Callable[[AlertChannel, Delivery], str]]] = {Means.MAIL: _mail, Means.WEBHOOK: _webhook}
