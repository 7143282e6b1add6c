"""A clock that can be set, to make the history of a demo: in this process, and for its connection to the database.

Only a demo has one, and only while its history is made. The database's clock is replaced by its owner, not by the
application's role, and is restored in any case.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

import psycopg
from django.conf import settings
from django.db import connection
from django.utils import timezone

_MOMENT: Final = "casino.demo_moment"
_SET_FOR_ME: Final = f"""
    CREATE OR REPLACE FUNCTION ledger_now() RETURNS timestamptz LANGUAGE sql VOLATILE
    RETURN coalesce(nullif(current_setting('{_MOMENT}', true), '')::timestamptz, clock_timestamp())
"""


class PastRefused(Exception):
    """No clock may be set here; the message is one sentence with the reason."""


class Clock:
    """The time in this process and in its database connection."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment
        self.stand(moment)

    def stand(self, moment: datetime) -> None:
        """Set the time. It only moves forward, because timestamps of the log never decrease."""
        self.moment = max(self.moment, moment)
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config(%s, %s, false)", [_MOMENT, self.moment.isoformat()])

    def passes(self, seconds: float) -> None:
        self.stand(self.moment + timedelta(seconds=seconds))


@contextmanager
def set_back(moment: datetime) -> Iterator[Clock]:
    """Set the clock until the context ends. Raises PastRefused outside a demo."""
    if settings.CASINO_ENV != "demo":
        raise PastRefused("Only a demo (CASINO_ENV=demo) has a past made for it.")
    if not settings.DATABASE_OWNER_URL:
        raise PastRefused("The database's owner sets its clock: name it in DATABASE_OWNER_URL.")
    right = timezone.now
    with psycopg.connect(settings.DATABASE_OWNER_URL, autocommit=True) as owner:
        row = owner.execute("SELECT pg_get_functiondef('ledger_now()'::regprocedure)").fetchone()
        assert row is not None  # noqa: S101 -- the migrations made it
        try:
            owner.execute(_SET_FOR_ME)
            clock = Clock(moment)
            timezone.now = lambda: clock.moment
            yield clock
        finally:
            timezone.now = right
            owner.execute(row[0])
            connection.close()
