"""Rejects, before Django, oversized bodies and forms that are not UTF-8.

Django would read a body whole before any view or permission check, and decode a form in any encoding that it claims.
"""

from collections.abc import Awaitable, Callable, Mapping
from email.message import Message
from typing import Any

import msgspec

from ledger import meters
from tables.api import problems
from tables.refusals import Refused

Scope = dict[str, Any]
Event = Mapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

HEALTH = "/healthz"
LIMIT = "casino.limit"
"""The scope's key for the limit that refused the request."""
MOST_BYTES = 1_000_000


class RefusedRequest(Refused):
    """An answer that replaces the application's."""

    def __init__(
        self, code: str, sentence: str, status: int, *, retry_after: int | None = None, limit: str = ""
    ) -> None:
        super().__init__(code, sentence, status)
        self.retry_after = retry_after
        self.limit = limit
        """The name of the limit that was reached, for the access log; empty if it was none."""


TOO_LARGE = RefusedRequest("too_large", "The request is too large: the house reads at most a megabyte.", 413)
NOT_UTF8 = RefusedRequest("unsupported_media_type", "Send text in UTF-8.", 415)


class BodyLimits:
    """Rejects requests that no view should have to handle, and answers any RefusedRequest that the application
    raises."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        try:
            check_headers(dict(scope["headers"]))
            await self.application(scope, limited(receive), send)
        except RefusedRequest as refusal:
            note_limit(scope, refusal)
            await answer(refusal, scope, send)


def check_headers(headers: dict[bytes, bytes]) -> None:
    if int(headers.get(b"content-length", 0)) > MOST_BYTES:  # uvicorn's parser accepts no length but a 64-bit number
        raise TOO_LARGE
    content = Message()
    content["Content-Type"] = headers.get(b"content-type", b"").decode("latin-1")
    if str(content.get_param("charset", "utf-8")).lower().replace("-", "") != "utf8":
        raise NOT_UTF8


def limited(receive: Receive) -> Receive:
    """Limit a body: the returned function raises RefusedRequest as soon as it is too large. No answer has begun by
    then, because the body is read first."""
    size = 0

    async def next_event() -> Event:
        nonlocal size
        event = await receive()
        size += len(event.get("body", b""))
        if size > MOST_BYTES:
            raise TOO_LARGE
        return event

    return next_event


def note_limit(scope: Scope, refusal: RefusedRequest) -> None:
    """Count a refusal, and mark the scope so that the access log can sum up the refusals of each limit."""
    if refusal.limit:
        scope[LIMIT] = refusal.limit
        meters.THROTTLED.labels(refusal.limit).inc()


def is_page(scope: Scope) -> bool:
    """Whether a browser loads it as a page. No script retries that, so the browser must, by ``Refresh``; a submitted
    form is never retried."""
    return scope["method"] == "GET" and b"text/html" in dict(scope["headers"]).get(b"accept", b"")


async def answer(refusal: RefusedRequest, scope: Scope, send: Send) -> None:
    path, body, kind = scope["path"], refusal.sentence.encode(), "text/plain; charset=utf-8"
    if path.startswith("/api/"):
        body, kind = msgspec.json.encode(problems.document(refusal, path)), problems.CONTENT_TYPE
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    headers += [(b"connection", b"close"), (b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
    if refusal.retry_after:
        seconds = str(refusal.retry_after).encode()
        headers += [(b"retry-after", seconds)] + ([(b"refresh", seconds)] if is_page(scope) else [])
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
