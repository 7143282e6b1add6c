"""Refusals as problem details (RFC 9457), and the page to which the type of each refers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from django.conf import settings
from django.http import HttpResponse

from tables.api import versions
from tables.api.versions import ROOTS, UNVERSIONED, V1, Version
from tables.refusals import Refused

CONTENT_TYPE: Final = "application/problem+json"
RETRY_AFTER: Final = "1"
"""Seconds."""
CODES: Final = Path(__file__).with_name("problem_codes.txt")
"""All codes with their statuses: ``casino/api_files.py`` collects them from the code."""

ADVICE: Final = {
    400: "The request is not in the form that the schema describes: the detail names the place. Sent again as it is, it"
    " is refused again.",
    401: "Nobody is signed in, or a token has ended. Sign in, then send it again.",
    403: "Whoever asks may not do this. Somebody else has to, or the house has to choose otherwise for their role.",
    404: "There is nothing at this address for whoever asks.",
    405: "The address is right and the method is not: the Allow header names those that there are.",
    406: "The API answers in application/json, and in application/problem+json where it refuses.",
    409: "The request does not fit how things stand now. Read again what it is about, then decide anew.",
    410: "It was there once, and is over for good.",
    413: "The body is larger than anything that is read at this address.",
    415: "Send the body as application/json, in UTF-8.",
    422: "The form is right and a value is not: the detail says what would be right.",
    429: "Too many requests: wait for as many seconds as the Retry-After header says.",
    500: "The server failed, and nothing was acknowledged. Send a write again under its key, and tell an operator.",
    503: "The house is busy or its database away, and nothing was recorded. Wait for as many seconds as Retry-After"
    " says, then send the same again under the same key.",
}
"""Advice to a client, by status."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing was done. Some codes come with further members, such as the current ``seq``."""

    type: str
    """The address of a page about this code."""
    title: str
    status: int
    detail: str
    """One sentence: what is wrong, and what would be right."""
    instance: str
    """The address that was asked."""
    code: str


def document(refused: Refused, path: str) -> dict[str, Any]:
    """The problem details of a refusal, in the version of the address."""
    version = versions.of_path(path)
    problem = Problem(
        type=page_of(refused.code, version),
        title=title(refused.code),
        status=refused.status,
        detail=refused.sentence,
        instance=path,
        code=refused.code,
    )
    errors = [{"pointer": pointer, "detail": detail} for pointer, detail in refused.errors]
    own = {"errors": errors} if errors and version == V1 else {}
    return refused.facts | msgspec.to_builtins(problem) | own


def answer(refused: Refused, path: str) -> HttpResponse:
    """The response to a refusal. It is no ``Response`` of DRF, because requests are also refused outside of its views
    (``casino/web/failures.py``, ``casino/ops/metrics.py``), and no ``Accept`` header may suppress a refusal."""
    body = msgspec.json.encode(document(refused, path))
    response = HttpResponse(body, content_type=CONTENT_TYPE, status=refused.status)
    if refused.status == 503:
        response["Retry-After"] = RETRY_AFTER
    return response


def page_of(code: str, version: Version = UNVERSIONED) -> str:
    """The URL of a code's page: absolute in v1. It is not resolved by Django, because requests are also refused before
    Django (``casino/web/body_limits.py``)."""
    return f"{settings.HOUSE_ADDRESS.rstrip('/') if version == V1 else ''}{ROOTS[version]}problems/{code}/"


def title(code: str) -> str:
    """A code in words: the kind of problem, without details of the request."""
    words = code.replace("_", " ")
    return words[:1].upper() + words[1:]


@cache
def statuses() -> dict[str, tuple[int, ...]]:
    """All codes with their statuses."""
    lines = (line.split() for line in CODES.read_text().splitlines())
    return {code: tuple(map(int, numbers)) for code, *numbers in lines}
