"""Which request is in which lane: by its address before anything is asked of the database, then by who asks.

A dealer's lane is for dealers: somebody else who asks at their addresses is sent to the pages' lane as soon as the
session says who it is. A device that proves by its signed cookie that it was enrolled signs in there, too, so no
crowd at the door keeps a dealer out.
"""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, ResolverMatch, resolve
from django.utils.deprecation import MiddlewareMixin

from casino.web.request_threads import ROUTE
from ledger.connection_pools import Lane, give_back, lane
from tables.models import Staff
from tables.roles import Role
from tables.staff import terminals

_DEALERS: Final = {"home", "live", "sign-out", "healthz"}
_DOOR: Final = {"sign-in", "enrol"}
_EXPORTS: Final = {"record", "audit-bundle"}


class LaneOfRoute(MiddlewareMixin):
    """Comes before everything that reads a session."""

    def process_request(self, request: HttpRequest) -> None:
        """Choose the lane by the address."""
        try:
            route = resolve(request.path_info)
            setattr(request, ROUTE, route)
            lane.set(of_route(request, route))
        except Resolver404:
            lane.set(Lane.PAGES)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The session is saved: from here on the answer belongs to its reader, however slow."""
        give_back()
        return response


class LaneOfPerson(MiddlewareMixin):
    """Comes after the session is known."""

    def process_request(self, request: HttpRequest) -> None:
        """Nobody but dealers stays in their lane. Who is not signed in has asked the database for nothing."""
        user = request.user if lane.get() == Lane.DEALERS else None
        if isinstance(user, Staff) and user.role != Role.DEALER:
            give_back()
            lane.set(Lane.PAGES)


def of_route(request: HttpRequest, route: ResolverMatch) -> Lane:
    name = route.url_name or ""
    if name in _DOOR:
        return Lane.DEALERS if terminals.claims(request) else Lane.DOOR
    if name in _DEALERS or route.namespace in {"dealer", "api"}:
        return Lane.DEALERS
    if name.startswith(("seat", "placard")):
        return Lane.SEATS
    return Lane.EXPORTS if name.endswith("-csv") or name in _EXPORTS else Lane.PAGES
