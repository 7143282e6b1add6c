"""Every answer that is no success has one form: a machine-readable code, and one sentence."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DataError, InterfaceError, InternalError, OperationalError
from django.http import Http404, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions
from rest_framework.response import Response

from ledger.alerts import about_the_clock
from ledger.clock import WrongClock
from tables.refusals import Refused

# What a database raises that is away, starting, stopping, or no primary any more (InternalError).
DATABASE_AWAY: Final = (OperationalError, InterfaceError, InternalError)

AWAY: Final = Refused(
    "database_unavailable",
    "The database does not answer. What was acknowledged is safe: in a moment, do the same again.",
    503,
)

_MALFORMED: Final = (BadRequest, DataError, SuspiciousOperation, MultiPartParserError, UnreadablePostError)


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """The answer to whatever a view raised; None for what nobody foresaw."""
    if isinstance(error, DATABASE_AWAY):
        return Response(AWAY.as_json(), AWAY.status, headers={"Retry-After": "1"})
    if isinstance(error, WrongClock):
        about_the_clock(error)
        return Response({"code": error.code, "detail": error.sentence}, 503, headers={"Retry-After": "1"})
    if isinstance(error, Refused):
        return Response(error.as_json(), error.status)
    known = _known(error)
    if known is None:
        return None
    headers = {"WWW-Authenticate": known.auth_header} if hasattr(known, "auth_header") else {}
    return Response({"code": _code(known), "detail": str(known.detail)}, known.status_code, headers=headers)


def _known(error: Exception) -> exceptions.APIException | None:
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
