"""No page of the house is kept by a browser or a proxy: the next person at the screen sees nothing that is not theirs.

Static files are answered before this, by WhiteNoise, and are kept for as long as their names stay the same.
"""

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware


@sync_and_async_middleware
def no_store(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    def answer(request: HttpRequest) -> HttpResponseBase:
        return marked(get_response(request))

    async def answer_async(request: HttpRequest) -> HttpResponseBase:
        return marked(await get_response(request))

    return answer_async if iscoroutinefunction(get_response) else answer


def marked(response: HttpResponseBase) -> HttpResponseBase:
    response["Cache-Control"] = "no-store, private"
    return response
