"""Before the house asks its database who somebody is: how often an address may try to sign in.

A bucket of tries for each address, filled again at a steady pace. The buckets are in this process's memory: they hold
though everything else is away. An enrolled device is not counted here; its wrong PINs are (tables/staff/terminals.py).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from io import BytesIO
from ipaddress import ip_address, ip_network
from time import monotonic
from typing import Final

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.urls import reverse

from casino.gate import Application, Receive, Refusal, Scope, Send
from tables.staff import terminals

TOO_OFTEN: Final = Refusal(429, "Too many people sign in from this address: wait a few seconds, then try again.")
ADDRESSES: Final = 10_000
"""The addresses that are remembered; the one that was heard of longest ago is forgotten first."""


class Buckets:
    """How many tries each address has left, and when that was so."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str) -> bool:
        """One try, if there is one left."""
        moment = monotonic()
        with self._guard:
            tries, since = self._left.pop(address, (float(settings.SIGN_INS_AT_ONCE), moment))
            tries = min(settings.SIGN_INS_AT_ONCE, tries + (moment - since) * settings.SIGN_INS_A_MINUTE / 60)
            self._left[address] = (max(tries - 1, tries % 1), moment)
            if len(self._left) > ADDRESSES:
                self._left.popitem(last=False)
        return tries >= 1


class Door:
    """Sends away who tries too often, before Django and its threads hear of it: a refusal costs next to nothing."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.buckets = Buckets()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if knocks(scope) and not self.buckets.take(_neighbourhood((scope.get("client") or [""])[0])):
            raise TOO_OFTEN
        await self.application(scope, receive, send)


def knocks(scope: Scope) -> bool:
    """Whether a stranger tries to sign in. A device that was enrolled is none."""
    if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] != reverse("sign-in"):
        return False
    return terminals.claims(ASGIRequest(scope, BytesIO())) is None


def _neighbourhood(address: str) -> str:
    """An address; of IPv6 the network, for whoever has one has all of it."""
    try:
        wide = ip_address(address).version == 6
    except ValueError:
        return address
    return str(ip_network(f"{address}/64", strict=False)) if wide else address
