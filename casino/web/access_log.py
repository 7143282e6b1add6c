"""The access log: one line of JSON for each request, two for a stream, and a summary line for throttled requests.

It makes no query of its own: a user is named only if the request loaded them. Query strings and secrets in paths are
left out; JSON escapes all other characters in an address.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any, Final

from casino.web import request_ids
from casino.web.body_limits import LIMIT, Application, Event, Receive, Scope, Send
from casino.web.redaction import redacted
from ledger import meters

log = logging.getLogger("casino.access")

NOTED: Final = "casino.access"
"""The scope's key for the person, terminal and view, which casino/web/access_identity.py sets."""
LOST: Final = 499
"""The status of a request whose client left before the answer."""
QUIET_SECONDS: Final = 10.0
"""The pause between two summary lines of one limit."""


class AccessLog:
    """The outermost layer, so that it also logs requests that the limits reject."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.refusals = Refusals()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        request = Request(scope)
        request_ids.current.set(request.id)

        async def send_noted(event: Event) -> None:
            request.note(event)
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*event["headers"], (request_ids.HEADER, request.id.encode())]}
            await send(event)

        try:
            await self.application(scope, receive, send_noted)
        except Exception:
            request.status = request.status or 500
            raise
        finally:
            request.end()
            self._write(scope, request)

    def _write(self, scope: Scope, request: Request) -> None:
        # Refusals can come by the thousand, so only their sums are written.
        limit = scope.get(LIMIT)
        if limit is None:
            request.write(**{"stream": "closed"} if request.is_stream else {})
        elif refused := self.refusals.due(limit):
            request.write(limit=limit, refused=refused)


class Refusals:
    """Sums up the refusals of each limit, so that a runaway client cannot fill the disk with log lines."""

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()
        self._lines: dict[str, float] = {}

    def due(self, limit: str) -> int:
        """Count one more refusal. Returns the number to log, or 0 if the last line of this limit is too recent."""
        self._waiting[limit] += 1
        moment = time.monotonic()
        if moment - self._lines.get(limit, -math.inf) < QUIET_SECONDS:
            return 0
        self._lines[limit] = moment
        return self._waiting.pop(limit)


class Request:
    """One request, and its answer so far."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.id = request_ids.of(scope.get("headers", ()))
        self.begun = time.perf_counter()
        self.status = 0
        self.bytes = 0
        self.is_stream = False

    def note(self, event: Event) -> None:
        self.bytes += len(event.get("body", b""))
        if event["type"] == "http.response.start":
            self.status = event["status"]
            self.is_stream = (b"content-type", b"text/event-stream") in _lower(event["headers"])
            if self.is_stream:
                meters.STREAMS.inc()
                self.write(stream="opened")

    def end(self) -> None:
        """Record the finished request in the metrics."""
        view = self.scope.get(NOTED, {}).get("view", "-")
        meters.REQUESTS.labels(view, self.status or LOST).inc()
        if self.is_stream:
            meters.STREAMS.dec()
        else:
            meters.REQUEST_SECONDS.labels(view).observe(time.perf_counter() - self.begun)

    def write(self, **about: str | int) -> None:
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "request": self.id,
            "person": "-",
            "terminal": "-",
            **self.scope.get(NOTED, {}),
            "address": (self.scope.get("client") or ("-",))[0],
            "method": self.scope["method"],
            "path": redacted(self.scope["path"]),
            "status": self.status or LOST,
            "ms": round((time.perf_counter() - self.begun) * 1000, 1),
            "bytes": self.bytes,
        }
        log.info(json.dumps(line | about))


def _lower(headers: Any) -> list[tuple[bytes, bytes]]:
    return [(name.lower(), value.split(b";")[0].strip()) for name, value in headers]
