"""Counts of guesses at a secret. Each guess is counted before the secret is checked, so concurrent guesses gain
nothing.

A count belongs to a kind of secret, the place that guesses come from and the name that they target. `sign_in.py` and
`terminals.py` select the counts for an attempt; docs/signing-in.md says how many guesses that leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final, NamedTuple

from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from ledger.raw_rows import fetch_row
from tables.models import AttemptCount, Terminal
from tables.refusals import Refused

DAY: Final = 24 * 3600
ANYWHERE: Final = "anywhere"
"""The place of all devices that are not known as a user's own."""


@dataclass(frozen=True, slots=True)
class GuessLimit:
    """Maximum of failures from a place, for a name, within a period that begins with the first failure."""

    kind: str
    place: str
    name: str
    most: int
    seconds: int
    forgives: bool = False
    """Whether a success clears earlier failures. Otherwise it takes back only its own attempt."""
    closes: bool = True
    """Whether a full count blocks further checks. Otherwise it only raises an alert."""


class TooMany(Exception):
    """A count is full: the secret must not be checked."""

    def __init__(self, limit: GuessLimit, is_first: bool) -> None:
        super().__init__(f"{limit.kind} at {limit.place}")
        self.limit, self.is_first = limit, is_first


_COUNT: Final = """
    INSERT INTO tables_attemptcount AS kept (kind, place, name, tries, since)
    VALUES (%(kind)s, %(place)s, %(name)s, 1, clock_timestamp())
    ON CONFLICT (kind, place, name) DO UPDATE SET (tries, since) = (
        SELECT CASE WHEN is_past THEN 1 ELSE kept.tries + 1 END,
            CASE WHEN is_past THEN clock_timestamp() ELSE kept.since END
        FROM (SELECT kept.since < clock_timestamp() - make_interval(secs => %(window)s)) AS past (is_past))
    RETURNING tries, ceil(%(window)s - extract(epoch FROM clock_timestamp() - since))
"""


class Usage(NamedTuple):
    """Use of a limit in the present period."""

    tries: int
    resets_in: int
    """Seconds until the period ends."""


def use(limit: GuessLimit) -> Usage:
    """Add an attempt. The row is the lock: concurrent attempts get different numbers."""
    tries, resets_in = fetch_row(
        _COUNT, {"kind": limit.kind, "place": limit.place, "name": limit.name, "window": limit.seconds}
    )
    return Usage(int(tries), max(int(resets_in), 1))


def count(limit: GuessLimit) -> int:
    """Add an attempt; returns the number of attempts in the period."""
    return use(limit).tries


def reserve(limits: Sequence[GuessLimit]) -> list[GuessLimit]:
    """Count an attempt under each limit, in this order; returns the limits that only raise alerts and are now full.

    Raises TooMany at the first full limit that blocks. Call it outside a transaction: a rollback would undo the count.
    """
    alarms = []
    for limit in limits:
        tries = count(limit)
        if limit.closes and tries > limit.most:
            raise TooMany(limit, is_first=tries == limit.most + 1)
        if not limit.closes and tries == limit.most:
            alarms.append(limit)
    return alarms


def give_back(limits: Sequence[GuessLimit]) -> None:
    """Take an attempt back because the secret was not checked."""
    for limit in limits:
        _rows(limit).update(tries=Greatest(F("tries") - 1, 0))


def succeed(limits: Sequence[GuessLimit]) -> None:
    """Record a success: takes this attempt back, and clears the failures under limits that a success forgives."""
    give_back([limit for limit in limits if not limit.forgives])
    for limit in limits:
        if limit.forgives:
            _rows(limit).delete()


def _rows(limit: GuessLimit) -> QuerySet[AttemptCount]:
    return AttemptCount.objects.filter(kind=limit.kind, place=limit.place, name=limit.name)


# --- Forgetting ------------------------------------------------------------------------------------------------


def forget_name(name: str) -> None:
    """Clear all failures for a name, from any place."""
    AttemptCount.objects.filter(name=called(name)).delete()


def forget_place(place: str) -> None:
    AttemptCount.objects.filter(place=place).delete()


def forget_old() -> None:
    """Delete counts older than the period of any limit."""
    AttemptCount.objects.filter(since__lt=timezone.now() - timedelta(seconds=2 * DAY)).delete()


# --- Names and places ------------------------------------------------------------------------------------------


def called(name: str) -> str:
    """A name's key in counts. It is a digest, because users type passwords into the wrong field."""
    return salted_hmac("tables.attempts", name, algorithm="sha256").hexdigest()[:32]


def address_of(request: HttpRequest) -> str:
    """Key under which attempts from a request's address are counted."""
    return f"address {network_of(request.META.get('REMOTE_ADDR', ''))}".strip()


@lru_cache(maxsize=10_000)
def network_of(address: str) -> str:
    """The address under which attempts are counted; "" if it is not an IP address.

    IPv6 is counted by its /64 network, since the holder of one address there holds them all.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return ""
    if isinstance(parsed, IPv6Address):
        return str(parsed.ipv4_mapped or f"{IPv6Address(int(parsed) >> 64 << 64)}/64")
    return str(parsed)


def place_of(terminal: Terminal) -> str:
    return f"terminal {terminal.pk}"


def locked(says: str, full: GuessLimit) -> Refused:
    """The refusal for an attempt that was not checked, with the time to wait."""
    wait = "try again tomorrow" if full.seconds >= DAY else f"wait {full.seconds // 60} minutes"
    return Refused("locked_out", f"{says}: {wait}, or ask an operator to let you in.", 429)
