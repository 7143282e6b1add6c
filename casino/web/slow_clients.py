"""Time-outs and limits for slow clients: `uvicorn --http casino.web.slow_clients:SlowClientProtocol`.

A client that sends half a request, or does not read its answer, costs one open file, and not for long. A proxy in front
does the same; this protects a house without one, and against clients that get past it.
"""

import asyncio
import resource
import socket
from typing import Any

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from casino.web.body_limits import MOST_BYTES

MOST_FILES = 65_536
MOST_HEAD_BYTES = 65_536
"""For a request's first line and headers, which the parser keeps in memory for every client."""
MOST_REQUEST_BYTES = MOST_HEAD_BYTES + 4 * MOST_BYTES
"""For all of a request as it is sent: a body, and what chunks add to it."""


class SlowClientProtocol(HttpToolsProtocol):
    """A connection that is closed if its client takes too long."""

    _waiting: dict["SlowClientProtocol", None] = {}
    """The connections without a complete request, oldest first."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._request_bytes = 0
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
        """Limit the bytes that the parser takes in; casino/web/body_limits.py limits the body that a view reads. Bytes
        are counted before the parser sees them: the end of one request and the next may arrive together."""
        if self._request_bytes > (MOST_HEAD_BYTES if self._in_head else MOST_REQUEST_BYTES):
            self.give_up()
            return
        self._request_bytes += len(data)
        super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Ignore trailers after a chunked body: no code reads them, and they would fill the memory."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._request_bytes, self._in_head = 0, True
        self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:  # else the next request has already begun
            self._wait()

    def shutdown(self) -> None:
        """The server stops: end an open stream properly (``casino/web/streams.py``)."""
        super().shutdown()
        if self.cycle is not None and (end := self.cycle.scope["state"].get("end")):
            end()

    def _wait(self) -> None:
        """Queue this connection as one without a complete request; if there are too many, close the oldest."""
        self._waiting[self] = None
        if len(self._waiting) > most_waiting():
            next(iter(self._waiting)).give_up()

    def _expect(self) -> None:
        """Start the deadline for a complete request."""
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
    """Have the kernel close the connection once its client acknowledges or reads nothing for ``READING_SECONDS``."""
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family != socket.AF_UNIX:
        milliseconds = int(settings.READING_SECONDS * 1000)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)


# --- Files -----------------------------------------------------------------------------------------------------


def file_limit() -> int:
    """The number of files, connections included, that this process may have open."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def raise_file_limit() -> None:
    """Raise this process's limit as far as the system allows, up to ``MOST_FILES``."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


def most_waiting() -> int:
    """The limit for connections without a complete request: at most a quarter of the files. Streams may take half."""
    return min(settings.CONNECTIONS_WAITING, file_limit() // 4)
