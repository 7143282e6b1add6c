"""Device cookies: failed sign-ins from unknown devices never lock out a device on which a name has signed in before.

The browser holds a signed cookie with a nonce for each user name (OWASP: "Slow Down Online Guessing Attacks with Device
Cookies"). It grants no access. It only selects the count that an attempt falls under: the device's own, or that of all
unknown devices.
"""

from __future__ import annotations

import secrets
from typing import Final

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from tables.staff.guess_counts import called

_SALT: Final = "tables.devices"
_LONGEST_SECONDS: Final = 400 * 24 * 3600
"""Lifetime of the cookie, the maximum that browsers allow; each sign-in sets it again."""
_MOST_NAMES: Final = 16
"""User names remembered on one shared device. Above that, the name that signed in longest ago is dropped."""


def place_of(request: HttpRequest, username: str) -> str | None:
    """Key under which attempts for this name from this device are counted; None if the name never signed in on it."""
    nonce = dict(_read(request)).get(called(username))
    return f"device {nonce}" if nonce else None


def remember(request: HttpRequest, response: HttpResponse, username: str) -> None:
    """Mark this device as known for the user name, so that its attempts have a count of their own."""
    name = called(username)
    others = [pair for pair in _read(request) if pair[0] != name]
    pairs = [*others, (name, secrets.token_urlsafe(16))][-_MOST_NAMES:]
    response.set_cookie(
        _cookie(),
        signing.dumps(pairs, salt=_SALT),
        max_age=_LONGEST_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
    )


def _read(request: HttpRequest) -> list[tuple[str, str]]:
    try:
        pairs = signing.loads(request.COOKIES.get(_cookie(), ""), salt=_SALT, max_age=_LONGEST_SECONDS)
    except signing.BadSignature:
        return []
    return [(name, nonce) for name, nonce in pairs]


def _cookie() -> str:
    # Browsers accept this prefix over TLS and from this host only, so that a neighbouring host cannot plant the
    # cookie.
    return "__Host-devices" if settings.SESSION_COOKIE_SECURE else "devices"
