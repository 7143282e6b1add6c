"""Connection pools: each kind of work has its own database connections, so that none can starve another.

A connection is held during work and returned while its request waits for something else: a slow client, a queue, a
password hash. casino/web/connection_pools.py assigns each request to a pool; casino/web/pool_sizes.py has the sizes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import Final

from django.db import OperationalError, connection


class Lane(StrEnum):
    """A kind of work with its own connection pool."""

    DEALERS = "dealers"
    SEATS = "seats"
    PAGES = "pages"
    DOOR = "door"
    EXPORTS = "exports"
    REPLICA = "replica"
    """Reads from a different server than the one that dealers write to (see ledger/replica.py)."""
    COMMANDS = "commands"


lane: Final[ContextVar[Lane]] = ContextVar("lane", default=Lane.PAGES)
"""The pool that the current context uses. Outside of a web process there are no pools, and all work counts as a
command."""


class Busy(OperationalError):
    """Nothing was written, because no connection or turn was free in time. The client gets the response for a database
    that is briefly away."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def give_back() -> None:
    """Return this connection to its pool; the next query takes one again. In a transaction it is kept."""
    if connection.pool is not None and not connection.in_atomic_block:  # type: ignore[attr-defined]
        connection.close()


class TurnQueue:
    """A queue in this process: at most ``places`` callers run at once, at most ``queue`` wait, each for at most
    ``seconds``.

    A waiting caller holds no database connection.
    """

    def __init__(self, *, places: int, queue: int, seconds: float, full: str) -> None:
        self._free = threading.BoundedSemaphore(places)
        self._queue = threading.BoundedSemaphore(queue)
        self._seconds = seconds
        self._full = full

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A turn for the duration of the block. Raises Busy if the queue is full or the wait too long."""
        if not (self._free.acquire(blocking=False) or self._wait()):
            raise Busy(self._full)
        try:
            yield
        finally:
            self._free.release()

    def _wait(self) -> bool:
        if not self._queue.acquire(blocking=False):
            return False
        try:
            give_back()
            return self._free.acquire(timeout=self._seconds)
        finally:
            self._queue.release()


BOOK_HELD: Final = "The book is held by another task. Nothing was recorded: in a moment, do the same again."

_books: Final[dict[int, TurnQueue]] = {}


def turn_at(book_id: int) -> TurnQueue:
    """The queue for a log. The log's lock admits one writer at a time anyway; here the others wait without a
    connection, so a log that is locked for long costs each process only one."""
    # setdefault() decides which of two threads creates the queue of a log. Called each time, it would create a queue
    # for each input and discard it.
    return _books.get(book_id) or _books.setdefault(book_id, TurnQueue(places=1, queue=32, seconds=2, full=BOOK_HELD))
