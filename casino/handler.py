"""How a request reaches its view: in one step to one thread, and not in four between threads and the event loop.

Django under ASGI calls each request's middleware, and again its view, from the event loop. Our middleware and views are
synchronous, so each of these calls wakes a thread and is woken by it. Here a view is called with all its middleware in
one go, as under WSGI.
"""

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase


class Handler(ASGIHandler):
    """Django's, but for the way to the views."""

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response)(request)
