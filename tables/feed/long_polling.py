"""Waiting for what happens next: whoever asks for news when there are none is answered as soon as there are some.

Nobody who waits holds a thread or a connection, and one look at the feed's end serves all that wait in a process.
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
"""Seconds: less than what proxies take for a dead line."""
AT_ONCE: Final = 64
"""So many wait in one process; whoever comes then is answered at once."""
LOOK_EVERY: Final = 0.5
"""Seconds."""

_guard: Final = threading.Lock()


class Waiter:
    """One that waits in this process, until it leaves."""

    taken = 0

    def __init__(self) -> None:
        with _guard:
            self.is_free = Waiter.taken < AT_ONCE
            Waiter.taken += self.is_free

    def leave(self) -> None:
        """However it ended; once."""
        with _guard:
            Waiter.taken -= self.is_free
            self.is_free = False


async def news(feed: Feed, seconds: int, read: Callable[[int], Feed]) -> Feed:
    """What follows an empty page, as soon as something does that is asked for; the last empty page after so long, or
    where the database goes away."""
    deadline = time.monotonic() + seconds
    while not feed.events and time.monotonic() < deadline:
        await asyncio.sleep(LOOK_EVERY)
        try:
            feed = await sync_to_async(_look)(feed, read)
        except DatabaseError:
            return feed
    return feed


def _look(feed: Feed, read: Callable[[int], Feed]) -> Feed:
    """The next page, if anything was written. The connection goes back before anybody waits on."""
    try:
        place = place_of(feed.cursor)
        return read(place) if _end.is_after(place) else feed
    finally:
        give_back()


class _End:
    """The end of the feed as this process saw it last."""

    def __init__(self) -> None:
        self._looked, self._place, self._unfed = -LOOK_EVERY, 0, 0
        self._turn = threading.Lock()

    def is_after(self, place: int) -> bool:
        """Whether something was written after a place."""
        with self._turn:
            if time.monotonic() - self._looked >= LOOK_EVERY:
                self._place, self._unfed, self._looked = order.end(), order.unfed(), time.monotonic()
            return self._unfed > 0 or self._place > place


_end: Final = _End()
