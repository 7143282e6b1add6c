"""Runs each request in one thread of a pool, from middleware to response.

Django under ASGI starts a thread per request and switches between it and the event loop for middleware, view, signals
and closing: a third of the cost of a dealer's input. All middleware and views here are synchronous, so one thread can
do all of it, as under WSGI.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import IO, Any, Final, cast

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponseBase
from django.urls import ResolverMatch, set_script_prefix

Event = Mapping[str, Any]

ROUTE: Final = "_route"
"""The request's attribute with the route that was resolved early."""
THREADS: Final = 1_000
"""More than all pools admit and all tables let wait (``ledger/connection_pools.py``) before rate limits apply: this
pool itself must never make a request wait. Threads are started only if none is idle."""


class Handler(ASGIHandler):
    """Django's handler, with its own thread pool."""

    def __init__(self) -> None:
        super().__init__()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="requests")

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        """Reuse the route that was resolved to choose the connection pool."""
        match: ResolverMatch | None = getattr(request, ROUTE, None)
        if match is None:
            return super().resolve_request(request)
        request.resolver_match = match
        return match

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request in its own context, because language, time zone and connection pool are context
        variables."""
        context, loop = copy_context(), asyncio.get_running_loop()
        try:
            # The body is read on the event loop: a slow client must not occupy a thread.
            body = await self.read_body(receive)
        except RequestAborted:
            return
        answer = await loop.run_in_executor(self._threads, context.run, self._answer, scope, body)
        if isinstance(answer, HttpResponseBase):
            await loop.create_task(self._stream(answer, receive, send), context=context)
            return
        for event in answer:
            await send(event)

    def _answer(self, scope: Any, body: IO[bytes]) -> list[Event] | HttpResponseBase:
        """A complete answer as events, or a streaming response, which must not occupy the thread while it is read."""
        with body:
            set_script_prefix(get_script_prefix(scope))
            signals.request_started.send(sender=type(self), scope=scope)
            request, refusal = self.create_request(scope, body)
            response: Any = refusal if request is None else self.get_response(request)
            response._handler_class = type(self)
            if response.streaming:
                close_old_connections()  # of this thread: the stream is read in other threads
                return cast(HttpResponseBase, response)
            try:
                head = {"type": "http.response.start", "status": response.status_code, "headers": _headers(response)}
                return [head, {"type": "http.response.body", "body": response.content}]
            finally:
                response.close()

    async def _stream(self, response: HttpResponseBase, receive: Any, send: Any) -> None:
        """Send until the response ends or the client disconnects."""
        async with ThreadSensitiveContext():
            sending = asyncio.create_task(self.send_response(response, send))
            departure = asyncio.create_task(self.listen_for_disconnect(receive))
            try:
                await asyncio.wait((sending, departure), return_when=asyncio.FIRST_COMPLETED)
                if sending.done():
                    sending.result()
            finally:
                sending.cancel()
                departure.cancel()
                await asyncio.gather(sending, departure, return_exceptions=True)
                await sync_to_async(response.close)()


def _headers(response: HttpResponseBase) -> list[tuple[bytes, bytes]]:
    headers = [(name.encode("ascii"), value.encode("latin1")) for name, value in response.items()]
    cookies = (cookie.output(header="").strip() for cookie in response.cookies.values())
    return headers + [(b"Set-Cookie", cookie.encode("ascii")) for cookie in cookies]
