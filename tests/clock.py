"""Clocks that stand at another moment: this host's, as everything here asks it, and the database's."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from casino.embedded import OWNER
from ledger import shape
from ledger.models import Run, RunEnd
from tests.servers import DATABASE_SERVER as HOUSE

RUNS = "CREATE OR REPLACE FUNCTION ledger_now() RETURNS timestamptz LANGUAGE sql VOLATILE RETURN clock_timestamp()"
STANDS = "CREATE OR REPLACE FUNCTION ledger_now() RETURNS timestamptz LANGUAGE sql VOLATILE RETURN {at}::timestamptz"


_standing: set[int] = set()


def is_set() -> bool:
    """Whether a test has set the database's clock."""
    return bool(_standing)


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
            # A house whose clock is replaced is told so; here it is we who do it.
            right = shape.faults
            self._host.setattr(
                shape, "faults", lambda: (fault for fault in right() if "function ledger_now()" not in fault)
            )
        self._database_stands = True
        _standing.add(id(self))
        self._replace(STANDS.format(at=f"'{moment.isoformat()}'"))

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
            self._replace(RUNS)
            self._database_stands = False
            _standing.discard(id(self))

    def _replace(self, function: str) -> None:
        url = self._owner_url or HOUSE.database_url(OWNER, connection.settings_dict["NAME"])
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute(function)
        with connection.cursor() as cursor:  # opens a relation that no test holds: only then is the change seen
            cursor.execute("SELECT pg_relation_size('pg_catalog.pg_largeobject')")


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
