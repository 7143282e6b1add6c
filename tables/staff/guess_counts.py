"""Counts of guesses at a secret: each is counted before it is looked at, so that many at once get no more than few.

A count belongs to a kind of secret, a place that guesses come from and a name that they are made for. Which counts a
try falls under is told in ``sign_in.py`` and ``terminals.py``; what that leaves a guesser is in docs/signing-in.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final

from django.db import connection
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from tables.models import AttemptCount, Terminal
from tables.refusals import Refused

DAY: Final = 24 * 3600
ANYWHERE: Final = "anywhere"
"""Every device that has not shown yet that it is somebody's own."""


@dataclass(frozen=True, slots=True)
class GuessLimit:
    """So many failures from a place, for a name, within a time that begins with the first one."""

    kind: str
    place: str
    name: str
    most: int
    seconds: int
    forgives: bool = False
    """Whether a success forgets the failures before it. Else it takes back only itself."""
    closes: bool = True
    """Whether nothing is looked at any more once it is full. Else it is only watched."""


class TooMany(Exception):
    """A count is full: the secret must not be looked at."""

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
    RETURNING tries
"""


def count(limit: GuessLimit) -> int:
    """One more try; how many that are. The row is the lock: of tries at once each gets a number of its own."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"kind": limit.kind, "place": limit.place, "name": limit.name, "window": limit.seconds})
        (tries,) = cursor.fetchone()
    return int(tries)


def reserve(limits: Sequence[GuessLimit]) -> list[GuessLimit]:
    """Count a try under each limit, in this order; those that are only watched, and full with it. Raises TooMany at the
    first that is full and closes.

    Outside of a transaction: what one that is rolled back counted would be forgotten."""
    alarms = []
    for limit in limits:
        tries = count(limit)
        if limit.closes and tries > limit.most:
            raise TooMany(limit, is_first=tries == limit.most + 1)
        if not limit.closes and tries == limit.most:
            alarms.append(limit)
    return alarms


def give_back(limits: Sequence[GuessLimit]) -> None:
    """The secret was not looked at after all."""
    for limit in limits:
        _rows(limit).update(tries=Greatest(F("tries") - 1, 0))


def succeed(limits: Sequence[GuessLimit]) -> None:
    """The secret was right: this try does not count, and the failures are forgotten that a success forgives."""
    give_back([limit for limit in limits if not limit.forgives])
    for limit in limits:
        if limit.forgives:
            _rows(limit).delete()


def _rows(limit: GuessLimit) -> QuerySet[AttemptCount]:
    return AttemptCount.objects.filter(kind=limit.kind, place=limit.place, name=limit.name)


# --- Forgetting ------------------------------------------------------------------------------------------------


def forget_name(name: str) -> None:
    """Whatever failed for a name is forgotten, wherever it was tried."""
    AttemptCount.objects.filter(name=called(name)).delete()


def forget_place(place: str) -> None:
    AttemptCount.objects.filter(place=place).delete()


def forget_old() -> None:
    """Counts that no limit asks for any more."""
    AttemptCount.objects.filter(since__lt=timezone.now() - timedelta(seconds=2 * DAY)).delete()


# --- Names and places ------------------------------------------------------------------------------------------


def called(name: str) -> str:
    """A name as counts keep it: digested, because people type passwords into the wrong field."""
    return salted_hmac("tables.attempts", name, algorithm="sha256").hexdigest()[:32]


def address_of(request: HttpRequest) -> str:
    """Where a request comes from, as tries are counted by it."""
    return f"address {network_of(request.META.get('REMOTE_ADDR', ''))}".strip()


@lru_cache(maxsize=10_000)
def network_of(address: str) -> str:
    """The address that limits count by, "" where it is none. Of IPv6, the network: whoever has one address there has
    them all."""
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
    """The refusal of a try whose secret was not looked at, with how long to wait."""
    wait = "try again tomorrow" if full.seconds >= DAY else f"wait {full.seconds // 60} minutes"
    return Refused("locked_out", f"{says}: {wait}, or ask an operator to let you in.", 429)
