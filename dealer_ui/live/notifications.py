"""Notifications of the floor in a web process: one LISTEN for the whole process, which updates every open screen.

A notification is a hint, not the news: its receiver reads the table again, by the sequence number in it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final
from weakref import WeakKeyDictionary

import psycopg

from dealer_ui.live.admission import Cards, OneTable, Watch
from dealer_ui.live.open_screens import Crowd, Follower, OpenStream
from dealer_ui.live.wall import Wall
from ledger import notifications
from ledger.log import CHANNEL

log = logging.getLogger(__name__)

NAME: Final = "casino live"
"""Application name of the listening connection in the database."""
ALIVE: Final = 30.0
"""Seconds of silence after which the listening connection is tried: one that died quietly is replaced."""
PAUSE: Final = 0.5
"""Seconds between two attempts to reach a database that is away."""


class Floor:
    """The notifications of the floor in this process. It listens while any screen is open."""

    def __init__(self) -> None:
        self._wall = Wall()
        self._followers: dict[int, set[Follower]] = defaultdict(set)
        self._players: dict[int, set[Follower]] = defaultdict(set)
        self._crowd = Crowd()
        self._open = 0
        self._heads: dict[int, int] = {}
        self._ear: asyncio.Task[None] | None = None

    def screen(self, watch: Watch) -> AbstractContextManager[OpenStream]:
        """An open screen. Its page is older than the stream, so it first gets the sequence numbers of its tables."""
        return self._cards(watch) if isinstance(watch, Cards) else self._follower(watch)

    @contextmanager
    def _cards(self, watch: Cards) -> Iterator[OpenStream]:
        with self._listening(), self._wall.screen(watch, self._heads) as screen:
            yield screen

    @contextmanager
    def _follower(self, watch: OneTable) -> Iterator[OpenStream]:
        screen = Follower(watch.last_seq)
        if watch.book in self._heads:
            screen.tell(self._heads[watch.book])
            screen.wake()
        group = self._players if watch.player else self._followers
        group[watch.book].add(screen)
        with self._listening():
            try:
                yield screen
            finally:
                group[watch.book].discard(screen)
                if not group[watch.book]:
                    del group[watch.book]

    @contextmanager
    def _listening(self) -> Iterator[None]:
        self._open += 1
        if self._ear is None or self._ear.done():
            self._ear = asyncio.create_task(self._listen())
        try:
            yield
        finally:
            self._open -= 1
            if not self._open and self._ear is not None:
                self._ear.cancel()
                self._ear, self._heads = None, {}

    async def _listen(self) -> None:
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    **notifications.parameters(NAME), autocommit=True
                ) as ear:
                    await ear.execute(f"LISTEN {CHANNEL}")
                    await self._hear(ear)
            except (psycopg.Error, OSError, TimeoutError) as lost:
                log.warning("the live stream lost the database, and will come back: %s", lost)
                await asyncio.sleep(PAUSE)

    async def _hear(self, ear: psycopg.AsyncConnection[Any]) -> None:
        """Pass notifications on.

        The heads are read after LISTEN began, and again after every outage and every silence, so no commit is missed.
        Alerts raised during an outage are unknown, so everything is drawn again.
        """
        if self._heads:
            self._wall.look_again()
        while True:
            async with asyncio.timeout(ALIVE):
                heads = await ear.execute("SELECT id, head_seq FROM ledger_book")
                for book, seq in await heads.fetchall():
                    self._move(book, seq)
            async for notice in ear.notifies(timeout=ALIVE):
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
            self._wall.alerted(book)

    def _move(self, book: int, seq: int) -> None:
        before = self._heads.get(book)
        if before is not None and before >= seq:
            return
        self._heads[book] = seq
        if before is None:
            self._wall.heard(book, seq)
        else:
            self._wall.moved(book, seq)
        for screen in self._followers.get(book, ()):
            screen.tell(seq)
            screen.wake()
        for screen in self._players.get(book, ()):
            screen.tell(seq)
            self._crowd.wake(screen)


_floors: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, Floor]] = WeakKeyDictionary()


def floor() -> Floor:
    """This process's floor: a web process has one event loop."""
    return _floors.setdefault(asyncio.get_running_loop(), Floor())
