"""How a request reaches its view: in one step to one thread, which answers it and is there for the next.

Django under ASGI makes a thread for each request, and goes to it and back for middleware, view, signals and the end of
the answer: by itself a third of what a dealer's input cost. Our middleware and views are synchronous, so here a thread
of a pool does all of it in one go, as under WSGI.
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
"""Where a request keeps the view that its address leads to."""
THREADS: Final = 1_000
"""More than ever wait in all lanes together, so that nobody waits for a thread: a lane turns away who waits too long.
A thread is made only when none is idle."""


class Handler(ASGIHandler):
    """Django's, but for the way to the views."""

    def __init__(self) -> None:
        super().__init__()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="requests")

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        """The lane was chosen by the route: it need not be sought again."""
        match: ResolverMatch | None = getattr(request, ROUTE, None)
        if match is None:
            return super().resolve_request(request)
        request.resolver_match = match
        return match

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Each request in a context of its own: language, time zone and lane are nobody else's."""
        context, loop = copy_context(), asyncio.get_running_loop()
        try:
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
        """The whole of an answer; or one that is read piece by piece, and holds no thread meanwhile."""
        with body:
            set_script_prefix(get_script_prefix(scope))
            signals.request_started.send(sender=type(self), scope=scope)
            request, refusal = self.create_request(scope, body)
            response: Any = refusal if request is None else self.get_response(request)
            response._handler_class = type(self)
            if response.streaming:
                close_old_connections()  # of this thread: what is read piece by piece is read by others
                return cast(HttpResponseBase, response)
            try:
                head = {"type": "http.response.start", "status": response.status_code, "headers": _headers(response)}
                return [head, {"type": "http.response.body", "body": response.content}]
            finally:
                response.close()

    async def _stream(self, response: HttpResponseBase, receive: Any, send: Any) -> None:
        """As long as its reader is there."""
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
