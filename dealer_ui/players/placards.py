"""Placards: public pages for a sign at the table, a television or a phone. No sign-in, no session, no cookie.

A page is drawn at most once in a few seconds a process, however many look; a poll that finds nothing new costs neither
a query nor a drawing, and is answered by its tag alone. Proxies may keep it for as long.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from typing import Any, Final

import segno
from csp.constants import NONE, SELF
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET

from dealer_ui.outages import forget_session
from dealer_ui.players.placard_context import placard_of, placards_of
from tables.limits import placard_address as addresses
from tables.models import Table
from tables.setup import pits, site_identity

POLICY: Final = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF],
    "img-src": [SELF],
    "font-src": [SELF],
    "connect-src": [SELF],
    "base-uri": [NONE],
    "form-action": [NONE],
    "frame-ancestors": [NONE],
}
KEPT_SECONDS: Final = 5
"""So old a placard may be. A change of limits is announced long before."""
REQUESTS_A_MINUTE: Final = 1_200
"""From one address at each process: the phones of a whole floor behind one router ask less."""
STRANGERS_A_MINUTE: Final = 120
"""Maximum number of unknown addresses that a client may try per minute."""

Drawn = tuple[int, str, str]
"""Status, page, tag."""


def _public(draw: Callable[[HttpRequest, str], Drawn]) -> Any:
    """Decorator of a page without sign-in, found by its address, with caching and rate limits."""

    @csrf_exempt  # nothing is sent here, and there is no cookie that another site could ride on
    @require_GET
    @wraps(draw)
    def answer(request: HttpRequest, token: str) -> HttpResponse:
        if _too_often(f"placards-{_address(request)}", REQUESTS_A_MINUTE):
            return _finished(request, _sorry("Too many ask from here: this page comes back by itself."), 429)
        key = f"placard-{sha256(f'{request.get_host()} {request.path}'.encode()).hexdigest()}"
        drawing: Drawn | None = cache.get(key)
        if drawing is None:
            if cache.get(f"placard-strangers-{_address(request)}", 0) >= STRANGERS_A_MINUTE:
                return _finished(request, _sorry("Too many tries: wait a minute."), 429)
            drawing = draw(request, token)
            if drawing[0] == 200:
                cache.set(key, drawing, KEPT_SECONDS)
            else:
                _too_often(f"placard-strangers-{_address(request)}", STRANGERS_A_MINUTE)
        status, page, tag = drawing
        if status == 200 and request.headers.get("If-None-Match") == tag:
            return _finished(request, HttpResponseNotModified(), tag=tag)
        return _finished(request, HttpResponse(page), status, tag)

    return answer


def _address(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))


def _too_often(counter: str, most: int) -> bool:
    """Count one more; whether that is more than there may be in a minute."""
    cache.add(counter, 0, 60)
    try:
        return int(cache.incr(counter)) > most
    except ValueError:  # the minute ended in between
        return False


def _finished(request: HttpRequest, response: HttpResponse, status: int = 200, tag: str = "") -> HttpResponse:
    if response.status_code != 304:
        response.status_code = status
    if tag:
        response["ETag"] = tag
    if status == 429:
        response["Retry-After"] = "60"
    response["X-Robots-Tag"] = "noindex"
    response.kept_by_all = KEPT_SECONDS if status == 200 else 0  # type: ignore[attr-defined]
    response._csp_replace = POLICY  # type: ignore[attr-defined]
    forget_session(request)
    return response


def _sorry(sentence: str) -> HttpResponse:
    return HttpResponse(render_to_string("dealer_ui/players/no_placard.html", {"sentence": sentence}))


def _none(sentence: str) -> Drawn:
    return 404, render_to_string("dealer_ui/players/no_placard.html", {"sentence": sentence}), ""


def _tagged(template: str, context: dict[str, Any]) -> Drawn:
    page = render_to_string(template, context | {"identity": site_identity.identity()})
    return 200, page, f'"{sha256(page.encode()).hexdigest()[:32]}"'


def _code(address: str) -> str:
    made = segno.make(address, micro=False)
    code = made.svg_inline(scale=4, border=2, dark="#17201c", light="#fbf7ec", omitsize=True)
    return mark_safe(code)  # noqa: S308 -- drawn here, from our own address


GONE: Final = "No table stands at this address. Ask at the table for its sign."


@_public
def placard(request: HttpRequest, token: str) -> Drawn:
    """The placard of a table."""
    table = addresses.table_of(token)
    if table is None:
        return _none(GONE)
    if table.retired_at is not None:
        return _none(f"{table.name} is on the floor no more.")
    code = _code(request.build_absolute_uri())
    return _tagged("dealer_ui/players/placard.html", {"placard": placard_of(table), "code": code})


@_public
def pit(request: HttpRequest, token: str) -> Drawn:
    """The limits of all tables of a pit, on one sign."""
    name = addresses.pit_of(token)
    if name is None:
        return _none("No pit has this address. Ask the pit for its sign.")
    places = {table: place for table, place in pits.places().items() if place.pit == name}
    tables = list(Table.objects.in_use().filter(name__in=places).select_related("book"))
    tables.sort(key=lambda table: places[table.name].order(table.name))
    signs = [(placard, addresses.of_table(table)) for placard, table in zip(placards_of(tables), tables, strict=True)]
    return _tagged("dealer_ui/players/placard_pit.html", {"pit": name, "signs": signs})
