"""The exception handler of DRF: each exception of a view becomes a Refused with a code, a status and a sentence."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DataError, InterfaceError, InternalError, OperationalError
from django.http import Http404, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from psycopg.errors import LockNotAvailable, QueryCanceled
from psycopg_pool import TooManyRequests
from rest_framework import exceptions

from ledger.alerts import about_the_clock
from ledger.clock import WrongClock
from ledger.connection_pools import BOOK_HELD, Busy
from ledger.replica import Unread
from tables.api import problems
from tables.refusals import Refused

# Exceptions of a database that is away, starting, stopping, or no longer the primary (InternalError).
DATABASE_AWAY: Final = (OperationalError, InterfaceError, InternalError)

AWAY: Final = Refused(
    "database_unavailable",
    "The database does not answer. What was acknowledged is safe: in a moment, do the same again.",
    503,
)

RETRY_AFTER: Final = problems.RETRY_AFTER

SLOW: Final = Refused("busy", "The house is busy. Nothing was recorded: in a moment, do the same again.", 503)

_MALFORMED: Final = (BadRequest, DataError, SuspiciousOperation, MultiPartParserError, UnreadablePostError)


def answer(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """The problem details for an exception of a view; None for a server error."""
    refused = refusal(error)
    if refused is None:
        return None
    response = problems.answer(refused, context["request"].path)
    if refused.status == 401:
        response["WWW-Authenticate"] = context["view"].get_authenticate_header(context["request"])
    if seconds := refused.facts.get("retry_after"):
        response["Retry-After"] = str(seconds)
    return response


def refusal(error: Exception) -> Refused | None:
    """The refusal for an exception; None for a server error."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, DATABASE_AWAY):
        return outage(error)
    if isinstance(error, WrongClock):
        return by_the_clock(error)
    if isinstance(error, exceptions.UnsupportedMediaType):
        return Refused("unsupported_media_type", "Send application/json.", 415)
    fault = _api_error(error)
    return None if fault is None else Refused(_code(fault), str(fault.detail), fault.status_code)


def by_the_clock(wrong: WrongClock) -> Refused:
    """The refusal of a write while the clock is wrong. Raises an alert the first time."""
    about_the_clock(wrong)
    return Refused(wrong.code, wrong.sentence, 503)


def outage(error: BaseException | None) -> Refused:
    """The refusal for a failure of the database. Nothing was recorded, so the client may repeat the request."""
    while error is not None:
        if isinstance(error, Unread):
            return Refused("replica_unavailable", error.sentence, 503)
        if isinstance(error, Busy):
            return Refused("busy", error.sentence, 503)
        if isinstance(error, LockNotAvailable):
            return Refused("book_held", BOOK_HELD, 503)
        if isinstance(error, QueryCanceled | TooManyRequests):
            return SLOW
        error = error.__context__
    return AWAY


def _api_error(error: Exception) -> exceptions.APIException | None:
    if isinstance(error, exceptions.APIException):
        return error
    if isinstance(error, Http404):
        return exceptions.NotFound()
    if isinstance(error, PermissionDenied):
        return exceptions.PermissionDenied()
    if isinstance(error, RequestDataTooBig):
        return TooLarge()
    if isinstance(error, _MALFORMED):
        return exceptions.ParseError("The request is malformed.", code="bad_request")
    return None


class TooLarge(exceptions.APIException):
    """The body is larger than any that the site reads."""

    status_code = 413
    default_code = "too_large"
    default_detail = "The body is too large."


def _code(error: exceptions.APIException) -> str:
    code = error.get_codes()
    return code if isinstance(code, str) else "bad_request"
