"""The houses that report to a head office: registered by an operator, each with its key, its currency and its line."""

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
from tables.alerting.channels import LEAST_SECRET, MOST_SECRET
from tables.models import Staff
from tables.refusals import Refused

log = logging.getLogger(__name__)

_KEPT: Final = "house "
"""What a secret begins with under its seal: the seal leaves alone what looks like no secret."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A house as an operator typed it."""

    code: str
    name: str
    currency: str
    key: str
    """Its public key, 64 hexadecimal digits, as the house handed it over."""
    secret: str = ""
    """What its line is signed with; empty for a house that sends its days on a stick."""


def register(registration: Registration, *, by: Staff) -> House:
    """A further house. Raises Refused."""
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
    """Another secret of a house, or another key where it lost its own: what it signs by itself needs no pin. Raises
    Refused."""
    _refuse_person(by)
    if not reason.strip():
        raise Refused("no_reason", "Say why: whoever reads the list of keys later has to know.", 422)
    if not key and not secret:
        raise Refused("nothing_new", "Name another key, or another secret.", 422)
    if says := _key_fault(key) if key else _secret_fault(secret) if secret else "":
        raise Refused("bad_pin", says, 422)
    before = current_pin(house)
    row = Pin(
        house=house,
        version=before.version + 1,
        key=key or before.key,
        secret=_sealed(secret, house.code) if secret else before.secret,
        reason=reason.strip()[:300],
        by=by.signature,
        at=clock.read().database,
    )
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise Refused(
            "pinned_meanwhile", f"Somebody pinned another for {house.name} just now: look again.", 409
        ) from None
    return row


def _refuse_person(by: Staff) -> None:
    if not by.has_perm("tables.add_alertchannel"):
        raise Refused("not_permitted", "An operator of the head office registers houses.", 403)


def faults(registration: Registration) -> dict[str, str]:
    """What is wrong with it, by its field."""
    wrong: dict[str, str] = {}
    if not re.fullmatch(r"[a-z][a-z0-9-]{1,23}", registration.code):
        wrong["code"] = "A code has 2 to 24 small letters, digits and hyphens, and begins with a letter."
    if not registration.name.strip() or registration.name != registration.name.strip() or len(registration.name) > 60:
        wrong["name"] = "A name has 1 to 60 characters, and no space before or after it."
    if not re.fullmatch(r"[A-Z]{3}", registration.currency):
        wrong["currency"] = "A currency is three capital letters by ISO 4217: EUR."
    if House.objects.filter(code=registration.code).exists() or House.objects.filter(name=registration.name).exists():
        wrong["code"] = "A house of this code or name reports here already."
    if fault := _key_fault(registration.key):
        wrong["key"] = fault
    if registration.secret and (fault := _secret_fault(registration.secret)):
        wrong["secret"] = fault
    return wrong


def _key_fault(key: str) -> str:
    try:
        return "" if seals.read_public(key) == key else "A key is written in small letters."
    except BadKey as bad:
        return f"That is no house's public key: {bad}"


def _secret_fault(secret: str) -> str:
    if LEAST_SECRET <= len(secret) <= MOST_SECRET and secret.isprintable():
        return ""
    return f"A secret has {LEAST_SECRET} to {MOST_SECRET} characters, made by chance: openssl rand -hex 32."


# --- Keys and secrets ------------------------------------------------------------------------------------------


def current_pin(house: House) -> Pin:
    """The newest pin of a house."""
    return Pin.objects.filter(house=house).order_by("-version")[0]


def trusted_key(house: House) -> str:
    """The key that the next day is held against: that of the last day that held, which the pinned one vouched for; or
    the pinned one, where it was pinned since."""
    newest = current_pin(house)
    pinned = Pin.objects.filter(house=house, key=newest.key).order_by("version")[0]
    last = last_day(house)
    return newest.key if last is None or pinned.at > last.at else last.key


def secret_of(house: House) -> str:
    """What its line is signed with; empty where it has none. Raises pepper.NoSuchKey."""
    return pepper.unseal(current_pin(house).secret, _owner(house.code)).removeprefix(_KEPT)


def _sealed(secret: str, code: str) -> str:
    return pepper.seal(_KEPT + secret, _owner(code)) if secret else ""


def _owner(code: str) -> str:
    return f"secret of the house {code}"


# --- How far it is ---------------------------------------------------------------------------------------------


def last_day(house: House) -> Day | None:
    """The last day that holds."""
    return Day.objects.filter(house=house).order_by("-number").first()


def waiting(house: House) -> list[Arrival]:
    """Bundles that nobody has verified yet, in the order in which they came."""
    return list(Arrival.objects.filter(house=house, verdict=None).order_by("pk"))


def due(house: House) -> int:
    """The number of the day that comes next. What waits to be verified counts as here."""
    last = last_day(house)
    return max([last.number if last else 0, *(arrival.through for arrival in waiting(house))]) + 1


def each(every: Iterable[House], work: Callable[[House], int]) -> int:
    """Do some work for each of some houses; the sum of what it counts. A house whose bundles fail in a way that nobody
    thought of holds up no other."""
    count = 0
    for house in every:
        try:
            count += work(house)
        except Exception:
            log.exception("the bundles of %s were left lying", house.code)
    return count
