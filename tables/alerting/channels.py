"""The channels by which alerts leave the house: set by operators, each change another version. Secrets go in sealed and
never come out again."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Max

from ledger import house, log
from ledger.house import digest_of
from ledger.log import Draft
from ledger.proof.chain import Entry
from tables import pepper
from tables.alerting.rows import AlertChannel, Means
from tables.alerting.rules import KINDS, LEVELS
from tables.handlers import checks
from tables.log.entries.alert_rules import ChannelSet
from tables.log.event import Misconduct
from tables.models import Staff
from tables.refusals import Refused

LEAST_SECRET: Final = 24
MOST_SECRET: Final = 120
_KEPT: Final = "webhook "
"""What a secret begins with under its seal: the seal leaves alone what looks like no secret."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A channel as an operator typed it."""

    name: str
    means: str
    address: str
    secret: str = ""
    """Empty: that of the version before stays."""
    is_on: bool = True
    least_level: int = 1
    about: tuple[str, ...] = ()


def in_force() -> list[AlertChannel]:
    """The newest version of each channel."""
    return list(AlertChannel.objects.order_by("name", "-version").distinct("name"))


def set_channel(asked: Asked, *, by: Staff) -> AlertChannel:
    """Another channel; of a name that there is, its next version. Raises Refused."""
    if not by.has_perm("tables.add_alertchannel"):
        raise Refused("not_permitted", "Only an operator sets the channels of alerts.", 403)
    with transaction.atomic():
        head = house.lock()
        earlier = AlertChannel.objects.filter(name=asked.name).order_by("-version").first()
        if sentences := faults(asked, earlier):
            raise Refused("bad_channel", " ".join(sentences.values()), 422, fields=sentences)
        sealed = _sealed(asked, earlier)
        version = (AlertChannel.objects.filter(name=asked.name).aggregate(last=Max("version"))["last"] or 0) + 1
        row = AlertChannel(
            name=asked.name, version=version, means=asked.means, address=asked.address, secret=sealed,
            is_on=asked.is_on, least_level=asked.least_level, about=sorted(asked.about), by=by.signature,
        )  # fmt: skip
        entry = log.append(head, Draft.of(event_of(row), by.signature))
        row.seq, row.at = entry.seq, entry.at or head.moment
        row.save()
    return row


def event_of(row: AlertChannel) -> ChannelSet:
    """What the house's book says of a channel."""
    return ChannelSet(
        name=row.name, version=row.version, means=row.means, is_on=row.is_on, least_level=row.least_level,
        about=tuple(row.about), address_sha256=digest_of(row.address), secret_sha256=digest_of(row.secret),
    )  # fmt: skip


def secret_of(channel: AlertChannel) -> str:
    """What its messages are signed with. Raises pepper.NoSuchKey."""
    return pepper.unseal(channel.secret, _owner(channel.name)).removeprefix(_KEPT)


def _sealed(asked: Asked, earlier: AlertChannel | None) -> str:
    if asked.means != Means.WEBHOOK:
        return ""
    if asked.secret or earlier is None:
        return pepper.seal(_KEPT + asked.secret, _owner(asked.name))
    return earlier.secret


def _owner(name: str) -> str:
    return f"secret of the channel {name}"


def whither(channel: AlertChannel) -> str:
    """Where it goes, for a page: of an address on the web the host alone, for the rest may be a secret."""
    if channel.means == Means.MAIL:
        return channel.address
    parts = urlsplit(channel.address)
    return f"{parts.scheme}://{parts.netloc}/…"


# --- What is wrong with one ------------------------------------------------------------------------------------


def faults(asked: Asked, earlier: AlertChannel | None = None) -> dict[str, str]:
    """What is wrong with a channel as it was typed, by its field."""
    wrong: dict[str, str] = {}
    if (
        not asked.name.strip()
        or asked.name != asked.name.strip()
        or len(asked.name) > 40
        or not asked.name.isprintable()
    ):
        wrong["name"] = "A channel's name has 1 to 40 characters, and no space before or after it."
    if not 0 <= asked.least_level < len(LEVELS):
        wrong["least_level"] = f"A level is one of {', '.join(LEVELS)}."
    if unknown := sorted(set(asked.about) - KINDS.keys()):
        wrong["about"] = f"There is no kind of alert {', '.join(unknown)}."
    if asked.means == Means.MAIL:
        return wrong | _mail_faults(asked)
    if asked.means == Means.WEBHOOK:
        return wrong | _webhook_faults(asked, earlier)
    return wrong | {"means": "A channel sends by e-mail or by webhook."}


def _mail_faults(asked: Asked) -> dict[str, str]:
    if asked.secret:
        return {"secret": "E-mail has no secret of its own: leave it empty."}
    try:
        validate_email(asked.address)
    except ValidationError:
        return {"address": "Write one e-mail address: night.desk@example.com."}
    return {}


def _webhook_faults(asked: Asked, earlier: AlertChannel | None) -> dict[str, str]:
    wrong = {"address": says} if (says := url_fault(asked.address)) else {}
    keeps = earlier is not None and bool(earlier.secret)
    if not asked.secret and keeps:
        return wrong
    if not LEAST_SECRET <= len(asked.secret) <= MOST_SECRET or not asked.secret.isprintable():
        wrong["secret"] = (
            f"A secret has {LEAST_SECRET} to {MOST_SECRET} characters, made by chance: openssl rand -hex 32."
        )
    return wrong


def url_fault(address: str) -> str:
    """Why nothing is sent to an address on the web; empty if it may be."""
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
    """Plain HTTP is for a demo's own machine."""
    return settings.WEBHOOKS_TO_LOOPBACK and parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost")


def ip_fault(ip: str) -> str:
    """Why nothing is sent to an address of the network; empty if it may be. Servers of the house's own network may be
    told; this host itself, and what answers hosts of a cloud with their credentials, may not."""
    parsed = ipaddress.ip_address(ip.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    if parsed.is_loopback:
        return "" if settings.WEBHOOKS_TO_LOOPBACK else f"{ip} is this host itself"
    if parsed.is_link_local or parsed.is_multicast or parsed.is_unspecified or parsed in _METADATA:
        return f"{ip} is no server that alerts are sent to"
    return ""


_METADATA: Final = frozenset({ipaddress.ip_address("fd00:ec2::254"), ipaddress.ip_address("100.100.100.200")})


# --- Proving ---------------------------------------------------------------------------------------------------


@checks(ChannelSet)
def check_channel(event: ChannelSet, entry: Entry) -> None:
    """A channel's row says the same, down to the digests of its address and its secret."""
    row = AlertChannel.objects.filter(seq=entry.seq).first()
    if row is None or row.by != entry.by or event_of(row).content() != event.content():
        raise Misconduct(f"the channel {event.name}, as it is kept beside the log, is another")


def wants(channel: AlertChannel, kind: str, level: int) -> bool:
    """Whether an alert is told by a channel."""
    return channel.is_on and level >= channel.least_level and (not channel.about or kind in channel.about)
