"""How long the web process waits for its clients: `uvicorn --http casino.patience:Patience`.

Whoever sends half a request, or does not read what they asked for, takes a file and nothing else, and not for long. A
proxy in front does the same; this holds where there is none, and against whoever reaches past it.
"""

import asyncio
import resource
import socket
from typing import Any

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

IDLE_SECONDS = 75
"""How long a connection may be idle between two requests: longer than a proxy keeps it, so that none is closed just as
a request comes."""
MOST_FILES = 65_536
MOST_HEAD_BYTES = 65_536
"""Of a request's first line and headers: the parser keeps all of them, and any number of clients may send some."""


class Patience(HttpToolsProtocol):
    """Connections that end when their client does not come to a point."""

    _waiting: dict["Patience", None] = {}
    """The connections that have no whole request, the one that waits longest first."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.timeout_keep_alive = IDLE_SECONDS
        self._deadline: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        end_unread(transport)
        self._wait()
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_waiting()

    def data_received(self, data: bytes) -> None:
        """What was read before without a whole head counts; a body is counted where it is read (casino/gate.py)."""
        if self._in_head and self._head_bytes > MOST_HEAD_BYTES:
            self.give_up()
            return
        self._head_bytes += len(data)
        super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._head_bytes, self._in_head = 0, True
        self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:  # else the next request came already
            self._wait()

    def shutdown(self) -> None:
        """The server stops: a stream that is open ends in good order (``casino/streams.py``)."""
        super().shutdown()
        if self.cycle is not None and (end := self.cycle.scope["state"].get("end")):
            end()

    def _wait(self) -> None:
        """Without a whole request from here on; whoever waits longest makes room for the newest."""
        self._waiting[self] = None
        if len(self._waiting) > most_waiting():
            next(iter(self._waiting)).give_up()

    def _expect(self) -> None:
        """A whole request is due."""
        if self._deadline is None:
            self._deadline = self.loop.call_later(settings.REQUEST_SECONDS, self.give_up)

    def _stop_waiting(self) -> None:
        self._waiting.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def give_up(self) -> None:
        self._stop_waiting()
        self.transport.close()


def end_unread(transport: asyncio.BaseTransport) -> None:
    """Let the kernel end a connection whose client acknowledges nothing, or reads nothing, for so long."""
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family != socket.AF_UNIX:
        milliseconds = int(settings.READING_SECONDS * 1000)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)


# --- Files -----------------------------------------------------------------------------------------------------


def file_limit() -> int:
    """How many files this process may have open, connections included."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def raise_file_limit() -> None:
    """As many as the system lets this process have, up to a sensible number."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


def most_waiting() -> int:
    """So many connections may be without a whole request: a quarter of the files. Streams take a half at most."""
    return min(settings.CONNECTIONS_WAITING, file_limit() // 4)
