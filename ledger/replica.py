"""Reads reports, lists and exports from a replica, so that they take no capacity from the dealers' primary.

Inside ``reading`` all queries go to the replica, because Django's ``connection`` itself is exchanged. Writes fail
there: the standby rejects them, and so does the session. The few writes of such a page belong inside ``on_primary``.

The replica must first reach the primary's position at the time of the request, so that users see their own last writes.
A page waits briefly for that; after that it shows the replica's data, with their age. If the replica is further behind
than ``settings.REPLICA_LATEST_SECONDS``, or away, the page is refused in one sentence. It never falls back to the
primary: a replica that fails on a busy floor must not move its load there.
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

from ledger.connection_pools import Busy, Lane, give_back, lane

WAIT: Final = timedelta(seconds=1)
"""How long a page waits for the replica to catch up. Usually it is level already, or a moment later."""
_LOOK_AGAIN_SECONDS: Final = 0.01

# The flushed position: a replica cannot have data that are still only in the primary's memory.
_PRIMARY: Final = "SELECT pg_current_wal_flush_lsn(), clock_timestamp(), (pg_control_system()).system_identifier"
_THERE: Final = """SELECT pg_is_in_recovery(), (pg_control_system()).system_identifier = %s,
    CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() >= %s::pg_lsn END, pg_last_xact_replay_timestamp()"""


_NOT_THE_REPLICAS: Final = QueryCanceled | TooManyRequests | LockNotAvailable
"""Errors that do not mean that the replica is away. They are handled as on the primary."""


class WrittenThere(RuntimeError):
    """A page that reads the replica tried to write or lock something. That is a bug: writes belong inside
    ``on_primary``."""


class Unread(Busy):
    """Nothing was read, because the replica is away or too far behind. The message is the sentence for the user."""


@dataclass(frozen=True, slots=True)
class AsOf:
    """The time whose data a page shows: everything committed by then."""

    moment: datetime
    """By the primary's clock."""
    age: timedelta
    is_level: bool
    """Whether the data include everything that was committed when the page was requested."""

    @property
    def seconds(self) -> int:
        return max(0, int(self.age.total_seconds()))


@dataclass(frozen=True, slots=True)
class _Primary:
    """The primary's position, clock and system identifier."""

    position: str
    moment: datetime
    system: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading in progress, with the primary's connection and lane to return to."""

    as_of: AsOf
    primary: Any
    lane: Lane


_reading: ContextVar[Reading | None] = ContextVar("reading", default=None)


def is_set() -> bool:
    """Whether this site has a replica."""
    return bool(settings.DATABASE_REPLICA)


def as_of() -> AsOf | None:
    """The time of the data that queries read here; None if they go to the primary."""
    reading = _reading.get()
    return reading.as_of if reading else None


@contextmanager
def reading() -> Iterator[AsOf | None]:
    """Send all queries in the block to the replica, or to the primary if the site has no replica. Raises Unread."""
    if not is_set() or _reading.get():
        yield as_of()
        return
    primary = _primary()
    with _on_replica() as before:
        state = _state_of(primary)
        # An old figure looks like a current one on a report, so it is refused instead of marked.
        if state.age.total_seconds() > settings.REPLICA_LATEST_SECONDS:
            raise Unread(_behind(state.age))
        with _with_reading(Reading(state, *before)):
            yield state


@contextmanager
def again(earlier: AsOf | None) -> Iterator[None]:
    """Continue a reading that ended, for the next part of a file that is streamed while it is read. Raises Unread."""
    if earlier is None or _reading.get():
        yield
        return
    with _on_replica() as before, _with_reading(Reading(earlier, *before)):
        yield


@contextmanager
def on_primary() -> Iterator[None]:
    """Send queries in the block to the primary: for the few writes of a page, such as its access record."""
    reading = _reading.get()
    if reading is None:
        yield
        return
    with _with_reading(None), _in_place(reading.primary, reading.lane):
        try:
            yield
        finally:
            give_back()


@contextmanager
def _on_replica() -> Iterator[tuple[Any, Lane]]:
    """Replace the connection to the primary by one to the replica. Raises Unread.

    The primary's connection goes back to its pool, unless it has no pool or an open transaction: then it stays open and
    keeps its locks.
    """
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
            # A statement that was cancelled or found no slot says nothing about the replica's availability.
            if isinstance(fault, Busy) or isinstance(fault.__cause__, _NOT_THE_REPLICAS):
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
def _with_reading(reading: Reading | None) -> Iterator[None]:
    token = _reading.set(reading)
    try:
        yield
    finally:
        _reading.reset(token)


# --- Position --------------------------------------------------------------------------------------------------

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
    """The replica's state once it is level, or after the wait. If the primary is idle the replica is level, however old
    its last transaction is. Raises Unread."""
    begun = time.monotonic()
    while True:
        is_level, replayed = _compare(primary)
        wait = timedelta(seconds=time.monotonic() - begun)
        if is_level:
            return AsOf(primary.moment, wait, is_level=True)
        if wait > WAIT:
            break
        time.sleep(_LOOK_AGAIN_SECONDS)
    if replayed is None:
        raise Unread(UNKNOWN_AGE)
    return AsOf(replayed, primary.moment + wait - replayed, is_level=False)


def _compare(primary: _Primary) -> tuple[bool, datetime | None]:
    """Whether the replica has reached the primary's position, and when its last transaction was. Raises Unread."""
    with connection.cursor() as cursor:
        cursor.execute(_THERE, [primary.system, primary.position])
        is_replica, is_of_this_house, is_level, replayed = cursor.fetchone()
    if not is_replica:
        raise Unread(NO_REPLICA)
    # A promoted or foreign server would show other figures without any error.
    if not is_of_this_house:
        raise Unread(OTHER_HOUSE)
    return bool(is_level), replayed


def state() -> AsOf:
    """The replica's state, however far it is behind. Raises Unread."""
    primary = _primary()
    with _on_replica():
        return _state_of(primary)
