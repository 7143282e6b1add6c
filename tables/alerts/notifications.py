"""The worker of the alerts hears each commit of the floor, and follows the books at once.

It is a thread beside the worker's tasks, so neither the wait for beat nor a receiver that answers slowly comes between
an entry and its alert. An announcement is a hint: what it misses, the task that beat asks for finds.
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
"""Between two looks at the books: a busy floor commits thirty times a second, and one look sees all of it."""
ALIVE_SECONDS: Final = 10.0
"""Of silence, after which the books are looked at anyway: the connection may have died quietly."""
PAUSE_SECONDS: Final = 1.0
"""Between two attempts to reach a database that is away."""


def serves(queues: Iterable[str]) -> bool:
    """Whether a worker of these queues hears commits: the one for alerts alone. Others have long work to do."""
    return set(queues) == {"alerts"}


class Listener(Thread):
    """Follows the books whenever something was committed, until it is stopped."""

    def __init__(self) -> None:
        super().__init__(name=NAME, daemon=True)
        self._over = Event()

    def stop(self) -> None:
        """After the look that it is at."""
        self._over.set()

    def run(self) -> None:
        """Whatever happens to the database, it comes back."""
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
        """The books are looked at after LISTEN began, so no commit falls between."""
        while not self._over.is_set():
            began = monotonic()
            log_followers.follow()
            self._over.wait(max(began + APART_SECONDS - monotonic(), 0))
            deque(ear.notifies(timeout=ALIVE_SECONDS, stop_after=1), maxlen=0)
            deque(ear.notifies(timeout=0), maxlen=0)  # one look answers all that came meanwhile
