"""A listener thread that handles new entries right after each commit on the floor.

It runs in the alert worker next to the tasks, so neither the beat's interval nor a slow receiver delays an alert. A
notification is only a hint: the beat's task finds what it misses.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable
from threading import Event, Thread
from time import monotonic
from typing import Final

import psycopg
from django.db import DatabaseError, connection

from ledger import notifications
from ledger.log import CHANNEL
from tables.alerts import log_followers

log = logging.getLogger(__name__)

NAME: Final = "casino alerts"
APART_SECONDS: Final = 0.25
"""Seconds between two runs: a busy floor commits thirty times a second, and one run handles all of them."""
ALIVE_SECONDS: Final = 10.0
"""Seconds of silence after which the logs are read anyway: the connection may have died unnoticed."""
PAUSE_SECONDS: Final = 1.0
"""Seconds between two attempts to reach an unavailable database."""


def serves(queues: Iterable[str]) -> bool:
    """Whether a worker of these queues listens: only the one for alerts. Other workers have long tasks."""
    return set(queues) == {"alerts"}


class Listener(Thread):
    """Handles new entries at each notification until it is stopped."""

    def __init__(self) -> None:
        super().__init__(name=NAME, daemon=True)
        self._over = Event()

    def stop(self) -> None:
        """Stop after the run in progress."""
        self._over.set()

    def run(self) -> None:
        """Listen and handle entries; reconnect after any failure of the database."""
        while not self._over.is_set():
            try:
                with psycopg.connect(**notifications.parameters(NAME), autocommit=True) as ear:
                    ear.execute(f"LISTEN {CHANNEL}")
                    self._hear(ear)
            except (psycopg.Error, DatabaseError, OSError) as lost:
                log.warning("the follower of the books lost the database, and will come back: %s", lost)
                connection.close()
                self._over.wait(PAUSE_SECONDS)
            except Exception:
                log.exception("the books could not be followed at once; the task that beat asks for goes on")
                connection.close()
                self._over.wait(PAUSE_SECONDS)
        connection.close()

    def _hear(self, ear: psycopg.Connection) -> None:
        """Handle entries at each notification. The first run follows LISTEN, so that no commit is missed."""
        while not self._over.is_set():
            began = monotonic()
            log_followers.follow()
            self._over.wait(max(began + APART_SECONDS - monotonic(), 0))
            deque(ear.notifies(timeout=ALIVE_SECONDS, stop_after=1), maxlen=0)
            deque(ear.notifies(timeout=0), maxlen=0)  # one run covers all notifications so far
