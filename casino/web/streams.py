"""Event streams outside Django: a view decides once what a client may watch, then the event loop serves the stream.

An open stream costs only memory: no thread, no database connection, no timer of its own. Their number is limited. At
every heartbeat the viewers' rights are checked again, once for all streams that share a right.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Final
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import Error as DatabaseError

from casino.web.body_limits import HEALTH, Application, Event, Receive, RefusedRequest, Scope, Send
from casino.web.slow_clients import file_limit
from dealer_ui.live import notifications
from dealer_ui.live.admission import TICKET, Right, Ticket, that_hold
from dealer_ui.live.open_screens import BREATH, OpenStream
from tables.audit.watch import is_kept

PATHS: Final = re.compile(r"/live/|/seat/[^/]+/live")
RETRY_MS: Final = 1_000
"""The time in milliseconds after which a browser reconnects a lost stream."""
RETRY_LATER_MS: Final = 30_000
"""The time in milliseconds after which a browser reconnects a stream that made room for a newer one: otherwise the two
would replace each other all day."""
HEARTBEAT: Final = 15.0
"""Seconds between two heartbeats of a stream. The viewer's right is checked again at each."""
SLOTS: Final = 60
"""Heartbeats are spread over this many moments of the interval."""
BEATS: Final = 25
"""The heartbeats sent in one go, before the event loop serves dealers' requests again."""
OPENED_AT_ONCE: Final = 4
"""The number of new streams that Django decides on at a time: after a restart all screens reconnect at once."""

STREAMS_ALONE: Final = RefusedRequest(
    "not_found", "This process serves only live streams: the proxy must send everything else to the web processes.", 404
)
TOO_MANY: Final = RefusedRequest(
    "throttled", "Too many screens are following the tables. Try again soon.", 429, retry_after=10, limit="streams"
)


class Streams:
    """Serves the streams that ``dealer_ui/live/admission.py`` gave a ticket for, and passes everything else on."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, Open] = WeakKeyDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not PATHS.fullmatch(scope["path"]):
            if settings.STREAMS_ALONE and scope["type"] == "http" and scope["path"] != HEALTH:
                raise STREAMS_ALONE
            await self.application(scope, receive, send)
            return
        streams = self._open.setdefault(asyncio.get_running_loop(), Open())
        with streams.place(player=scope["path"].startswith("/seat/")):
            # Django decides on a few streams at a time, so that a mass reconnection leaves threads for dealers.
            async with streams.desk:
                head = await self._admit(scope, receive, send)
            if head is not None:
                await self._serve(streams, scope, head, receive, send)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> Event | None:
        """Let Django decide. With a ticket, its answer's head is returned unsent; without one, its answer is sent."""
        head: Event | None = None

        async def hold_back(event: Event) -> None:
            nonlocal head
            if TICKET not in scope:
                await send(event)
            elif event["type"] == "http.response.start":
                head = event

        await self.application(scope, receive, hold_back)
        return head

    async def _serve(self, streams: Open, scope: Scope, head: Event, receive: Receive, send: Send) -> None:
        ticket: Ticket = scope[TICKET]
        with (
            notifications.floor().screen(ticket.watch) as screen,
            streams.screen(ticket, screen),
            _ended_by(scope, receive, screen),
        ):
            await send(head)
            await send(_body(f"retry: {RETRY_MS}\n\n".encode()))
            async for message in screen.messages():
                await send(_body(message))
            await send({"type": "http.response.body"})


def _body(content: bytes) -> Event:
    return {"type": "http.response.body", "body": content, "more_body": True}


@contextmanager
def _ended_by(scope: Scope, receive: Receive, screen: OpenStream) -> Iterator[None]:
    """End the stream when its client disconnects or the server stops (``casino/web/slow_clients.py``)."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        screen.end()

    scope.setdefault("state", {})["end"] = screen.end
    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()


class Open:
    """The open streams of this process: their number, and their viewers' rights."""

    def __init__(self) -> None:
        self.desk = asyncio.Semaphore(OPENED_AT_ONCE)
        self._most = min(settings.STREAMS_IN_ALL, file_limit() // 2)
        self._number = 0
        self._holders: dict[str, dict[OpenStream, None]] = defaultdict(dict)
        self._slots: list[dict[Right, set[OpenStream]]] = [{} for _ in range(SLOTS)]
        self._due: set[Right] = set()
        self._walking: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="streams")

    # --- Limits ---

    @contextmanager
    def place(self, *, player: bool) -> Iterator[None]:
        """Count a stream from before its viewer is looked up. Raises RefusedRequest."""
        # A quarter is reserved for staff, so that no number of players can lock a dealer out.
        if self._number >= (0.75 if player else 1) * self._most:
            raise TOO_MANY
        self._number += 1
        try:
            yield
        finally:
            self._number -= 1

    @contextmanager
    def screen(self, ticket: Ticket, screen: OpenStream) -> Iterator[None]:
        """Register a stream. A holder's newest stream ends their oldest, so that reloading a page always works, even if
        the browser left old streams open."""
        own = self._holders[ticket.holder]
        while len(own) >= ticket.most:
            oldest = next(iter(own))
            del own[oldest]
            oldest.end(f"retry: {RETRY_LATER_MS}\n\n".encode())
        own[screen] = None
        sharing = self._slot(ticket.right).setdefault(ticket.right, set())
        sharing.add(screen)
        if self._walking is None or self._walking.done():
            self._walking = asyncio.create_task(self._walk())
        try:
            yield
        finally:
            own.pop(screen, None)
            if not own:
                self._holders.pop(ticket.holder, None)
            sharing.discard(screen)
            if not sharing:
                self._slot(ticket.right).pop(ticket.right, None)

    # --- Rights ---

    def _slot(self, right: Right) -> dict[Right, set[OpenStream]]:
        return self._slots[hash(right) % SLOTS]

    async def _walk(self) -> None:
        """Send heartbeats, and check the rights of the streams that got one. A database that does not answer delays the
        checks, not the heartbeats."""
        while any(self._slots):
            for slot in self._slots:
                await asyncio.sleep(HEARTBEAT / SLOTS)
                self._due |= slot.keys()
                if self._due and (self._checking is None or self._checking.done()):
                    self._checking = asyncio.create_task(self._check())
                await _beat([screen for sharing in slot.values() for screen in sharing])

    async def _check(self) -> None:
        rights, self._due = self._due, set()
        valid = await asyncio.get_running_loop().run_in_executor(self._thread, _valid, rights)
        for right in rights - valid:
            for screen in tuple(self._slot(right).get(right, ())):
                screen.end()


def _valid(rights: set[Right]) -> set[Right]:
    """The rights that are still valid. Also checks that scheduled checks are running: a dead worker cannot raise its
    own alert."""
    with suppress(DatabaseError):
        is_kept()
    return that_hold(rights)


async def _beat(screens: list[OpenStream]) -> None:
    for count, screen in enumerate(screens, 1):
        screen.put(None, b":\n\n")
        screen.wake()
        if count % BEATS == 0:
            await asyncio.sleep(BREATH)
