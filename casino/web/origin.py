"""The origin of a request, as far as its headers show: an enrolled terminal, a cookie or token, an address.

Rate limits count by it before any database query. It identifies a client, never a person.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

from django.conf import settings

from tables.staff import guess_counts, terminals

_ORIGIN: Final = "casino.origin"
"""The scope's key for the origin, which is computed once per request."""


@dataclass(frozen=True, slots=True)
class Origin:
    address: str
    """For IPv6 the /64 network; empty if the server knows none."""
    terminal: bytes | None
    """Digest of the signed token of a device that was enrolled here: it cannot be forged. None without one."""
    session: bytes | None
    """Digest of the session cookie; None without one."""
    token: bytes | None
    """Digest of the API token; None without one."""

    @property
    def clients(self) -> list[bytes]:
        """The keys to count the client by. A client may invent a session or a token for each request, and an invented
        one must not hide the other, so each counts."""
        return [key for key in (self.terminal or self.session, self.token) if key]


def of(scope: dict[str, Any]) -> Origin:
    origin: Origin | None = scope.get(_ORIGIN)
    if origin is None:
        cookies = b"; ".join(_headers(scope, b"cookie"))
        session = _cookie(cookies, settings.SESSION_COOKIE_NAME)
        token = b"".join(_headers(scope, b"authorization"))
        origin = scope[_ORIGIN] = Origin(
            address=guess_counts.network_of((scope.get("client") or [""])[0]),
            terminal=_terminal(_cookie(cookies, terminals.cookie_name())),
            session=_digest(session) if session else None,
            token=_digest(token) if token else None,
        )
    return origin


@lru_cache
def _pattern(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?:^|;)\s*%s=([^;]*)" % re.escape(name).encode())


def _headers(scope: dict[str, Any], name: bytes) -> list[bytes]:
    return [value for header, value in scope["headers"] if header == name]


def _cookie(cookies: bytes, name: str) -> bytes:
    """The value of the last cookie with this name, which is the one that Django uses; empty if there is none."""
    values = _pattern(name).findall(cookies)
    return values[-1].strip() if values else b""


def _terminal(cookie: bytes) -> bytes | None:
    token = terminals.token_of(cookie.decode("latin-1"))
    return _digest(token.encode()) if token else None


def _digest(secret: bytes) -> bytes:
    return blake2b(secret, digest_size=16).digest()
