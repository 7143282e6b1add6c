"""Channels that deliver alerts, events and sealed days outside the site.

Operators set them; each change is a new version. Secrets are stored sealed and are never shown again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Max
from msgspec import structs

from ledger import clock, site_log
from ledger.proof.chain import Entry, Head
from tables import pepper
from tables.alerts.alert_rows import ALERT_CHANNELS
from tables.alerts.alert_types import KINDS, LEVELS
from tables.alerts.models import AlertChannel, ChannelContent, FeedPosition, Means
from tables.feed import order
from tables.floor.handlers import checks
from tables.log.entries.alert_rules import ChannelSet
from tables.log.event import AuditFailure
from tables.log.publication import FORMS
from tables.models import Staff, Table
from tables.refusals import Refused

LEAST_SECRET: Final = 24
MOST_SECRET: Final = 120
BOTH_HOURS: Final = 24
"""Default hours for which a replaced secret signs as well as the new one: a day to change it at the receiver."""
MOST_BOTH_HOURS: Final = 720
_KEPT: Final = "webhook "
"""Prefix of a secret under its seal, since the seal leaves alone any text that does not look like a secret."""


@dataclass(frozen=True, slots=True)
class ChannelDraft:
    """A channel as an operator entered it."""

    name: str
    means: str
    address: str
    secret: str = ""
    """Empty keeps the secret of the previous version."""
    is_on: bool = True
    least_level: int = 1
    about: tuple[str, ...] = ()
    tells: str = ChannelContent.ALERTS
    types: tuple[str, ...] = ()
    """Types of event to send; empty for all."""
    tables: tuple[str, ...] = ()
    both_hours: int | None = None
    """Hours from now for which the previous secret signs as well; 0 ends that now.

    None: BOTH_HOURS if the secret changes, otherwise unchanged.
    """


def in_force() -> list[AlertChannel]:
    """The newest version of each channel."""
    return list(AlertChannel.objects.order_by("name", "-version").distinct("name"))


def newest(name: str) -> AlertChannel:
    """The newest version of a channel. Raises IndexError if there is none."""
    return AlertChannel.objects.filter(name=name).order_by("-version")[0]


def set_channel(draft: ChannelDraft, *, by: Staff) -> AlertChannel:
    """Set a channel; for an existing name, this is its next version. Raises Refused."""
    if not by.has_perm("tables.add_alertchannel"):
        raise Refused("not_permitted", "Only an operator sets the channels of alerts.", 403)
    with transaction.atomic():
        head = site_log.lock()
        earlier = AlertChannel.objects.filter(name=draft.name).order_by("-version").first()
        if sentences := faults(draft, earlier):
            raise Refused("bad_channel", " ".join(sentences.values()), 422, fields=sentences)
        sealed = _sealed(draft, earlier)
        former, until = _former(draft, earlier, head)
        version = (AlertChannel.objects.filter(name=draft.name).aggregate(last=Max("version"))["last"] or 0) + 1
        event = ChannelSet(
            name=draft.name,
            version=version,
            means=draft.means,
            is_on=draft.is_on,
            least_level=draft.least_level,
            about=tuple(sorted(draft.about)),
            address_sha256="",
            secret_sha256="",
            former_until=until.isoformat() if until else "",
            tells=draft.tells,
            types=tuple(sorted(draft.types)),
            tables=tuple(sorted(draft.tables)),
        )
        return _enter(head, event, by.signature, address=draft.address, secret=sealed, former_secret=former)


def _enter(head: Head, event: ChannelSet, by: str, **secrets: str) -> AlertChannel:
    row = ALERT_CHANNELS.append(head, event, by, **secrets)
    if row.tells == ChannelContent.EVENTS:  # from now on: what was before is read by cursor
        FeedPosition.objects.get_or_create(name=row.name, defaults={"place": order.end()})
    if row.tells == ChannelContent.DAYS:  # from the first day: a head office accepts no gaps
        FeedPosition.objects.get_or_create(name=row.name, defaults={"place": 0})
    return row


def secret_of(channel: AlertChannel) -> str:
    """The secret that signs a channel's messages. Raises pepper.NoSuchKey."""
    return pepper.unseal(channel.secret, _owner(channel.name)).removeprefix(_KEPT)


