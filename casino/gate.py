"""Before Django: no body larger than anything that the house reads, no form in another encoding than UTF-8, and no
reader that takes nothing of its answer for a minute.

Django would take a body whole before any view or permission is asked, and decode a form by the name that it brings.
"""

import asyncio
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
"""Where the request's scope keeps which limit refused it."""
MOST_BYTES = 1_000_000
PATIENCE = 60.0
"""Seconds in which a reader has to take what it was sent, before the line is cut."""


class Refusal(Exception):
    """What is answered in place of the application."""

    def __init__(self, status: int, sentence: str, *, retry_after: int | None = None, limit: str = "") -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.retry_after = retry_after
        self.limit = limit
        """Which limit was reached, where one was."""


TOO_LARGE = Refusal(413, "The request is too large: the house reads at most a megabyte.")
NO_LENGTH = Refusal(400, "The request's length is no number.")
NOT_UTF8 = Refusal(415, "Send text in UTF-8.")
CODES = {
    400: "bad_request",
    404: "not_found",
    413: "too_large",
    415: "unsupported_media_type",
    429: "throttled",
    503: "busy",
}
"""What programs are told by each status."""


class Gate:
    """Refuses what no view should have to think of, and lets everything else pass."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        try:
            look_at(dict(scope["headers"]))
            await self.application(scope, counted(receive), timed(send))
        except Refusal as refusal:
            note_limit(scope, refusal)
            await answer(refusal, scope, send)


def look_at(headers: dict[bytes, bytes]) -> None:
    length = headers.get(b"content-length", b"0")
    if not length.isdigit():
        raise NO_LENGTH
    if len(length) > len(str(MOST_BYTES)) or int(length) > MOST_BYTES:
        raise TOO_LARGE
    content = Message()
    content["Content-Type"] = headers.get(b"content-type", b"").decode("latin-1")
    if str(content.get_param("charset", "utf-8")).lower().replace("-", "") != "utf8":
        raise NOT_UTF8


def counted(receive: Receive) -> Receive:
    """The body is read before anything is answered, so a refusal in the middle of it is still the only answer."""
    size = 0

    async def next_event() -> Event:
        nonlocal size
        event = await receive()
        size += len(event.get("body", b""))
        if size > MOST_BYTES:
            raise TOO_LARGE
        return event

    return next_event


def timed(send: Send) -> Send:
    async def send_in_time(event: Event) -> None:
        async with asyncio.timeout(PATIENCE):
            await send(event)

    return send_in_time


def note_limit(scope: Scope, refusal: Refusal) -> None:
    """For the log of requests, which tells refusals of one limit together."""
    if refusal.limit:
        scope[LIMIT] = refusal.limit
        meters.THROTTLED.labels(refusal.limit).inc()


def is_page(scope: Scope) -> bool:
    """Whether a browser opens it in a tab, where no script of ours asks again: the browser does, by ``Refresh``. A form
    that was sent is not sent again by that."""
    return scope["method"] == "GET" and b"text/html" in dict(scope["headers"]).get(b"accept", b"")


async def answer(refusal: Refusal, scope: Scope, send: Send) -> None:
    path, body, kind = scope["path"], refusal.sentence.encode(), "text/plain; charset=utf-8"
    if path.startswith("/api/"):
        refused = Refused(CODES[refusal.status], refusal.sentence, refusal.status)
        body, kind = msgspec.json.encode(problems.document(refused, path)), problems.CONTENT_TYPE
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    headers += [(b"connection", b"close"), (b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
    if refusal.retry_after:
        seconds = str(refusal.retry_after).encode()
        headers += [(b"retry-after", seconds)] + ([(b"refresh", seconds)] if is_page(scope) else [])
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
