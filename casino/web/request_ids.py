"""Each request has an id: as whoever asks names it, or a new one. It goes into every line of the logs, back in the
answer, and with the tasks that the request asks for, so that what belongs together is found by one word.
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Any, Final
from uuid import uuid4

HEADER: Final = b"x-request-id"
_NAMED: Final = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
"""Nothing that a line of a log could be broken with, or a name be hidden in."""

current: Final[ContextVar[str]] = ContextVar("request_id", default="")


def of(headers: Any) -> str:
    """The id of a request, by its headers."""
    named = next((value for name, value in headers if name.lower() == HEADER), b"")
    return named.decode() if _NAMED.fullmatch(named) else uuid4().hex
