"""Player pages: the holder of the address acts as the player of the seat. No sign-in, no session, no cookie.

The address is the only secret, so it must not leak by a referrer, a cache, a log or a foreign script.
"""

from __future__ import annotations

from functools import wraps
from typing import Any, Final
from uuid import uuid4

import segno
from csp.constants import NONE, SELF
from django import forms
from django.contrib.auth.views import redirect_to_login
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dealer_ui.entry_forms import EntryForm, ListField
from dealer_ui.live import admission
from dealer_ui.outages import forget_session
from dealer_ui.players.seat_context import SeatScreen
from tables.floor import inputs, player_pages, recorder
from tables.floor.command_context import AtSeat
from tables.form_fields import WholeNumberField
from tables.games.protocol import Choose
from tables.models import SeatPage, Staff, Table
from tables.refusals import Refused
from tables.staff import terminals
from tables.state import table_state

POLICY: Final = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF],
    "img-src": [SELF],
    "font-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
    "base-uri": [NONE],
    "frame-ancestors": [NONE],
}
TRIES: Final = 30
"""Maximum number of unknown addresses per client and minute. Pages opened here before remain accessible."""
KNOWN_SECONDS: Final = 12 * 3600


class NoPage(Exception):
    """The address has no page, or the client tried too often."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.sentence, self.status = sentence, status


@sensitive_variables("token")
def _page(request: HttpRequest, token: str) -> SeatPage:
    """The page of an address. Raises NoPage."""
    digest = player_pages.digest_of(token)
    counter, page_key = f"seat-tries-{request.META.get('REMOTE_ADDR')}", f"seat-page-{digest}"
    tried = cache.get(counter, 0)
    if tried >= TRIES and not cache.get(page_key):
        raise NoPage("Too many tries: wait a minute.", 429)
    page = player_pages.find(token)
    if page is None:
        cache.set(counter, tried + 1, 60)
        raise NoPage("This address is no longer in use: ask the dealer for the one of your seat.", 404)
    cache.set(page_key, True, KNOWN_SECONDS)
    return page


def _players(view: Any) -> Any:
    """Decorator of a view behind a secret address, with headers that keep the address secret."""

    @csrf_exempt  # there is no cookie that another site could ride on
    @wraps(view)
    def guarded(request: HttpRequest, token: str) -> HttpResponseBase:
        try:
            response: HttpResponseBase = view(request, _page(request, token), token)
        except NoPage as none:
            page = render_to_string("dealer_ui/players/none.html", {"sentence": none.sentence})
            response = HttpResponse(page, status=none.status)
        return keep_secret(request, response)

    return guarded


def keep_secret(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Set headers that keep the address secret, and drop the session."""
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    response._csp_replace = POLICY  # type: ignore[attr-defined]
    forget_session(request)
    return response


# --- The page --------------------------------------------------------------------------------------------------


@_players
@require_GET
def seat(request: HttpRequest, page: SeatPage, token: str) -> HttpResponse:
    """The whole page."""
    return _draw(page, token)


@_players
@require_GET
def fragment(request: HttpRequest, page: SeatPage, token: str) -> HttpResponse:
    """The part of the page that is drawn again when the table has changed."""
    return _draw(page, token, whole=False)


@_players
@require_POST
def choose(request: HttpRequest, page: SeatPage, token: str) -> HttpResponse:
    """Record the player's choice; a refusal is shown with its sentence and the current table."""
    refused = None
    scripted = request.headers.get("X-Part") == "board"
    try:
        form = ChoiceForm(request.POST)
        values, chosen = form.values(), form.chosen(page.seat)
        by = AtSeat(page.seat, page.pk)
        recorder.record(page.table, chosen, by=by, key=values["key"], expected_seq=values["seq"])
    except Refused as refusal:
        refused = _plainly(refusal)
    if refused is None and not scripted:
        return redirect("seat", token)
    return _draw(page, token, refused, whole=not scripted)


@_players
@require_GET
def news(request: HttpRequest, page: SeatPage, token: str) -> HttpResponseBase:
    """A stream of the table's sequence numbers, and nothing else."""
    return admission.of_seat(request, page)


