"""Event streams without Django: it says once who may watch what, and the event loop does the rest.

An open stream costs some memory: no thread, no connection to the database, no timer of its own. How many there may be
is limited; what their viewers may watch is asked again at every heartbeat, once for all who share a right.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Final
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import Error as DatabaseError

from casino import origin
from casino.gate import HEALTH, Application, Event, Receive, Refusal, Scope, Send
from casino.patience import file_limit
from dealer_ui.live import hearing
from dealer_ui.live.admission import TICKET, Right, Ticket, that_hold
from dealer_ui.live.open_screens import BREATH, Screen
from tables.audit.watch import is_kept

PATHS: Final = re.compile(r"/live/|/seat/[^/]+/live")
RETRY_MS: Final = 1_000
"""How soon a browser comes back after it lost the stream."""
RETRY_LATER_MS: Final = 30_000
"""The same for a stream that made room for a newer one: both would take turns all day."""
HEARTBEAT: Final = 15.0
"""Seconds between two signs of life of a stream; at each, its viewer's right is asked anew."""
SLOTS: Final = 60
"""Heartbeats are spread over so many moments."""
BEATS: Final = 25
"""So many streams get theirs at a time; between two times, the requests of dealers are served."""
ASKED_AT_ONCE: Final = 4
"""So many new streams are before Django at a time; after a restart every screen comes back at once."""

STREAMS_ALONE: Final = Refusal(404, "Only live streams are served here: the proxy sends everything else elsewhere.")
TOO_MANY_THERE: Final = Refusal(
    429, "Too many screens follow the tables from this address: close some, or try again soon.", retry_after=10,
    limit="streams of an address",
)  # fmt: skip
TOO_MANY: Final = Refusal(
    429, "Too many screens follow the tables just now: try again soon.", retry_after=10, limit="streams"
)


class Streams:
    """Serves what the views of ``dealer_ui/live/admission.py`` gave a ticket for, and passes everything else on."""

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
        with streams.place(origin.of(scope).place, player=scope["path"].startswith("/seat/")):
            async with streams.desk:
                head = await self._ask(scope, receive, send)
            if head is not None:
                await self._serve(streams, scope, head, receive, send)

    async def _ask(self, scope: Scope, receive: Receive, send: Send) -> Event | None:
        """Let Django decide. Where it left a ticket, the head of its answer is kept back; else the answer is sent."""
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
            hearing.floor().screen(ticket.watch) as screen,
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
def _ended_by(scope: Scope, receive: Receive, screen: Screen) -> Iterator[None]:
    """The client's going ends a stream, and so does the server that stops (``casino/patience.py``)."""

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
    """The open streams of this process: how many there are, and whether they may stay."""

    def __init__(self) -> None:
        self.desk = asyncio.Semaphore(ASKED_AT_ONCE)
        self._most = min(settings.STREAMS_IN_ALL, file_limit() // 2)
        self._addresses: Counter[str] = Counter()
        self._holders: dict[str, dict[Screen, None]] = defaultdict(dict)
        self._slots: list[dict[Right, set[Screen]]] = [{} for _ in range(SLOTS)]
        self._due: set[Right] = set()
        self._walking: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="streams")

    # --- How many ---

    @contextmanager
    def place(self, address: str, *, player: bool) -> Iterator[None]:
        """Count a stream, also while its viewer is being looked up. Raises Refusal."""
        share = 0.75 if player else 1
        if self._addresses.total() >= share * self._most:
            raise TOO_MANY
        if self._addresses[address] >= share * settings.STREAMS_PER_ADDRESS:
            raise TOO_MANY_THERE
        self._addresses[address] += 1
        try:
            yield
        finally:
            self._addresses[address] -= 1
            if not self._addresses[address]:
                del self._addresses[address]

    @contextmanager
    def screen(self, ticket: Ticket, screen: Screen) -> Iterator[None]:
        """Keep a stream. A holder's newest ends their oldest: who loads a page again is never shut out by those that
        they left behind."""
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

    # --- Whether they may stay ---

    def _slot(self, right: Right) -> dict[Right, set[Screen]]:
        return self._slots[hash(right) % SLOTS]

    async def _walk(self) -> None:
        """Give signs of life, and ask for the rights of those who got one. A database that does not answer delays the
        asking, not the signs."""
        while any(self._slots):
            for slot in self._slots:
                await asyncio.sleep(HEARTBEAT / SLOTS)
                self._due |= slot.keys()
                if self._due and (self._asking is None or self._asking.done()):
                    self._asking = asyncio.create_task(self._ask())
                await _beat([screen for sharing in slot.values() for screen in sharing])

    async def _ask(self) -> None:
        rights, self._due = self._due, set()
        holding = await asyncio.get_running_loop().run_in_executor(self._thread, _look, rights)
        for right in rights - holding:
            for screen in tuple(self._slot(right).get(right, ())):
                screen.end()


def _look(rights: set[Right]) -> set[Right]:
    """The rights that still hold. A worker that is dead cannot say so itself: while screens are open, we look."""
    with suppress(DatabaseError):
        is_kept()
    return that_hold(rights)


async def _beat(screens: list[Screen]) -> None:
    for count, screen in enumerate(screens, 1):
        screen.put(None, b":\n\n")
        screen.wake()
        if count % BEATS == 0:
            await asyncio.sleep(BREATH)