def secrets_of(channel: AlertChannel, moment: datetime) -> list[str]:
    """The secrets that sign a channel's messages at a moment: the present one and, during a change, the previous one.

    A previous secret that cannot be read is left out. Raises pepper.NoSuchKey if the present one cannot be read.
    """
    former = _readable(channel.former_secret, channel.name) if _former_signs(channel, moment) else ""
    return [secret_of(channel), *([former] if former else [])]


def _former_signs(channel: AlertChannel, moment: datetime) -> bool:
    return bool(channel.former_secret) and channel.former_until is not None and moment < channel.former_until


def _former(draft: ChannelDraft, earlier: AlertChannel | None, head: Head) -> tuple[str, datetime | None]:
    """The sealed secret that signs as well as the new one, and until when; ("", None) if there is none."""
    if earlier is None or draft.means != Means.WEBHOOK:
        return "", None
    before = _readable(earlier.secret, earlier.name)
    if before and draft.secret and draft.secret != before:
        former, until = earlier.secret, head.moment + timedelta(hours=BOTH_HOURS)
    elif _former_signs(earlier, head.moment):
        former, until = earlier.former_secret, earlier.former_until or head.moment
    else:
        return "", None
    if draft.both_hours is not None:
        until = head.moment + timedelta(hours=draft.both_hours)
    return (former, until) if until > head.moment else ("", None)


def _readable(sealed: str, name: str) -> str:
    """A channel's secret; "" if the key that seals it is lost, so that another secret can be set."""
    try:
        return pepper.unseal(sealed, _owner(name)).removeprefix(_KEPT)
    except pepper.NoSuchKey:
        return ""


def _sealed(draft: ChannelDraft, earlier: AlertChannel | None) -> str:
    if draft.means != Means.WEBHOOK:
        return ""
    if draft.secret or earlier is None:
        return pepper.seal(_KEPT + draft.secret, _owner(draft.name))
    return earlier.secret


def _owner(name: str) -> str:
    return f"secret of the channel {name}"


def destination(channel: AlertChannel) -> str:
    """A channel's address as a page may show it. A web address may contain a secret, so only its host is shown."""
    if channel.means == Means.MAIL:
        return channel.address
    parts = urlsplit(channel.address)
    return f"{parts.scheme}://{parts.netloc}/…"


# --- The pepper ------------------------------------------------------------------------------------------------


def behind() -> list[AlertChannel]:
    """Channels in force whose secrets are not sealed with the current key. Earlier versions are no longer used."""
    moment = clock.read().database
    return [row for row in in_force() if not all(pepper.is_current(sealed) for sealed in _sealed_secrets(row, moment))]


def refuse_unreadable() -> None:
    """Raises pepper.NoSuchKey if the key that seals a secret is missing."""
    moment = clock.read().database
    for row in in_force():
        for sealed in _sealed_secrets(row, moment):
            pepper.unseal(sealed, _owner(row.name))


def _sealed_secrets(row: AlertChannel, moment: datetime) -> list[str]:
    return [row.secret, *([row.former_secret] if _former_signs(row, moment) else [])]


def carry_over(by: str) -> int:
    """Reseal all channels' secrets with the current key, as new versions; returns the number of channels.

    Call it inside a transaction.
    """
    rows = behind()
    for row in rows:
        head = site_log.lock()
        owner, former_signs = _owner(row.name), _former_signs(row, head.moment)
        secret = pepper.seal(pepper.unseal(row.secret, owner), owner)
        former = pepper.seal(pepper.unseal(row.former_secret, owner), owner) if former_signs else ""
        event = ALERT_CHANNELS.event_of(row)
        event = structs.replace(
            event, version=event.version + 1, former_until=event.former_until if former_signs else ""
        )
        _enter(head, event, by, address=row.address, secret=secret, former_secret=former)
    return len(rows)


# --- What is wrong with one ------------------------------------------------------------------------------------


