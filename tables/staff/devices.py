"""Devices on which somebody has signed in by name: strangers' failures elsewhere never lock those out.

The browser holds a signed cookie with a nonce for each name (OWASP: "Slow Down Online Guessing Attacks with Device
Cookies"). It opens nothing. It says only whose failures a try counts with: its own, or those of everybody unknown.
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
"""As long as browsers keep a cookie; it is set anew at every sign-in."""
_MOST_NAMES: Final = 16
"""So many people share one desk. Who came longest ago is a stranger there again."""


def place_of(request: HttpRequest, username: str) -> str | None:
    """This device, as the place that a name's tries are counted at; None where the name never signed in on it."""
    nonce = dict(_read(request)).get(called(username))
    return f"device {nonce}" if nonce else None


def remember(request: HttpRequest, response: HttpResponse, username: str) -> None:
    """From now on this is a device of the name's own, with a count of its own."""
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
    # With this prefix a browser takes the cookie from this host over TLS alone, so no neighbour can plant one.
    return "__Host-devices" if settings.SESSION_COOKIE_SECURE else "devices"
