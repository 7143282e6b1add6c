"""How a request reaches its view: in one step to one thread, and not in four between threads and the event loop.

Django under ASGI calls each request's middleware, and again its view, from the event loop. Our middleware and nearly
all views are synchronous, so each of these calls wakes a thread and is woken by it. Here a synchronous view is called
with all its middleware in one go, as under WSGI. What is written to be asynchronous, which is the live stream, is
called as Django does.
"""

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import resolve


class Handler(ASGIHandler):
    """Django's, but for the way to synchronous views."""

    def __init__(self) -> None:
        super().__init__()
        self.synchronous = BaseHandler()
        self.synchronous.load_middleware()

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        if is_asynchronous(request.path_info):
            return await super().get_response_async(request)
        return await sync_to_async(self.synchronous.get_response)(request)


def is_asynchronous(path: str) -> bool:
    try:
        return iscoroutinefunction(resolve(path).func)
    except Http404:
        return False