def faults(draft: ChannelDraft, earlier: AlertChannel | None = None) -> dict[str, str]:
    """Faults of a channel as entered, by field."""
    wrong: dict[str, str] = {}
    if (
        not draft.name.strip()
        or draft.name != draft.name.strip()
        or len(draft.name) > 40
        or not draft.name.isprintable()
    ):
        wrong["name"] = "A channel's name has 1 to 40 characters, and no space before or after it."
    if not 0 <= draft.least_level < len(LEVELS):
        wrong["least_level"] = f"A level is one of {', '.join(LEVELS)}."
    if unknown := sorted(set(draft.about) - KINDS.keys()):
        wrong["about"] = f"There is no kind of alert {', '.join(unknown)}."
    if draft.both_hours is not None and not 0 <= draft.both_hours <= MOST_BOTH_HOURS:
        wrong["both_hours"] = f"From 0 hours, which ends it now, to {MOST_BOTH_HOURS}."
    wrong |= _feed_faults(draft, earlier)
    if draft.means == Means.MAIL:
        return wrong | _mail_faults(draft)
    if draft.means == Means.WEBHOOK:
        return wrong | _webhook_faults(draft, earlier)
    return wrong | {"means": "A channel sends by e-mail or by webhook."}


def _feed_faults(draft: ChannelDraft, earlier: AlertChannel | None) -> dict[str, str]:
    wrong: dict[str, str] = {}
    if draft.tells not in ChannelContent.values:
        wrong["tells"] = "A channel tells alerts, events of the feed, or sealed days."
    if earlier is not None and earlier.tells != draft.tells:
        wrong["tells"] = f"{draft.name} tells {earlier.tells}: give a channel for {draft.tells} a name of its own."
    if draft.tells != ChannelContent.ALERTS and draft.means != Means.WEBHOOK:
        wrong["means"] = "Events and sealed days go by webhook: no person reads them."
    if draft.tells != ChannelContent.EVENTS and (draft.types or draft.tables):
        wrong["types"] = "Types and tables are chosen for channels that tell events."
    if unknown := sorted(set(draft.types) - FORMS.keys()):
        wrong["types"] = f"There is no event {', '.join(unknown)}."
    if unknown := sorted(set(draft.tables) - set(Table.objects.values_list("name", flat=True))):
        wrong["tables"] = f"There is no table {', '.join(unknown)}."
    return wrong


def _mail_faults(draft: ChannelDraft) -> dict[str, str]:
    if draft.secret:
        return {"secret": "E-mail has no secret of its own: leave it empty."}  # pragma: allowlist secret
    try:
        validate_email(draft.address)
    except ValidationError:
        return {"address": "Write one e-mail address: night.desk@example.com."}
    return {}


def _webhook_faults(draft: ChannelDraft, earlier: AlertChannel | None) -> dict[str, str]:
    wrong = {"address": sentence} if (sentence := url_fault(draft.address)) else {}
    keeps = earlier is not None and bool(earlier.secret)
    if not draft.secret and keeps:
        return wrong
    if not LEAST_SECRET <= len(draft.secret) <= MOST_SECRET or not draft.secret.isprintable():
        wrong["secret"] = (
            f"A secret has {LEAST_SECRET} to {MOST_SECRET} characters, made by chance: openssl rand -hex 32."
        )
    return wrong


def url_fault(address: str) -> str:
    """Why nothing may be sent to a web address; "" if it may."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return "Write a whole address: https://alerts.example.com/casino."
    if not parts.hostname or not address.isascii() or not address.isprintable() or " " in address or port == 0:
        return "Write a whole address: https://alerts.example.com/casino."
    if parts.username is not None or parts.fragment:
        return "Leave user names, passwords and # out of the address."
    if parts.scheme == "https" or _is_own_machine(parts):
        return ""
    return "Alerts leave the house encrypted alone: the address begins with https://."


def _is_own_machine(parts: SplitResult) -> bool:
    """Plain HTTP is permitted only to the demo's own host."""
    return settings.WEBHOOKS_TO_LOOPBACK and parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost")


# --- Proving ---------------------------------------------------------------------------------------------------


@checks(ChannelSet)
def check_channel(event: ChannelSet, entry: Entry) -> None:
    """The channel's row equals its entry, down to the digests of address and secret."""
    if not ALERT_CHANNELS.has_row(event, entry):
        raise AuditFailure(f"the channel {event.name}, as it is kept beside the log, is another")


def wants(channel: AlertChannel, kind: str, level: int) -> bool:
    """Whether a channel sends an alert of this kind and level."""
    if channel.tells != ChannelContent.ALERTS or not channel.is_on:
        return False
    return level >= channel.least_level and (not channel.about or kind in channel.about)