def _draw(page: SeatPage, token: str, refused: Refused | None = None, *, whole: bool = True) -> HttpResponse:
    screen = SeatScreen(page.table, page.seat, table_state.of(page.table), token, refused)
    name = "dealer_ui/players/seat.html" if whole else "dealer_ui/players/_board.html"
    # Drawn without the request: what a page is not given, it cannot show.
    return HttpResponse(render_to_string(name, {"screen": screen}), status=refused.status if refused else 200)


_AGAIN: Final = ("key_reused", "not_asked", "stale_sequence")


def _plainly(refused: Refused) -> Refused:
    """A refusal as a player needs to hear it."""
    if refused.code not in _AGAIN:
        return refused
    return Refused(refused.code, "The game has gone on since: what you see now is how it stands.", refused.status)


# --- Reading what was tapped -----------------------------------------------------------------------------------


class ChoiceForm(EntryForm):
    """A choice that is offered, or a way (``way``) with cards: a set, or all of them in the order of their places."""

    code = "bad_input"
    message = "This page was incomplete: choose again."
    choice = forms.CharField(required=False)
    way = forms.CharField(max_length=40, required=False)
    card = ListField(coerce=int)
    place = ListField(coerce=int)

    def chosen(self, seat: int) -> Choose:
        """The choice of a seat. Raises Refused."""
        values = self.values()
        if "way" in self.data:
            return self._put_together(seat, values["way"], values["card"], values["place"])
        try:
            chosen = inputs.read(values["choice"])
        except ValueError:
            raise Refused(self.code, self.message, self.status) from None
        if not isinstance(chosen, Choose):
            raise Refused(self.code, "Choose one of the things that are offered.", self.status)
        return chosen

    @staticmethod
    def _put_together(seat: int, way: str, ranks: list[int], places: list[int]) -> Choose:
        if places and sorted(places) != list(range(1, len(ranks) + 1)):
            raise Refused("bad_order", "Give each card a place of its own, 1 on top.", 422)
        ordered = [rank for _, rank in sorted(zip(places, ranks, strict=True))] if places else ranks
        return Choose(seat, way, cards=tuple(ordered))


# --- Handing a page over ---------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def hand_over(request: HttpRequest, pk: int) -> HttpResponse:
    """For the dealer at the table, or the pit: which seats have a page; and the address of a new one, shown once."""
    viewer = request.user
    if not isinstance(viewer, Staff) or not viewer.is_active:
        return redirect_to_login(request.get_full_path())
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    dealer = table_state.of(table).dealer
    deals = dealer is not None and dealer.username == viewer.username and viewer.has_perm("tables.deal")
    if not (deals or viewer.has_perm("tables.run_floor")):
        return render(request, "403.html", status=403)
    refused, page = None, None
    if request.method == "POST":
        try:
            page = _make(request, table, viewer)
        except Refused as refusal:
            refused = refusal
    context = {
        "table": table,
        "seq": table_state.of(table).seq,
        "key": uuid4(),
        "refused": refused,
        "made": page,
        "electronic": player_pages.possible(table),
        "seats": _seats(table),
        "back": reverse("dealer:screen", args=[pk]) if deals else reverse("pit:table", args=[pk]),
    }
    status = refused.status if refused else 200
    return render(request, "dealer_ui/players/hand_over.html", context, status=status)


def _seats(table: Table) -> list[tuple[int, bool]]:
    having = set(SeatPage.objects.filter(table=table).values_list("seat", flat=True))
    return [(seat, seat in having) for seat in range(1, table.seats + 1)]


class HandOverForm(EntryForm):
    """The seat that is given a page."""

    message = "This form was incomplete: choose the seat again."
    seat = WholeNumberField()


def _make(request: HttpRequest, table: Table, viewer: Staff) -> dict[str, Any]:
    values = HandOverForm(request.POST).values()
    seat = values["seat"]
    if viewer.has_perm("tables.deal"):
        terminals.for_dealing(request, table)
    token = recorder.give_seat_page(table, seat, by=viewer, key=values["key"], expected_seq=values["seq"])
    address = request.build_absolute_uri(reverse("seat", args=[token]))
    image = segno.make(address, micro=False).svg_inline(scale=6)
    return {"seat": seat, "address": address, "code": mark_safe(image)}  # noqa: S308 -- image here, from our own link
