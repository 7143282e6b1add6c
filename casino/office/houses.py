"""The sites that report to a head office. An operator registers each with its key, its currency and its connection."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from django.db import IntegrityError, transaction

from casino.office.models import Arrival, Day, House, Pin
from ledger import clock
from ledger.proof import seals
from ledger.proof.seals import BadKey
from tables import pepper
from tables.alerts.channels import LEAST_SECRET, MOST_SECRET
from tables.models import Staff
from tables.refusals import Refused

log = logging.getLogger(__name__)

_PREFIX: Final = "house "
"""Prepended to a secret before encryption, because ``pepper`` leaves values alone that do not look like a secret."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A site as an operator entered it."""

    code: str
    name: str
    currency: str
    key: str
    """The site's public key, 64 hexadecimal digits."""
    secret: str = ""
    """The secret that signs its transfers; empty for a site that sends its days on a medium."""


def register(registration: Registration, *, by: Staff) -> House:
    """Register a new site. Raises Refused."""
    _refuse_person(by)
    if sentences := faults(registration):
        raise Refused("bad_house", " ".join(sentences.values()), 422, fields=sentences)
    with transaction.atomic():
        moment = clock.read().database
        house: House = House.objects.create(
            code=registration.code, name=registration.name, currency=registration.currency, by=by.signature, at=moment
        )
        Pin.objects.create(
            house=house,
            version=1,
            key=registration.key,
            secret=_sealed(registration.secret, house.code),
            by=by.signature,
            at=moment,
        )
    return house


def pin(house: House, *, by: Staff, reason: str, key: str = "", secret: str = "") -> Pin:
    """Pin another secret for a site, or another key if it lost its own. A key change that the site itself signed needs
    no pin. Raises Refused."""
    _refuse_person(by)
    if not reason.strip():
        raise Refused("no_reason", "Give the reason: whoever reads the list of keys later needs it.", 422)
    if not key and not secret:
        raise Refused("nothing_new", "Give another key or another secret.", 422)
    if fault := _key_fault(key) if key else _secret_fault(secret) if secret else "":
        raise Refused("bad_pin", fault, 422)
    current = current_pin(house)
    row = Pin(
        house=house,
        version=current.version + 1,
        key=key or current.key,
        secret=_sealed(secret, house.code) if secret else current.secret,
        reason=reason.strip()[:300],
        by=by.signature,
        at=clock.read().database,
    )
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise Refused(
            "pinned_meanwhile", f"Somebody has just changed the keys of {house.name}: check them and try again.", 409
        ) from None
    return row


def _refuse_person(by: Staff) -> None:
    # The pinned key decides whose days are trusted, so only the operators who also set alert channels may change it.
    if not by.has_perm("tables.add_alertchannel"):
        raise Refused(
            "not_permitted", "Only an operator of the head office may register houses and change their keys.", 403
        )


def faults(registration: Registration) -> dict[str, str]:
    """The faults of a registration, as sentences by field."""
    sentences: dict[str, str] = {}
    if not re.fullmatch(r"[a-z][a-z0-9-]{1,23}", registration.code):
        sentences["code"] = "A code has 2 to 24 small letters, digits and hyphens, and begins with a letter."
    if not registration.name.strip() or registration.name != registration.name.strip() or len(registration.name) > 60:
        sentences["name"] = "A name has 1 to 60 characters, and no space before or after it."
    if not re.fullmatch(r"[A-Z]{3}", registration.currency):
        sentences["currency"] = "A currency is a code of three capital letters (ISO 4217), such as EUR."
    if House.objects.filter(code=registration.code).exists() or House.objects.filter(name=registration.name).exists():
        sentences["code"] = "A house with this code or name already reports here."
    if fault := _key_fault(registration.key):
        sentences["key"] = fault
    if registration.secret and (fault := _secret_fault(registration.secret)):
        sentences["secret"] = fault
    return sentences


def _key_fault(key: str) -> str:
    try:
        return "" if seals.read_public(key) == key else "A key is written in small letters."
    except BadKey as bad:
        return f"That is not a house's public key: {bad}"


def _secret_fault(secret: str) -> str:
    if LEAST_SECRET <= len(secret) <= MOST_SECRET and secret.isprintable():
        return ""
    return f"A secret has {LEAST_SECRET} to {MOST_SECRET} random characters: make one with openssl rand -hex 32."


# --- Keys and secrets ------------------------------------------------------------------------------------------


def current_pin(house: House) -> Pin:
    """The newest pin of a site."""
    return Pin.objects.filter(house=house).order_by("-version")[0]


def trusted_key(house: House) -> str:
    """The key that the next bundle is verified with: that of the last accepted day, to which the pinned key led; or the
    pinned key, if it was pinned later."""
    newest = current_pin(house)
    pinned = Pin.objects.filter(house=house, key=newest.key).order_by("version")[0]
    last = last_day(house)
    # A key that was pinned after the last day replaces a lost one; otherwise the key must not go back.
    return newest.key if last is None or pinned.at > last.at else last.key


def secret_of(house: House) -> str:
    """The secret that signs the site's transfers; empty if it has no connection. Raises pepper.NoSuchKey."""
    return pepper.unseal(current_pin(house).secret, _owner(house.code)).removeprefix(_PREFIX)


def _sealed(secret: str, code: str) -> str:
    return pepper.seal(_PREFIX + secret, _owner(code)) if secret else ""


def _owner(code: str) -> str:
    return f"secret of the house {code}"


# --- Progress --------------------------------------------------------------------------------------------------


def last_day(house: House) -> Day | None:
    """The last accepted day; None before the first."""
    return Day.objects.filter(house=house).order_by("-number").first()


def waiting(house: House) -> list[Arrival]:
    """Bundles that are not verified yet, in order of arrival."""
    return list(Arrival.objects.filter(house=house, verdict=None).order_by("pk"))


def due(house: House) -> int:
    """The number of the next day that the site must send. Bundles that wait for verification count as received."""
    last = last_day(house)
    return max([last.number if last else 0, *(arrival.through for arrival in waiting(house))]) + 1


def sum_over(houses: Iterable[House], work: Callable[[House], int]) -> int:
    """Run ``work`` for each site and add up its results. An unexpected error in one site's bundles does not stop the
    others."""
    count = 0
    for house in houses:
        try:
            count += work(house)
        except Exception:
            log.exception("the bundles of %s could not be processed", house.code)
    return count
