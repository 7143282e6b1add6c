"""The painter: starts the process that draws the cards of the floor, and asks it for them.

The process runs dealer_ui/pit/floor/painter_process.py.

A web process starts it with the first screen that watches, so that a dealer's input never waits for the interpreter
while a card is drawn; it is a little slower to get a core, too. One drawing is made at a time. What goes both ways is
msgpack with its length before it. It ends with its web process: then there is nothing more to read.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from typing import Final

import msgspec

Messages = dict[int | str, bytes]
"""Messages for screens by subject: a table's tile by its log, its whole card by ``on_page``, the strip, the alerts."""

Drawing = dict[str, Messages]
"""The messages for people of each role."""

PROGRAM: Final = "dealer_ui.pit.floor.painter_process"
LENGTH_BYTES: Final = 4
ENVIRONMENT: Final = {"CASINO_WEB_PROCESS": "yes", "WEB_PROCESSES": "1", "DATABASE_CONNECTIONS": "6"}
"""The painter uses the connections and time-outs of pages. Of six connections it has one, and opens no other."""


def on_page(book: int) -> str:
    """By which name messages have the whole card of a table, for those who watch it alone."""
    return f"page {book}"


class Order(msgspec.Struct, frozen=True):
    """A request to draw the tables of these logs for these roles, in the forms that screens show."""

    roles: tuple[str, ...]
    tiles: frozenset[int]
    """Logs whose tables are shown on the whole floor, each as a tile."""
    pages: frozenset[int]
    """Logs whose tables are shown alone, each as a whole card."""
    alerts: bool
    """Whether the open alerts have changed."""
    anew: bool
    """Whether the painter has to discard its cached state."""

    @property
    def books(self) -> frozenset[int]:
        return self.tiles | self.pages


class CannotDraw(Exception):
    """The painter failed, and its log has the cause; or it died, and the next order starts another."""


class PainterProcess:
    """The process, started when it is needed."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self.ready = False
        """Whether it drew the last order. One that begins needs a second or two before its first drawing."""

    async def draw(self, order: Order) -> Drawing:
        """Have it drawn. Raises CannotDraw."""
        try:
            drawing = await self._ask(msgspec.msgpack.encode(order))
        except (OSError, asyncio.IncompleteReadError) as death:
            self._process, self.ready = None, False
            raise CannotDraw("the painter died; another begins") from death
        self.ready = drawing is not None
        if drawing is None:
            raise CannotDraw("the painter failed")
        return drawing

    async def _ask(self, message: bytes) -> Drawing | None:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", PROGRAM, stdin=PIPE, stdout=PIPE, env=os.environ | ENVIRONMENT
            )
        writer, reader = self._process.stdin, self._process.stdout
        assert writer is not None and reader is not None  # noqa: S101, PT018
        writer.write(framed(message))
        await writer.drain()
        length = int.from_bytes(await reader.readexactly(LENGTH_BYTES))
        return msgspec.msgpack.decode(await reader.readexactly(length), type=Drawing | None)


def framed(message: bytes) -> bytes:
    return len(message).to_bytes(LENGTH_BYTES) + message
