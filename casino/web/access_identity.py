"""Adds the user and the terminal to the access log, as far as the request has loaded them already."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from casino.web.access_log import NOTED
from tables.models import ServiceAccount, Staff
from tables.staff.sign_in import TERMINAL


def identify(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    return lambda request: with_identity(request, get_response(request))


def with_identity(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    scope = getattr(request, "scope", None)
    if scope is not None:
        scope[NOTED] = {"person": person(request), "terminal": terminal(request), **place(request)}
    return response


def person(request: HttpRequest) -> str:
    """The signature of the user who was signed in, or signed in with this request; "-" if unknown."""
    attributes = vars(request)
    for user in (attributes.get("user"), attributes.get("_cached_user")):
        if type(user) is Staff or type(user) is ServiceAccount:  # the lazy object would query the database
            return user.signature
    return "-"


def place(request: HttpRequest) -> dict[str, str | int]:
    """The view that answered, and the table in its URL."""
    match = getattr(request, "resolver_match", None)
    if match is None:
        return {}
    view = {"view": match.view_name or match.route}
    is_of_table = "tables/<int:pk>/" in match.route or match.namespace == "dealer"
    return {**view, "table": match.kwargs["pk"]} if is_of_table and "pk" in match.kwargs else view


def terminal(request: HttpRequest) -> str:
    loaded: Mapping[str, Any] = getattr(getattr(request, "session", None), "_session_cache", {})
    return str(loaded.get(TERMINAL) or "-")
