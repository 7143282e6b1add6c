"""Every answer that is no success has one form: a machine-readable code, and one sentence."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DataError, InterfaceError, InternalError, OperationalError
from django.http import Http404, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from psycopg.errors import LockNotAvailable, QueryCanceled
from psycopg_pool import TooManyRequests
from rest_framework import exceptions
from rest_framework.response import Response

from ledger.alerts import about_the_clock
from ledger.clock import WrongClock
from ledger.lanes import BOOK_HELD, Busy
from tables.refusals import Refused

# What a database raises that is away, starting, stopping, or no primary any more (InternalError).
DATABASE_AWAY: Final = (OperationalError, InterfaceError, InternalError)

AWAY: Final = Refused(
    "database_unavailable",
    "The database does not answer. What was acknowledged is safe: in a moment, do the same again.",
    503,
)

RETRY_AFTER: Final = "1"
"""Seconds."""

SLOW: Final = Refused("busy", "The house is busy. Nothing was recorded: in a moment, do the same again.", 503)

_MALFORMED: Final = (BadRequest, DataError, SuspiciousOperation, MultiPartParserError, UnreadablePostError)


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """The answer to whatever a view raised; None for what nobody foresaw."""
    if isinstance(error, DATABASE_AWAY):
        away = outage(error)
        return Response(away.as_json(), away.status, headers={"Retry-After": RETRY_AFTER})
    if isinstance(error, WrongClock):
        wrong = by_the_clock(error)
        return Response(wrong.as_json(), wrong.status, headers={"Retry-After": RETRY_AFTER})
    if isinstance(error, Refused):
        return Response(error.as_json(), error.status)
    fault = _api_error(error)
    if fault is None:
        return None
    headers = {"WWW-Authenticate": fault.auth_header} if hasattr(fault, "auth_header") else {}
    return Response({"code": _code(fault), "detail": str(fault.detail)}, fault.status_code, headers=headers)


def by_the_clock(wrong: WrongClock) -> Refused:
    """Nothing is written by a clock that is wrong; the pit hears of it once."""
    about_the_clock(wrong)
    return Refused(wrong.code, wrong.sentence, 503)


def outage(error: BaseException | None) -> Refused:
    """Why the database let a request down. In every case nothing was recorded, and doing the same again is right."""
    while error is not None:
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
    """The body is larger than anything that the house reads."""

    status_code = 413
    default_code = "too_large"
    default_detail = "The body is too large."


def _code(error: exceptions.APIException) -> str:
    code = error.get_codes()
    return code if isinstance(code, str) else "bad_request"
