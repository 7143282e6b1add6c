"""Responses to requests that fail outside their view, above all during a database outage.

Sessions are read and saved around each view, so an outage appears there first.
"""

import sys

from django.contrib.sessions.exceptions import SessionInterrupted
from django.core.exceptions import BadRequest
from django.db import DataError
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.views import defaults

from dealer_ui import outages
from ledger.clock import WrongClock
from tables.api import problems
from tables.api.errors import DATABASE_AWAY, by_the_clock, outage
from tables.refusals import Refused


def server_error(request: HttpRequest) -> HttpResponseBase:
    """The response to an unhandled exception, while Django handles it. Data that the database cannot store, such as a
    NUL or too large a number, are the client's fault."""
    # The outage comes first: errors that follow from it would name the wrong cause.
    if is_outage(sys.exception()):
        return away(request, sys.exception())
    if isinstance(wrong := sys.exception(), WrongClock):
        refused = by_the_clock(wrong)
        return problems.answer(refused, request.path) if is_api(request) else outages.answer(request, refused)
    if isinstance(sys.exception(), DataError):
        return bad_request(request, BadRequest())
    if is_api(request):
        return problems.answer(
            Refused("internal_error", "The server failed: nothing was acknowledged.", 500), request.path
        )
    return defaults.server_error(request)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """The response to a request that Django itself rejects, outside of any view."""
    if is_outage(exception):
        return away(request, exception)
    if not is_api(request):
        return defaults.bad_request(request, exception)
    if isinstance(exception, SessionInterrupted):
        return problems.answer(Refused("not_authenticated", "You were signed out meanwhile.", 401), request.path)
    return problems.answer(Refused("bad_request", "The request is malformed.", 400), request.path)


def is_outage(error: BaseException | None) -> bool:
    """Whether the database caused the error. Django turns a session that could not be saved into a bad request."""
    while error is not None and not isinstance(error, DATABASE_AWAY):
        error = error.__context__
    return error is not None


def away(request: HttpRequest, error: BaseException | None) -> HttpResponseBase:
    outages.forget_session(request)
    refused = outage(error)
    return problems.answer(refused, request.path) if is_api(request) else outages.answer(request, refused)


def is_api(request: HttpRequest) -> bool:
    return request.path.startswith(reverse("api:tables").removesuffix("tables/"))
