"""Limits sign-in attempts per address, before any database query.

An enrolled device is not counted here; its wrong PINs are (tables/staff/terminals.py).
"""

from __future__ import annotations

from functools import cache
from typing import Final

from django.conf import settings
from django.urls import reverse

from casino.web import origin
from casino.web.body_limits import Application, Receive, RefusedRequest, Scope, Send
from casino.web.buckets import Buckets

TOO_OFTEN: Final = RefusedRequest(
    "throttled", "Too many people sign in from this address: wait a few seconds, then try again.", 429, limit="sign-ins"
)


class SignInThrottle:
    """Rejects excess sign-in attempts before Django and its threads, at almost no cost."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.buckets = Buckets(at_once=settings.SIGN_INS_AT_ONCE, a_second=settings.SIGN_INS_A_MINUTE / 60)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_anonymous_sign_in(scope) and not self.buckets.take(origin.of(scope).address):
            raise TOO_OFTEN
        await self.application(scope, receive, send)


def is_anonymous_sign_in(scope: Scope) -> bool:
    """Whether a device that is not enrolled tries to sign in."""
    if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] != _sign_in():
        return False
    return origin.of(scope).terminal is None


@cache
def _sign_in() -> str:
    return reverse("sign-in")
