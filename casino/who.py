"""Notes for the access log who asked, and at which terminal they signed in, as far as the request knows it anyway."""

from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from casino.access import NOTED
from tables.models import Staff
from tables.signin import TERMINAL


@sync_and_async_middleware
def who(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    def answer(request: HttpRequest) -> HttpResponseBase:
        return noted(request, get_response(request))

    async def answer_async(request: HttpRequest) -> HttpResponseBase:
        return noted(request, await get_response(request))

    return answer_async if iscoroutinefunction(get_response) else answer


def noted(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    scope = getattr(request, "scope", None)
    if scope is not None:
        scope[NOTED] = {"person": person(request), "terminal": terminal(request)}
    return response


def person(request: HttpRequest) -> str:
    """Whoever signed in with this request, or was signed in before it."""
    seen = vars(request)
    for user in (seen.get("user"), seen.get("_cached_user")):
        if type(user) is Staff:  # not the lazy one, which would ask the database
            return user.signature
    return "-"


def terminal(request: HttpRequest) -> str:
    loaded: Mapping[str, Any] = getattr(getattr(request, "session", None), "_session_cache", {})
    return str(loaded.get(TERMINAL) or "-")
