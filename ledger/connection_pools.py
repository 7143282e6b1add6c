"""Lanes: each kind of work has database connections of its own, so that none can starve another.

A connection is held while it works and given back while its request waits for anything else: a slow client, a turn,
a hash. casino/web/connection_pools.py assigns each request to a lane; casino/web/pool_sizes.py has the size of each.
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
    """A kind of work that has its own connections."""

    DEALERS = "dealers"
    SEATS = "seats"
    PAGES = "pages"
    DOOR = "door"
    EXPORTS = "exports"
    REPLICA = "replica"
    """What is read from another server than the one that dealers write to (see ledger/replica.py)."""
    COMMANDS = "commands"


lane: Final[ContextVar[Lane]] = ContextVar("lane", default=Lane.PAGES)
"""The lane of what is done here. Outside of a web process there are no pools, and every work is a command."""


class Busy(OperationalError):
    """Nothing was done, for want of a turn. It is answered as a database that is away for a moment."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def give_back() -> None:
    """Let others have this connection; the next query takes one again. Inside a transaction it is kept."""
    if connection.pool is not None and not connection.in_atomic_block:  # type: ignore[attr-defined]
        connection.close()


class TurnQueue:
    """A queue in this process: so many have their turn at once, so many wait for theirs, and nobody for long.

    Whoever waits holds no connection.
    """

    def __init__(self, *, places: int, queue: int, seconds: float, full: str) -> None:
        self._free = threading.BoundedSemaphore(places)
        self._queue = threading.BoundedSemaphore(queue)
        self._seconds = seconds
        self._full = full

    @contextmanager
    def turn(self) -> Iterator[None]:
        """One's turn, for as long as the block lasts. Raises Busy where the queue is full, or the wait too long."""
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
    """The line before a book. The book's lock lets one in at a time anyway; here the others wait without a
    connection, so a book that is held for long costs each process one."""
    # setdefault() settles which of two threads makes the queue of a log. Called every time, it would make one for each
    # input, and throw it away.
    return _books.get(book_id) or _books.setdefault(book_id, TurnQueue(places=1, queue=32, seconds=2, full=BOOK_HELD))
