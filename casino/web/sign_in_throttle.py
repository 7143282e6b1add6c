"""Before the house asks its database who somebody is: how often an address may try to sign in.

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
    429, "Too many people sign in from this address: wait a few seconds, then try again.", limit="sign-ins"
)


class SignInThrottle:
    """Sends away who tries too often, before Django and its threads hear of it: a refusal costs next to nothing."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.buckets = Buckets(at_once=settings.SIGN_INS_AT_ONCE, a_second=settings.SIGN_INS_A_MINUTE / 60)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if knocks(scope) and not self.buckets.take(origin.of(scope).address):
            raise TOO_OFTEN
        await self.application(scope, receive, send)


def knocks(scope: Scope) -> bool:
    """Whether a stranger tries to sign in. A device that was enrolled is none."""
    if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] != _sign_in():
        return False
    return origin.of(scope).terminal is None


@cache
def _sign_in() -> str:
    return reverse("sign-in")
