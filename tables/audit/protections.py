"""Protections that a site can deal without: which of them are off, and how each is turned on.

``verify`` cannot tell: changes by a single operator, or rows that the application's database role wrote without a PIN,
follow the rules of a site that has these protections off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.utils import timezone

from ledger import alerts
from ledger.models import Acknowledgement, Alert, Slip
from ledger.raw_rows import fetch_row
from tables.audit import checkpoints, witness_delivery
from tables.floor import signature_checks
from tables.setup import policies

KIND: Final = "protections_off"
REMINDER: Final = timedelta(days=30)
"""After this time, an alert that was acknowledged is raised again if the same protections are still off."""


@dataclass(frozen=True, slots=True)
class Protection:
    """A control that holds only once it is turned on."""

    name: str
    is_on: Callable[[], bool]
    without: str
    """What is possible while it is off."""
    do: str
    """How it is turned on."""


def _has_dual_control() -> bool:
    return bool(policies.in_force("two_people"))


def _binds_signatures() -> bool:
    return signature_checks.trust().demanded is not None


def _has_witness() -> bool:
    return checkpoints.current_tree() is not None and bool(witness_delivery.witnesses())


def is_archived() -> bool:
    """Whether the database keeps its WAL."""
    return bool(fetch_row("SELECT current_setting('archive_mode')")[0] != "off")


PROTECTIONS: Final = (
    Protection(
        "dual control",
        _has_dual_control,
        "one operator can raise limits",
        "In the house terms, set “Settings that move money take two people” to yes; it takes a second operator.",
    ),
    Protection(
        "signatures bound to terminals",
        _binds_signatures,
        "the application's database role can forge slips",
        "Demand signatures by terminals on the page This terminal (docs/attestation.md).",
    ),
    Protection(
        "witness",
        _has_witness,
        "a superuser can cut off the end of a log",
        "Set up a witness on another machine and name it in the house terms (docs/witness.md).",
    ),
    Protection(
        "WAL archive",
        is_archived,
        "a lost server loses all since its last backup",
        "Set up pgBackRest (docs/deploying.md).",
    ),
)


def off() -> list[Protection]:
    """The protections that are off on a site that deals; empty before its first table was opened."""
    # A new site is still being set up: alerts about it would only teach its staff to ignore them.
    if not Slip.objects.filter(series="opener").exists():
        return []
    return [protection for protection in PROTECTIONS if not protection.is_on()]


def turn_on() -> None:
    """Turn dual control on once the first table of a site is opened, and raise the alert that names the protections
    that are off."""
    if policies.turn_on_dual_control() or (policies.opened_lately() and not Alert.objects.filter(kind=KIND).exists()):
        look_after()


def sentence(missing: Sequence[Protection]) -> str:
    """The protections that are off, and what that permits."""
    if not missing:
        return "Every protection is on."
    return f"Off: {'; '.join(f'{protection.name} ({protection.without})' for protection in missing)}."


def look_after() -> int:
    """Keep one alert that names the protections that are off; the number of alerts raised.

    While it is open, a change is added to it as a repeat. After an acknowledgement, another
    set of protections that are off opens another alert, and the same set does so after a month.
    """
    missing = off()
    says, moment = sentence(missing), timezone.now()
    latest = Alert.objects.filter(kind=KIND).order_by("pk").last()
    acknowledgement = Acknowledgement.objects.filter(alert=latest).first()
    is_open = latest is not None and acknowledgement is None
    if not missing and not is_open:
        return 0
    is_fresh = acknowledgement is None or moment - acknowledgement.at < REMINDER
    if latest is not None and is_fresh and alerts.is_current(latest, says):
        return 0
    names = [protection.name for protection in missing]
    alert, is_new = alerts.raise_for(None, KIND, says, {"cause": KIND, "off": names})
    if not is_new:
        alerts.repeat(alert, says, moment)
    return int(is_new)
