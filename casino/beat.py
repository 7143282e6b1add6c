"""One beat at a time: `celery --app casino beat` may run on several hosts, and only one of them tells workers what is
due.

Whoever holds a lock of the database's does, for as long as its session lasts. It ends with its process or its host, and
with a host that hangs: the database ends a session that says nothing for ``SILENT_SECONDS``. Another beat then takes
over. After a failover both ask for the lock anew. Should two ever tell the same, what they ask for is done once
(ledger/runs.py).
"""

from __future__ import annotations

import logging
from typing import Any, Final

import psycopg
from celery.beat import PersistentScheduler

log = logging.getLogger(__name__)

NAME: Final = "casino beat"
"""What the database calls the session, and the lock."""
SILENT_SECONDS: Final = 10
ASK_SECONDS: Final = 2.0
"""Between two signs of life of whoever has the lock, and between two tries of whoever has not."""


class Turn:
    """The lock, and the session that holds it or waits for it."""

    def __init__(self) -> None:
        self._session: psycopg.Connection | None = None
        self._is_ours = False

    def is_ours(self) -> bool:
        """Ask for the lock, or whether it is still held: a session that was lost has lost it."""
        try:
            if self._session is None:
                self._session = _session()
            has_lock = self._is_ours or self._take(self._session)
            self._session.execute("SELECT 1")
        except (psycopg.Error, OSError) as lost:
            log.warning("beat lost the database, and asks for its turn again: %s", lost)
            self.end()
            return False
        if has_lock and not self._is_ours:
            log.info("beat: this one tells what is due")
        self._is_ours = has_lock
        return has_lock

    def _take(self, session: psycopg.Connection) -> bool:
        row = session.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [NAME]).fetchone()
        return row is not None and bool(row[0])

    def end(self) -> None:
        """Give the lock back."""
        if self._session is not None:
            self._session.close()
        self._session, self._is_ours = None, False


def _session() -> psycopg.Connection:
    from ledger import listening  # Django is set up by now

    parameters = listening.parameters(NAME)
    options = f"{parameters.pop('options', '')} -c idle_session_timeout={SILENT_SECONDS}s".strip()
    return psycopg.connect(**parameters, options=options, autocommit=True)


class Scheduler(PersistentScheduler):
    """Tells what is due in its turn alone."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.turn = Turn()
        super().__init__(*arguments, **options)

    def tick(self, *arguments: Any, **options: Any) -> float:
        """Seconds until the next."""
        if not self.turn.is_ours():
            return ASK_SECONDS
        return min(float(super().tick(*arguments, **options)), ASK_SECONDS)

    def close(self) -> None:
        self.turn.end()
        super().close()
