"""The open ends of streams, as the event loop keeps them: what waits for each, and when it is sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from itertools import islice
from typing import Any, Final

BATCH: Final = 100
"""Number of players' screens woken at a time."""
BREATH: Final = 0.005
"""Seconds between two such batches, in which the requests of dealers are served."""


def event(name: str, data: Mapping[str, Any]) -> bytes:
    """An event as a browser reads it: JSON, because a line's end would end the data."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


class OpenStream:
    """One open stream. A new message replaces a waiting one about the same subject.

    So a slow client gets fewer messages, and at most one message for each table waits for it.
    """

    __slots__ = ("_awake", "_ended", "_waiting")

    def __init__(self) -> None:
        self._waiting: dict[object, bytes] = {}
        self._awake = asyncio.Event()
        self._ended = False

    def put(self, about: object, message: bytes) -> None:
        """A message for the next time that the screen is woken."""
        if not self._ended:
            self._waiting[about] = message

    def wake(self) -> None:
        """Send what waits."""
        if self._waiting:
            self._awake.set()

    def end(self, farewell: bytes = b"") -> None:
        """The stream ends; of what waits nothing is sent any more."""
        self._waiting, self._ended = {None: farewell}, True
        self._awake.set()

    async def messages(self) -> AsyncIterator[bytes]:
        """The messages to send, as they arrive, until the stream ends."""
        while True:
            await self._awake.wait()
            self._awake.clear()
            waiting, self._waiting, ended = self._waiting, {}, self._ended
            yield b"".join(waiting.values())
            if ended:
                return


class Follower(OpenStream):
    """A screen that follows one table and gets its bare sequence number."""

    __slots__ = ("last_seq",)

    def __init__(self, last_seq: int) -> None:
        super().__init__()
        self.last_seq = last_seq

    def tell(self, seq: int) -> None:
        """Send the sequence number of the table, unless the screen has it already."""
        if seq > self.last_seq:
            self.last_seq = seq
            self.put("table", f"event: table\nid: {seq}\ndata: {seq}\n\n".encode())


class Crowd:
    """The players' screens that are to be woken, a batch at a time: thousands of them do not make a dealer wait."""

    def __init__(self) -> None:
        self._sleeping: dict[OpenStream, None] = {}
        self._task: asyncio.Task[None] | None = None

    def wake(self, screen: OpenStream) -> None:
        """Wake a screen when its turn comes."""
        self._sleeping[screen] = None
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def _work(self) -> None:
        while self._sleeping:
            for screen in list(islice(self._sleeping, BATCH)):
                del self._sleeping[screen]
                screen.wake()
            await asyncio.sleep(BREATH)
