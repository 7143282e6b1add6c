"""Where a request comes from, as far as it can be told before the database is asked: an enrolled terminal, whatever
cookie or token is shown, an address. It is good for counting by, and never says who somebody is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from ipaddress import ip_address, ip_network
from typing import Any, Final

from django.conf import settings

from tables.staff import terminals

_ORIGIN: Final = "casino.origin"
"""Where a request's scope keeps it."""


@dataclass(frozen=True, slots=True)
class Origin:
    address: str
    """Of IPv6 the network; empty where the server knows none."""
    terminal: bytes | None
    """A digest of the token of a device that was enrolled here once: nobody can make one up."""
    session: bytes | None
    """A digest of the cookie or token that was shown. It may be made up anew for each request."""

    @property
    def place(self) -> str:
        """What is counted apart from its neighbours: a terminal by itself, everybody else by their address."""
        return f"terminal {self.terminal.hex()}" if self.terminal else self.address


def of(scope: dict[str, Any]) -> Origin:
    origin: Origin | None = scope.get(_ORIGIN)
    if origin is None:
        headers = dict(scope["headers"])
        cookies = headers.get(b"cookie", b"")
        session = headers.get(b"authorization") or _cookie(cookies, settings.SESSION_COOKIE_NAME)
        origin = scope[_ORIGIN] = Origin(
            address=_neighbourhood((scope.get("client") or [""])[0]),
            terminal=_terminal(_cookie(cookies, terminals.cookie_name())),
            session=_digest(session) if session else None,
        )
    return origin


@lru_cache
def _pattern(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?:^|;)\s*%s=([^;]*)" % re.escape(name).encode())


def _cookie(cookies: bytes, name: str) -> bytes:
    match = _pattern(name).search(cookies)
    return match[1].strip() if match else b""


def _terminal(cookie: bytes) -> bytes | None:
    token = terminals.token_of(cookie.decode("latin-1"))
    return _digest(token.encode()) if token else None


def _digest(secret: bytes) -> bytes:
    return blake2b(secret, digest_size=16).digest()


@lru_cache(maxsize=10_000)
def _neighbourhood(address: str) -> str:
    """An address; of IPv6 the network, for whoever has one has all of it."""
    try:
        wide = ip_address(address).version == 6
    except ValueError:
        return address
    return str(ip_network(f"{address}/64", strict=False)) if wide else address
