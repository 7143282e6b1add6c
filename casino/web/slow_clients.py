"""Limits of a connection that uvicorn lacks: `uvicorn --http casino.web.slow_clients:SlowClientProtocol`.

The proxy gives a client its time to send a request (``client_header_timeout`` and ``client_body_timeout`` in
deploy/nginx/casino.conf). Here are the limits that a site without a proxy needs against a single client, and the end
of streams when the server stops.
"""

import asyncio
import resource
import socket
from typing import Any

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_FILES = 65_536
MOST_HEAD_BYTES = 65_536
"""For a request without its body: its head, the frames of chunks, and trailers. uvicorn keeps headers and trailers in
memory without a limit; casino/web/body_limits.py limits the body."""


class SlowClientProtocol(HttpToolsProtocol):
    """A connection that is closed if its client sends headers without an end, or does not read its answer."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Have the kernel close the connection once its client acknowledges or reads nothing for
        ``READING_SECONDS``."""
        super().connection_made(transport)
        if self.client is not None:  # None at a Unix socket, which has no such option
            milliseconds = int(settings.READING_SECONDS * 1000)
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > MOST_HEAD_BYTES:
            self.transport.close()

    def on_body(self, body: bytes) -> None:
        self._head_bytes -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head_bytes = 0
        super().on_message_complete()

    def shutdown(self) -> None:
        """The server stops: end an open stream properly (``casino/web/streams.py``)."""
        super().shutdown()
        if self.cycle is not None and (end := self.cycle.scope["state"].get("end")):
            end()


def file_limit() -> int:
    """The number of files, connections included, that this process may have open."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def raise_file_limit() -> None:
    """Raise this process's limit as far as the system allows, up to ``MOST_FILES``."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
