"""Admission to the live streams. A view here decides it; ``casino/web/streams.py`` then streams without Django.

``/live/``                the floor, for the pit. ``event: table`` with ``{"table": id, "seq": n}`` is the state of a
                          table when the stream begins; with ``"card"`` as well, its drawing now. ``event: strip``
                          and ``event: alerts`` with ``{"html": ...}``: the line above the tables, and the open alerts.
``/live/?card=<id>``      one table of the floor, without strip and alerts.
``/live/?table=<id>``     one table, for its dealer and the pit: ``event: table`` with its bare sequence number.
``/seat/<token>/live``    one table, for the player of a seat.

The streams of one table carry event ids, so a client that reconnects gets only what it missed. The others carry none:
a screen whose card is older than the first event fetches its page once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.core.handlers.asgi import ASGIRequest
from django.db import Error as DatabaseError
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse, parse_cookie

from dealer_ui.numbers import number
from tables.floor import table_opening
from tables.models import SeatPage, Staff, Table
from tables.staff import sign_in

TICKET: Final = "ticket"
"""Where a view leaves the ticket in the request's scope."""


# --- What may be told ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OneTable:
    """The subject of a stream: the sequence numbers of one table, from a number on."""

    book: int
    last_seq: int
    """The sequence number that its screen shows."""
    player: bool = False


@dataclass(frozen=True, slots=True)
class Cards:
    """The subject of a stream: the drawings of tables for a role."""

    role: str
    tables: Mapping[int, int]
    """By their books."""
    whole: bool
    """Whether the page shows the whole floor, with the strip and the alerts."""


Watch = OneTable | Cards


# --- By what right ---------------------------------------------------------------------------------------------
# A right is asked anew while a stream is open, once for all streams that share it.


@dataclass(frozen=True, slots=True)
class SessionRight:
    """The right of a signed-in user: the cookies of the browser, the role at admission, and the table requested."""

    cookies: str
    role: str
    table: str | None

    @classmethod
    def that_hold(cls, rights: Iterable[SessionRight]) -> set[SessionRight]:
        """The rights still valid.

        A session may have ended, a role changed, a dealer tapped out or a terminal been revoked.
        """
        return {right for right in rights if right.holds()}

    def holds(self) -> bool:
        """Whether a new request with these cookies would be admitted."""
        request = HttpRequest()
        request.COOKIES = parse_cookie(self.cookies)
        request.session = SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
        user = get_user(request)
        if not isinstance(user, Staff) or user.role != self.role or sign_in.has_ended(request):
            return False
        return refusal(user, self.table) is None


@dataclass(frozen=True, slots=True)
class SeatAddress:
    """Of a player: the digest of the address of a seat's page."""

    digest: str

    @classmethod
    def that_hold(cls, rights: Iterable[SeatAddress]) -> set[SeatAddress]:
        """The page may have been revoked. One query, however many players watch."""
        digests = [right.digest for right in rights]
        pages = SeatPage.objects.filter(token_digest__in=digests)
        return {cls(digest) for digest in pages.values_list("token_digest", flat=True)}


Right = SessionRight | SeatAddress


def that_hold(rights: Collection[Right]) -> set[Right]:
    """The rights that are still valid.

    All of them while the database is unavailable, as there is no news to protect then.
    """
    try:
        sessions = SessionRight.that_hold(right for right in rights if isinstance(right, SessionRight))
        return sessions | SeatAddress.that_hold(right for right in rights if isinstance(right, SeatAddress))
    except DatabaseError:
        return set(rights)
    finally:
        close_old_connections()


@dataclass(frozen=True, slots=True)
class Ticket:
    """An admission: the subject of the stream, its right, and the holder whose open streams are counted."""

    watch: Watch
    right: Right
    holder: str
    most: int
    """Maximum number of streams that the holder may have open."""


# --- The views -------------------------------------------------------------------------------------------------


def live(request: HttpRequest) -> HttpResponseBase:
    """For those who are signed in; 401, 403 or 404 for others."""
    user, card = request.user, request.GET.get("card")
    requested = request.GET.get("table") if card is None else card
    refused = refusal(user, requested if card is None else None)
    if refused is not None or not isinstance(user, Staff):
        return HttpResponse(status=refused)
    tables = Table.objects.all() if requested is None else Table.objects.filter(pk=number(requested) or 0)
    books = _shared(frozenset(tables.values_list("book_id", "pk")))
    if requested is not None and not books:
        return HttpResponse(status=404)
    if requested is None or card is not None:
        watch: Watch = Cards(user.role, books, whole=requested is None)
    else:
        watch = OneTable(next(iter(books)), _last_event(request))
    right = SessionRight(request.META.get("HTTP_COOKIE", ""), user.role, requested if card is None else None)
    return admit(request, Ticket(watch, right, f"staff {user.pk}", settings.STREAMS_PER_PERSON))


@lru_cache(maxsize=8)
def _shared(tables: frozenset[tuple[int, int]]) -> dict[int, int]:
    """The tables of a floor, by their books: all its screens keep them once."""
    return dict(tables)


def refusal(user: object, table: str | None) -> int | None:
    """The HTTP status that refuses a user the floor, or one table; None where they may watch."""
    if not isinstance(user, Staff) or not user.is_active:
        return 401
    if user.has_perm("tables.watch_floor"):
        return None
    own = table_opening.table_of(user) if table is not None and user.has_perm("tables.deal") else None
    return None if own is not None and str(own.pk) == table else 403


def of_seat(request: HttpRequest, page: SeatPage) -> HttpResponseBase:
    """Admit the player of a seat, whose page was found already."""
    watch = OneTable(page.table.book_id, _last_event(request), player=True)
    ticket = Ticket(watch, SeatAddress(page.token_digest), f"seat {page.token_digest}", settings.STREAMS_PER_SEAT)
    return admit(request, ticket)


def _last_event(request: HttpRequest) -> int:
    """The number of the last event before a reconnect; -1 for a first stream."""
    seq = number(request.headers.get("Last-Event-ID"))
    return -1 if seq is None else seq


def admit(request: HttpRequest, ticket: Ticket) -> HttpResponseBase:
    """Leave the ticket for the server and answer with the headers only.

    The body is streamed after Django is done, so an open stream occupies neither its thread nor its connection.
    """
    if isinstance(request, ASGIRequest):
        request.scope[TICKET] = ticket  # type: ignore[index]
    response = StreamingHttpResponse(_nothing(), content_type="text/event-stream")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield
