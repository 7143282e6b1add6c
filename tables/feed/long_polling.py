"""Long polling: a request for events while there are none is answered once there are some.

A waiting request occupies neither a thread nor a database connection, and one query for the feed's end serves all that
wait in a process.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Final

from asgiref.sync import sync_to_async
from django.db import DatabaseError

from ledger.connection_pools import give_back
from tables.feed import order
from tables.feed.feed_records import Feed, place_of

LONGEST: Final = 20
"""Maximum wait in seconds: less than the idle timeout of proxies."""
AT_ONCE: Final = 64
"""Maximum of requests waiting in one process; further ones are answered at once."""
LOOK_EVERY: Final = 0.5
"""Seconds between two queries."""

_guard: Final = threading.Lock()


class Waiter:
    """A place among the requests waiting in this process, until it is left."""

    taken = 0

    def __init__(self) -> None:
        with _guard:
            self.is_free = Waiter.taken < AT_ONCE
            Waiter.taken += self.is_free

    def leave(self) -> None:
        """Release the place; a second call does nothing."""
        with _guard:
            Waiter.taken -= self.is_free
            self.is_free = False


async def news(feed: Feed, seconds: int, read: Callable[[int], Feed]) -> Feed:
    """The first page with events after an empty one; an empty page after `seconds`, or if the database becomes
    unavailable."""
    deadline = time.monotonic() + seconds
    while not feed.events and time.monotonic() < deadline:
        await asyncio.sleep(LOOK_EVERY)
        try:
            feed = await sync_to_async(_look)(feed, read)
        except DatabaseError:
            return feed
    return feed


def _look(feed: Feed, read: Callable[[int], Feed]) -> Feed:
    """The next page if entries were written since. Returns the connection before the wait continues."""
    try:
        place = place_of(feed.cursor)
        return read(place) if _end.is_after(place) else feed
    finally:
        give_back()


class _End:
    """The end of the feed as this process last read it."""

    def __init__(self) -> None:
        self._looked, self._place, self._unfed = -LOOK_EVERY, 0, 0
        self._turn = threading.Lock()

    def is_after(self, place: int) -> bool:
        """Whether entries were written after a place."""
        with self._turn:
            if time.monotonic() - self._looked >= LOOK_EVERY:
                self._place, self._unfed, self._looked = order.end(), order.unfed(), time.monotonic()
            return self._unfed > 0 or self._place > place


_end: Final = _End()
