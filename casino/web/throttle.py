"""Rate limits for each client and address, so that a runaway client cannot slow down the dealers.

An enrolled terminal has a bucket of its own, however many share its address. Every other client has one for its cookie
or token and shares a second one with its address, which stops clients that invent a new cookie for each request.
Sign-in attempts of an address have a third one; wrong PINs at a terminal are counted by tables/staff/terminals.py.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from django.conf import settings
from django.urls import reverse

from casino.web import origin
from casino.web.body_limits import HEALTH, Application, Receive, RefusedRequest, Scope, Send
from casino.web.buckets import Buckets

CLIENT: Final = RefusedRequest(
    "throttled", "This screen asks too often. Wait a second, then go on.", 429, retry_after=1, limit="client"
)
ADDRESS: Final = RefusedRequest(
    "throttled", "Too many requests from this address. Wait a few seconds, then try again.", 429, retry_after=2,
    limit="address",
)  # fmt: skip
SIGN_INS: Final = RefusedRequest(
    "throttled", "Too many people sign in from this address: wait a few seconds, then try again.", 429, limit="sign-ins"
)


class Throttle:
    """Refuses on the event loop, before a request costs a thread or a query."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.clients = Buckets(at_once=settings.REQUESTS_PER_CLIENT, a_second=settings.REQUESTS_PER_CLIENT_A_SECOND)
        self.addresses = Buckets(at_once=settings.REQUESTS_PER_ADDRESS, a_second=settings.REQUESTS_PER_ADDRESS_A_SECOND)
        self.sign_ins = Buckets(at_once=settings.SIGN_INS_AT_ONCE, a_second=settings.SIGN_INS_A_MINUTE / 60)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._count(scope)
        await self.application(scope, receive, send)

    def _count(self, scope: Scope) -> None:
        """Raise RefusedRequest beyond a limit. The client's bucket comes first, so that a refused client does not use
        up its address's."""
        source = origin.of(scope)
        if not all(self.clients.take(client) for client in source.clients):
            raise CLIENT
        if source.is_terminal:
            return
        if not self.addresses.take(_address_key(source.address, scope["path"])):
            raise ADDRESS
        if scope["method"] == "POST" and scope["path"] == _sign_in() and not self.sign_ins.take(source.address):
            raise SIGN_INS


def _address_key(address: str, path: str) -> str:
    """The key of an address's bucket. Health checks have their own: a proxy shares its address with all its clients,
    and a refused check would make it take the process out of service."""
    return f"{address} {HEALTH}" if path == HEALTH else address


@cache
def _sign_in() -> str:
    return reverse("sign-in")
