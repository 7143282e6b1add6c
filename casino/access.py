"""The access log: one line of JSON for each request, and two for a stream. Who, from where, what, and how it ended.

It asks the database nothing: a person is named if the request looked for them anyway. Queries are left out, and secrets
in paths; JSON escapes whatever else somebody may write into an address.
"""

import json
import logging
import time
from datetime import UTC, datetime
from typing import Any, Final

from casino import request_ids
from casino.gate import Application, Event, Receive, Scope, Send
from casino.redaction import redacted
from ledger import meters

log = logging.getLogger("casino.access")

NOTED: Final = "casino.access"
"""Where the request's scope keeps who asked."""
LOST: Final = 499
"""Who asked did not wait for an answer."""


class AccessLog:
    """Around everything else, so that what the gate refuses is logged too."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        request = Request(scope)
        request_ids.current.set(request.id)

        async def noting(event: Event) -> None:
            request.note(event)
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*event["headers"], (request_ids.HEADER, request.id.encode())]}
            await send(event)

        try:
            await self.application(scope, receive, noting)
        except Exception:
            request.status = request.status or 500
            raise
        finally:
            request.end()


class Request:
    """One request, and what was answered so far."""

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
        """It is over: counted, and written down."""
        view = self.scope.get(NOTED, {}).get("view", "-")
        meters.REQUESTS.labels(view, self.status or LOST).inc()
        if self.is_stream:
            meters.STREAMS.dec()
        else:
            meters.REQUEST_SECONDS.labels(view).observe(time.perf_counter() - self.begun)
        self.write(stream="closed" if self.is_stream else None)

    def write(self, stream: str | None = None) -> None:
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
        log.info(json.dumps(line | ({"stream": stream} if stream else {})))


def _lower(headers: Any) -> list[tuple[bytes, bytes]]:
    return [(name.lower(), value.split(b";")[0].strip()) for name, value in headers]
