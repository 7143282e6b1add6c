"""Clocks that stand at another moment: this host's, as everything here asks it, and the database's."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from casino.embedded.servers import OWNER
from ledger import shape
from ledger.models import Run, RunEnd
from tests.servers import DATABASE_SERVER as HOUSE

LEDGER_NOW = "CREATE OR REPLACE FUNCTION ledger_now() RETURNS timestamptz LANGUAGE sql VOLATILE RETURN {moment}"

_standing: dict[int, datetime] = {}
"""The moment at which a test's clock of the database stands."""


def is_set() -> bool:
    """Whether a test, or a run with ``TEST_CLOCK``, has set the database's clock."""
    return bool(_standing) or runs_elsewhere()


def stands_at() -> datetime | None:
    """The moment at which both clocks stand, if they do."""
    moments = set(_standing.values())
    return moments.pop() if len(moments) == 1 and timezone.now() in moments else None


# --- A run at another moment ------------------------------------------------------------------------------------

_machine_now = timezone.now
_begins_at: datetime | None = None
_ahead = timedelta()
"""Difference between the clocks of the run and the machine's."""


def begin_at(moment: datetime) -> None:
    """Both clocks run from this moment on, at the beginning of each test."""
    global _begins_at
    _begins_at = moment if moment.tzinfo else timezone.make_aware(moment)
    begin_again()
    timezone.now = lambda: _machine_now() + _ahead
    _expect_another_clock(pytest.MonkeyPatch())


def runs_elsewhere() -> bool:
    """Whether each test of this run begins at another moment."""
    return _begins_at is not None


def begin_again() -> None:
    global _ahead
    assert _begins_at is not None
    _ahead = _begins_at - _machine_now()


def database_begins_again() -> None:
    _replace(_running(), _owner_url())


def _running() -> str:
    if not _ahead:
        return LEDGER_NOW.format(moment="clock_timestamp()")
    return LEDGER_NOW.format(moment=f"clock_timestamp() + interval '{_ahead.total_seconds():.6f} seconds'")


def _expect_another_clock(patch: pytest.MonkeyPatch) -> None:
    """The house reports a replaced clock as a fault; here the tests replaced it."""
    right = shape.faults
    patch.setattr(shape, "faults", lambda: (fault for fault in right() if "function ledger_now()" not in fault))


def _owner_url() -> str:
    return HOUSE.database_url(OWNER, connection.settings_dict["NAME"])


def _replace(function: str, owner_url: str) -> None:
    with psycopg.connect(owner_url, autocommit=True) as owner:
        owner.execute(function)
    if connection.in_atomic_block:  # a relation that no test holds is opened: only then is the change seen
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_relation_size('pg_catalog.pg_largeobject')")


if "TEST_CLOCK" in os.environ:  # before any test module takes the date
    begin_at(datetime.fromisoformat(os.environ["TEST_CLOCK"]))


# --- A test's clocks --------------------------------------------------------------------------------------------


class Clock:
    """Both clocks, until the test is over. Replacing the database's takes its owner, which the application is not."""

    def __init__(self, owner_url: str = "") -> None:
        self._owner_url = owner_url
        self._host = pytest.MonkeyPatch()
        self._database_stands = False

    def host(self, moment: datetime) -> None:
        """This host alone has another time from now on."""
        self._host.setattr(timezone, "now", lambda: moment)

    def host_is_off(self, by: timedelta) -> None:
        """This host's clock goes, so much ahead or behind."""
        right = timezone.now
        self._host.setattr(timezone, "now", lambda: right() + by)

    def database(self, moment: datetime) -> None:
        """The database alone has another time from now on."""
        if not self._database_stands:
            _expect_another_clock(self._host)
        self._database_stands = True
        _standing[id(self)] = moment
        _replace(LEDGER_NOW.format(moment=f"'{moment.isoformat()}'::timestamptz"), self._owner_url or _owner_url())

    def stand(self, moment: datetime) -> None:
        """It is then, for everybody."""
        self.host(moment)
        self.database(moment)

    def pass_until(self, moment: datetime) -> None:
        """The same, and the watch ran meanwhile: without a trace of the time between, no day is sealed."""
        hour = timezone.now() + timedelta(hours=6)
        while hour < moment:
            watched(hour)
            hour += timedelta(hours=6)
        self.stand(moment)

    def right(self) -> None:
        """The clocks are as they are."""
        self._host.undo()
        if self._database_stands:
            _replace(_running(), self._owner_url or _owner_url())
            self._database_stands = False
            _standing.pop(id(self), None)


@contextmanager
def travelling() -> Iterator[Clock]:
    """The clocks, right again afterwards."""
    clocks = Clock()
    try:
        yield clocks
    finally:
        clocks.right()


def watched(moment: datetime) -> None:
    """The watch ran then."""
    run, _ = Run.objects.get_or_create(task="recount", slot=moment, defaults={"begun_at": moment})
    RunEnd.objects.create(run=run, at=moment, found=0)
