"""Chooses the connection pool of a request: by its URL before any query, then by its user.

The dealers' pool is reserved for dealers: other users at those URLs are moved to the pool of pages as soon as the
session identifies them. A device whose signed cookie proves that it was enrolled signs in there too, so a crowd at the
sign-in page cannot keep a dealer out.
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
    """Must come before all middleware that reads a session."""

    def process_request(self, request: HttpRequest) -> None:
        """Choose the pool by the URL."""
        try:
            route = resolve(request.path_info)
            setattr(request, ROUTE, route)
            lane.set(of_route(request, route))
        except Resolver404:
            lane.set(Lane.PAGES)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Return the connection: the session is saved, and the rest of the time depends on the client."""
        give_back()
        return response


class LaneOfPerson(MiddlewareMixin):
    """Must come after the session is loaded."""

    def process_request(self, request: HttpRequest) -> None:
        """Move users other than dealers out of the dealers' pool. Anonymous requests have made no query yet."""
        user = request.user if lane.get() == Lane.DEALERS else None
        if isinstance(user, Staff) and user.role != Role.DEALER:
            give_back()
            lane.set(Lane.PAGES)


def of_route(request: HttpRequest, route: ResolverMatch) -> Lane:
    name = route.url_name or ""
    if name in _DOOR:
        return Lane.DEALERS if terminals.claims(request) else Lane.DOOR
    if name in _DEALERS or route.app_name in {"dealer", "api"}:
        return Lane.DEALERS
    if name.startswith(("seat", "placard")):
        return Lane.SEATS
    return Lane.EXPORTS if name.endswith("-csv") or name in _EXPORTS else Lane.PAGES
