"""A single active beat: `celery --app casino beat` may run on several hosts, but only one of them schedules tasks.

That is the one whose database session holds an advisory lock. The session ends with its process or host, and the
database ends it after ``SILENT_SECONDS`` without a statement, as when a host hangs. Then another beat takes over. After
a failover all of them try to get the lock again. If two ever schedule the same task, it is still done once
(ledger/runs.py).
"""

from __future__ import annotations

import logging
from typing import Any, Final

import psycopg
from celery.beat import PersistentScheduler

log = logging.getLogger(__name__)

NAME: Final = "casino beat"
"""The name of the session and of the lock."""
SILENT_SECONDS: Final = 10
ASK_SECONDS: Final = 2.0
"""Seconds between two statements of the session that holds the lock, and between two attempts of one that does not."""


class BeatLock:
    """The lock, and the session that holds it or waits for it."""

    def __init__(self) -> None:
        self._session: psycopg.Connection | None = None
        self._is_ours = False

    def is_ours(self) -> bool:
        """Try to take the lock, or check that it is still held: it is lost with the session."""
        try:
            if self._session is None:
                self._session = _session()
            # The lock is re-entrant: taken at each tick, it would need as many releases.
            has_lock = self._is_ours or self._take(self._session)
            self._session.execute("SELECT 1")
        except (psycopg.Error, OSError) as fault:
            log.warning("beat lost its database session, and asks for the lock again: %s", fault)
            self.end()
            return False
        if has_lock and not self._is_ours:
            log.info("beat: this one schedules tasks now")
        self._is_ours = has_lock
        return has_lock

    def _take(self, session: psycopg.Connection) -> bool:
        row = session.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [NAME]).fetchone()
        return row is not None and bool(row[0])

    def end(self) -> None:
        """Release the lock."""
        if self._session is not None:
            self._session.close()
        self._session, self._is_ours = None, False


def _session() -> psycopg.Connection:
    from ledger import notifications  # imported late: Django is set up by now

    parameters = notifications.parameters(NAME)
    options = f"{parameters.pop('options', '')} -c idle_session_timeout={SILENT_SECONDS}s".strip()
    return psycopg.connect(**parameters, options=options, autocommit=True)


class Scheduler(PersistentScheduler):
    """A scheduler that schedules tasks only while it holds the lock."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.turn = BeatLock()
        super().__init__(*arguments, **options)

    def tick(self, *arguments: Any, **options: Any) -> float:
        """Schedule tasks that are due, if the lock is held. Returns the seconds until the next tick."""
        if not self.turn.is_ours():
            return ASK_SECONDS
        return min(float(super().tick(*arguments, **options)), ASK_SECONDS)

    def close(self) -> None:
        self.turn.end()
        super().close()
