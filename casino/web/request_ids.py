"""Request ids: the client's, if valid, or a new one. The id is in each log line, in the answer, and in the tasks that
the request queues, so that all of them can be found together."""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Any, Final
from uuid import uuid4

HEADER: Final = b"x-request-id"
_NAMED: Final = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
"""Only characters that cannot break a log line or hide a second entry in it."""

current: Final[ContextVar[str]] = ContextVar("request_id", default="")


def of(headers: Any) -> str:
    """The id of a request from its headers."""
    named = next((value for name, value in headers if name.lower() == HEADER), b"")
    return named.decode() if _NAMED.fullmatch(named) else uuid4().hex
