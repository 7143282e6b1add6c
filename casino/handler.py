"""How a request reaches its view: in one step to one thread, and not in four between threads and the event loop.

Django under ASGI calls each request's middleware, and again its view, from the event loop. Our middleware and views are
synchronous, so each of these calls wakes a thread and is woken by it. Here a view is called with all its middleware in
one go, as under WSGI.
"""

from typing import Final

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase
from django.urls import ResolverMatch

ROUTE: Final = "_route"
"""Where a request keeps the view that its address leads to."""


class Handler(ASGIHandler):
    """Django's, but for the way to the views."""

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        """The lane was chosen by the route: it need not be sought again."""
        match: ResolverMatch | None = getattr(request, ROUTE, None)
        if match is None:
            return super().resolve_request(request)
        request.resolver_match = match
        return match

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response)(request)
