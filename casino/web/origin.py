"""The origin of a request, as far as its headers show: an enrolled terminal, a cookie or token, an address.

Rate limits count by it before any database query. It identifies a client, never a person.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from django.conf import settings

from tables.staff import guess_counts, terminals


@dataclass(frozen=True, slots=True)
class Origin:
    address: str
    """For IPv6 the /64 network; empty if the server knows none."""
    is_terminal: bool
    """Whether the request shows the signed token of a device that was enrolled here: it cannot be forged."""
    clients: list[bytes]
    """The keys to count the client by: digests of the terminal's token or else of the session cookie, and of the API
    token. A client may invent a session or a token for each request, and an invented one must not hide the other, so
    each counts."""


def of(scope: dict[str, Any]) -> Origin:
    cookies = b"; ".join(_headers(scope, b"cookie"))
    terminal = terminals.token_of(_cookie(cookies, terminals.cookie_name()).decode("latin-1"))
    client = terminal.encode() if terminal else _cookie(cookies, settings.SESSION_COOKIE_NAME)
    token = b"".join(_headers(scope, b"authorization"))
    return Origin(
        address=guess_counts.network_of((scope.get("client") or [""])[0]),
        is_terminal=bool(terminal),
        clients=[_digest(secret) for secret in (client, token) if secret],
    )


@lru_cache
def _pattern(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?:^|;)\s*%s=([^;]*)" % re.escape(name).encode())


def _headers(scope: dict[str, Any], name: bytes) -> list[bytes]:
    return [value for header, value in scope["headers"] if header == name]


def _cookie(cookies: bytes, name: str) -> bytes:
    """The value of the last cookie with this name, which is the one that Django uses; empty if there is none."""
    values = _pattern(name).findall(cookies)
    return values[-1].strip() if values else b""


def _digest(secret: bytes) -> bytes:
    return blake2b(secret, digest_size=16).digest()
