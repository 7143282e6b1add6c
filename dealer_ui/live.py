"""The live stream: one LISTEN per web process hears every commit, and wakes the screens that show its table.

An event is a hint, not the news: a screen that gets one reads its table again, by the sequence number in it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from weakref import WeakKeyDictionary

import psycopg
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user
from django.db import Error as DatabaseError
from django.db import close_old_connections, connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from dealer_ui.numbers import number
from ledger.surveillance import CHANNEL
from tables import doors, signin
from tables.models import Staff, Table

log = logging.getLogger(__name__)

NAME: Final = "casino live"
"""What the database calls the listening connection."""
HEARTBEAT: Final = 15.0
"""Seconds between two signs of life; at each, the stream asks anew whether this viewer may still watch."""
RETRY_MS: Final = 1_000
"""How soon a browser comes back after it lost the stream."""
ALIVE: Final = 30.0
"""Seconds of silence after which the listening connection is tried: one that died quietly is replaced."""
PAUSE: Final = 0.5
"""Seconds between two attempts to reach a database that is away."""


# --- Hearing ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class News:
    """What a screen has not been told yet: how far each book has moved, and of which books there are alerts."""

    moved: dict[int, int]
    alerts: set[int | None]


class Screen:
    """One open stream. Later news of a book replace earlier ones: a client that reads slowly is told less often,
    and never has more waiting for it than one number a table."""

    def __init__(self, heads: Mapping[int, int]) -> None:
        self._waiting = News(dict(heads), set())
        self._awake = asyncio.Event()
        if heads:
            self.alert(None)

    def tell(self, book: int, seq: int) -> None:
        """A book has moved."""
        self._waiting.moved[book] = seq
        self._awake.set()

    def alert(self, book: int | None) -> None:
        """An alert was opened or acknowledged."""
        self._waiting.alerts.add(book)
        self._awake.set()

    async def news(self, seconds: float) -> News:
        """What is new; nothing, when nothing happened for so many seconds."""
        if not self._awake.is_set():
            try:
                await asyncio.wait_for(self._awake.wait(), max(seconds, 0))
            except TimeoutError:
                return News({}, set())
        self._awake.clear()
        told, self._waiting = self._waiting, News({}, set())
        return told


class Floor:
    """What this process hears of the floor. It listens for as long as any screen is open."""

    def __init__(self) -> None:
        self._screens: set[Screen] = set()
        self._heads: dict[int, int] = {}
        self._ear: asyncio.Task[None] | None = None

    @contextmanager
    def screen(self) -> Iterator[Screen]:
        """A screen that is told where every book stands and to look at the alerts, and from then on of every change:
        its page was drawn before the stream began."""
        screen = Screen(self._heads)
        self._screens.add(screen)
        if self._ear is None or self._ear.done():
            self._ear = asyncio.create_task(self._listen())
        try:
            yield screen
        finally:
            self._screens.discard(screen)
            if not self._screens and self._ear is not None:
                self._ear.cancel()
                self._ear = None
                self._heads = {}

    async def _listen(self) -> None:
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(**_direct(), autocommit=True) as listening:
                    await listening.execute(f"LISTEN {CHANNEL}")
                    await self._hear(listening)
            except (psycopg.Error, OSError, TimeoutError) as lost:
                log.warning("the live stream lost the database, and will come back: %s", lost)
                self._heads = {}
                await asyncio.sleep(PAUSE)

    async def _hear(self, listening: psycopg.AsyncConnection[Any]) -> None:
        """Pass on what is announced. The heads are read after LISTEN began, and again after every outage and every
        silence, so no commit falls between; a screen that knows a head already is not told twice. What alerts came
        in the meantime nobody knows, so every screen looks."""
        for screen in self._screens:
            screen.alert(None)
        while True:
            async with asyncio.timeout(ALIVE):
                found = await listening.execute("SELECT id, head_seq FROM ledger_book")
                for book, seq in await found.fetchall():
                    self._move(book, seq)
            async for notice in listening.notifies(timeout=ALIVE):
                self._announce(notice.payload)

    def _announce(self, payload: str) -> None:
        try:
            news = json.loads(payload)
            book, seq = news["book"], news.get("seq")
        except (ValueError, KeyError, TypeError, AttributeError):
            log.warning("an announcement on %s is not ours: %.80r", CHANNEL, payload)
            return
        if seq is not None:
            self._move(book, seq)
        else:
            for screen in self._screens:
                screen.alert(book)

    def _move(self, book: int, seq: int) -> None:
        if self._heads.get(book, -1) < seq:
            self._heads[book] = seq
            for screen in self._screens:
                screen.tell(book, seq)


_floors: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, Floor]] = WeakKeyDictionary()


def _floor() -> Floor:
    """This process's floor: a web process has one event loop."""
    return _floors.setdefault(asyncio.get_running_loop(), Floor())


