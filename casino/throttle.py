"""How often a client and an address may ask anything at all, so that one that never stops takes no time from a dealer.

An enrolled terminal has a bucket of its own, however many share its address. Everybody else has one by the cookie or
token that they show, and shares another with their address: whoever shows a new cookie each time falls under that one.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings

from casino import origin
from casino.buckets import Buckets
from casino.gate import HEALTH, Application, Receive, Refusal, Scope, Send

CLIENT: Final = Refusal(429, "This screen asks too often. Wait a second, then go on.", retry_after=1, limit="client")
ADDRESS: Final = Refusal(
    429, "Too many requests from this address. Wait a few seconds, then try again.", retry_after=2, limit="address"
)


class Throttle:
    """Refuses before Django and its threads hear of it, and asks nobody."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.clients = Buckets(at_once=settings.REQUESTS_PER_CLIENT, a_second=settings.REQUESTS_PER_CLIENT_A_SECOND)
        self.addresses = Buckets(at_once=settings.REQUESTS_PER_ADDRESS, a_second=settings.REQUESTS_PER_ADDRESS_A_SECOND)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._count(scope)
        await self.application(scope, receive, send)

    def _count(self, scope: Scope) -> None:
        """Raises Refusal. The client comes first: one that is refused uses up nothing of its neighbours'."""
        comes = origin.of(scope)
        client = comes.terminal or comes.session
        if client and not self.clients.take(client):
            raise CLIENT
        if comes.terminal is None and not self.addresses.take(_counted_as(comes.address, scope["path"])):
            raise ADDRESS


def _counted_as(address: str, path: str) -> str:
    """A proxy's question whether the house is well has a bucket of its own: refused for what others ask by the same
    proxy, it would have the house taken for dead."""
    return f"{address} {HEALTH}" if path == HEALTH else address
