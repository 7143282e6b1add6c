"""A replica of the database, for what is only read: reports, lists and files take nothing from the dealers' primary.

Inside ``reading`` everything that asks the database asks the replica, whichever way it asks: Django's ``connection`` is
another one for that time. What is asked there cannot write: a standby refuses it, and so does the session. What belongs
to such a page and has to be written is written inside ``on_primary``.

Before anything is read the replica has to be where the primary was when the request came, so whoever wrote something
finds it there. It is waited for, shortly; then the page is read as it is, and says how old that is. A replica that is
further behind than the house bears, or away, is a refusal in one sentence. Nothing is ever read from the primary
instead: a replica that fails while the floor is full must not hand its load to the dealers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, InterfaceError, InternalError, OperationalError, connection, connections
from psycopg.errors import LockNotAvailable, QueryCanceled, ReadOnlySqlTransaction
from psycopg_pool import TooManyRequests

from ledger.lanes import Busy, Lane, give_back, lane

WAIT: Final = timedelta(seconds=1)
"""So long a page waits for the replica to come to where the primary was. Usually it is there, or a moment later."""
_LOOK_AGAIN_SECONDS: Final = 0.01

# What is durable on the primary; what only lies in its memory no replica has yet.
_PRIMARY: Final = "SELECT pg_current_wal_flush_lsn(), clock_timestamp(), (pg_control_system()).system_identifier"
_THERE: Final = """SELECT pg_is_in_recovery(), (pg_control_system()).system_identifier = %s,
    CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() >= %s::pg_lsn END, pg_last_xact_replay_timestamp()"""


_OF_ITS_OWN: Final = QueryCanceled | TooManyRequests | LockNotAvailable
"""What is answered as anywhere else: it says nothing about the replica."""


class WrittenThere(RuntimeError):
    """A page that reads the replica wrote, or locked something: a fault in the code. What is to be written is written
    inside ``on_primary``."""


class Unread(Busy):
    """Nothing was read, for the replica is away or too far behind. It is answered in its own sentence."""


@dataclass(frozen=True, slots=True)
class AsOf:
    """Of when a page is: whatever was committed by then is on it."""

    moment: datetime
    """By the primary's clock."""
    age: timedelta
    is_level: bool
    """Whether it lacks nothing that was there when it was asked for."""

    @property
    def seconds(self) -> int:
        return max(0, int(self.age.total_seconds()))