def _direct() -> dict[str, Any]:
    """How to reach the database itself: LISTEN needs a session of its own, which no pool gives."""
    parameters: dict[str, Any] = connection.get_connection_params()
    for django_only in ("cursor_factory", "context", "prepare_threshold"):
        parameters.pop(django_only, None)
    patience = {"connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    return patience | parameters | {"application_name": NAME}


# --- Telling ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Watch:
    """What a viewer may be told of: tables by their books; and whether it is the stream of one table alone."""

    tables: Mapping[int, int]
    alone: bool

    def spell(self, news: News, told: dict[int, int]) -> str:
        """The events for what is new to this viewer, noting in ``told`` how far they have been told."""
        events = []
        for book, seq in news.moved.items():
            if book in self.tables and seq > told.get(book, -1):
                told[book] = seq
                data = str(seq) if self.alone else json.dumps({"table": self.tables[book], "seq": seq})
                number = f"id: {seq}\n" if self.alone else ""
                events.append(f"event: table\n{number}data: {data}\n\n")
        if not self.alone:
            for alerted in news.alerts:
                data = json.dumps({"table": None if alerted is None else self.tables.get(alerted)})
                events.append(f"event: alert\ndata: {data}\n\n")
        return "".join(events)


async def live(request: HttpRequest) -> HttpResponseBase:
    """The floor's events; with ``?table=<id>`` those of one table alone, as its bare sequence number.

    The floor's stream has no event ids: whoever comes back is told where every table stands.
    """
    watch = await sync_to_async(_watch)(request)
    if isinstance(watch, int):
        return HttpResponse(status=watch)
    return _stream(request, watch, partial(_watch_again, request))


def of_one(request: HttpRequest, book: int, table: int, may: Callable[[], bool]) -> HttpResponseBase:
    """The events of one table, as its bare sequence number, for as long as ``may`` says that they may be told."""

    def again(watch: Watch) -> Watch | None:
        try:
            return watch if may() else None
        except DatabaseError:
            return watch
        finally:
            close_old_connections()

    return _stream(request, Watch({book: table}, alone=True), again)


Again = Callable[[Watch], Watch | None]
"""Asks anew what may be told: None for nothing any more."""


def _stream(request: HttpRequest, watch: Watch, again: Again) -> StreamingHttpResponse:
    told: dict[int, int] = {}
    if watch.alone and (last := number(request.headers.get("Last-Event-ID"))) is not None:
        told = dict.fromkeys(watch.tables, last)
    response = StreamingHttpResponse(_events(watch, told, again), content_type="text/event-stream")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


async def _events(watch: Watch, told: dict[int, int], again: Again) -> AsyncIterator[str]:
    """The stream itself. It holds no connection of the pool: the sign-in's is given back before it waits."""
    clock = asyncio.get_running_loop().time
    await sync_to_async(close_old_connections)()
    with _floor().screen() as screen:
        yield f"retry: {RETRY_MS}\n\n"
        beat = clock() + HEARTBEAT
        while True:
            news = await screen.news(beat - clock())
            if clock() >= beat:
                still = await sync_to_async(again)(watch)
                if still is None:
                    return
                watch, beat = still, clock() + HEARTBEAT
                yield ":\n\n"
            if events := watch.spell(news, told):
                yield events


def _watch(request: HttpRequest) -> Watch | int:
    """What this request may watch, or the HTTP status that refuses it: 401, 403 or 404."""
    user = request.user
    if not isinstance(user, Staff) or not user.is_active:
        return 401
    wanted = request.GET.get("table")
    floor = user.has_perm("tables.watch_floor")
    if wanted is None:
        return Watch(dict(Table.objects.values_list("book_id", "pk")), alone=False) if floor else 403
    own = doors.table_of(user) if user.has_perm("tables.deal") else None
    if not floor and (own is None or str(own.pk) != wanted):
        return 403
    found = Table.objects.filter(pk=number(wanted) or 0).values_list("book_id", "pk")
    return Watch(dict(found), alone=True) if found else 404


def _watch_again(request: HttpRequest, watch: Watch) -> Watch | None:
    """The same, asked anew: the session may have ended, the role changed, the dealer tapped out, the terminal have
    been revoked since.

    While the database is away nobody can tell, and there is no news either.
    """
    try:
        store = type(request.session)
        request.session = store(request.session.session_key)
        request.user = get_user(request)
        if signin.has_ended(request):
            return None
        again = _watch(request)
    except DatabaseError:
        return watch
    finally:
        close_old_connections()
    return None if isinstance(again, int) else again