@dataclass(frozen=True, slots=True)
class _Primary:
    """Where the primary is."""

    position: str
    moment: datetime
    system: int


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading that goes on, with what it set aside."""

    as_of: AsOf
    primary: Any
    lane: Lane


_reading: ContextVar[Reading | None] = ContextVar("reading", default=None)


def is_set() -> bool:
    """Whether this house has a replica."""
    return bool(settings.DATABASE_REPLICA)


def as_of() -> AsOf | None:
    """Of when what is read here is; None where the primary itself is asked."""
    reading = _reading.get()
    return reading.as_of if reading else None


@contextmanager
def reading() -> Iterator[AsOf | None]:
    """Whatever is asked inside is asked of the replica; of the primary where none is set. Raises Unread."""
    if not is_set() or _reading.get():
        yield as_of()
        return
    primary = _primary()
    with _on_replica() as before:
        of_then = _state_of(primary)
        if of_then.age.total_seconds() > settings.REPLICA_LATEST_SECONDS:
            raise Unread(_behind(of_then.age))
        with _noted(Reading(of_then, *before)):
            yield of_then


@contextmanager
def again(earlier: AsOf | None) -> Iterator[None]:
    """Go on with a reading that ended: the next part of a file that is sent as it is read. Raises Unread."""
    if earlier is None or _reading.get():
        yield
        return
    with _on_replica() as before, _noted(Reading(earlier, *before)):
        yield


@contextmanager
def on_primary() -> Iterator[None]:
    """For the little that a page writes, such as who looked at it."""
    reading = _reading.get()
    if reading is None:
        yield
        return
    with _noted(None), _in_place(reading.primary, reading.lane):
        try:
            yield
        finally:
            give_back()


@contextmanager
def _on_replica() -> Iterator[tuple[Any, Lane]]:
    """The replica in the primary's place. The primary's connection is given back, or kept with its locks where it is
    the only one. Raises Unread."""
    give_back()
    before = connections[DEFAULT_DB_ALIAS], lane.get()
    replica = type(before[0])(before[0].settings_dict | settings.DATABASE_REPLICA, DEFAULT_DB_ALIAS)
    with _in_place(replica, Lane.REPLICA):
        try:
            yield before
        except InternalError as fault:
            if isinstance(fault.__cause__, ReadOnlySqlTransaction):
                raise WrittenThere(str(fault)) from fault
            raise
        except (OperationalError, InterfaceError) as fault:
            if isinstance(fault, Busy) or isinstance(fault.__cause__, _OF_ITS_OWN):
                raise
            raise Unread(AWAY) from fault
        finally:
            replica.close()


@contextmanager
def _in_place(other: Any, of_lane: Lane) -> Iterator[None]:
    before, token = connections[DEFAULT_DB_ALIAS], lane.set(of_lane)
    connections[DEFAULT_DB_ALIAS] = other
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = before
        lane.reset(token)


@contextmanager
def _noted(reading: Reading | None) -> Iterator[None]:
    token = _reading.set(reading)
    try:
        yield
    finally:
        _reading.reset(token)


# --- Where it is -----------------------------------------------------------------------------------------------

AWAY: Final = (
    "The replica that reports and files are read from does not answer. Nothing was read, and the tables deal on:"
    " in a moment, ask again."
)
NO_REPLICA: Final = (
    "What is set as the replica takes writes: it is no replica. Nothing was read, and the tables deal on: an operator"
    " has to put DATABASE_REPLICA_URL right."
)
OTHER_HOUSE: Final = (
    "What is set as the replica is a copy of another database. Nothing was read, and the tables deal on: an operator"
    " has to put DATABASE_REPLICA_URL right."
)
UNKNOWN_AGE: Final = (
    "The replica that reports and files are read from has just started, and nobody can tell how old it is. Nothing was"
    " read, and the tables deal on: in a moment, ask again."
)


def _behind(age: timedelta) -> str:
    return (
        f"The replica that reports and files are read from is {int(age.total_seconds())} s behind, and this house reads"
        f" none that is more than {settings.REPLICA_LATEST_SECONDS:g} s behind. Nothing was read, and the tables deal"
        " on: in a moment, ask again."
    )


def _primary() -> _Primary:
    with connection.cursor() as cursor:
        cursor.execute(_PRIMARY)
        return _Primary(*cursor.fetchone())


def _state_of(primary: _Primary) -> AsOf:
    """Of when the replica is, once it is level or was waited for. A primary on which nothing happens makes nobody late:
    then there is nothing that the replica lacks, however old its last transaction is. Raises Unread."""
    begun = time.monotonic()
    while True:
        is_level, replayed = _looked_at(primary)
        wait = timedelta(seconds=time.monotonic() - begun)
        if is_level:
            return AsOf(primary.moment, wait, is_level=True)
        if wait > WAIT:
            break
        time.sleep(_LOOK_AGAIN_SECONDS)
    if replayed is None:
        raise Unread(UNKNOWN_AGE)
    return AsOf(replayed, primary.moment + wait - replayed, is_level=False)


def _looked_at(primary: _Primary) -> tuple[bool, datetime | None]:
    with connection.cursor() as cursor:
        cursor.execute(_THERE, [primary.system, primary.position])
        is_replica, is_of_this_house, is_level, replayed = cursor.fetchone()
    if not is_replica:
        raise Unread(NO_REPLICA)
    if not is_of_this_house:
        raise Unread(OTHER_HOUSE)
    return bool(is_level), replayed


def state() -> AsOf:
    """Of when the replica is, however far it is behind. Raises Unread."""
    primary = _primary()
    with _on_replica():
        return _state_of(primary)
