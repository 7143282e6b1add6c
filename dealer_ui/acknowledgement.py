"""What a screen keeps of the table that it shows: the newest entry that it was told of, in a cookie of that table.

A cookie comes with every request, needs no script, and no script of the page can change it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from msgspec import to_builtins

from ledger.proof.chips import money
from tables.board import secrecy
from tables.floor import recorder, restored_tables
from tables.floor.inputs import Input
from tables.games.cards import pack_of
from tables.log.entries.rounds import clauses_of
from tables.log.message import text_of
from tables.log.state import TableState
from tables.models import Staff, Table
from tables.state import acknowledgement
from tables.state import table_state as standings
from tables.state.acknowledgement import Acknowledged

COOKIE: Final = "acknowledged"
KEPT_SECONDS: Final = 30 * 24 * 3_600


def receipt_of(request: HttpRequest, book_id: int) -> Acknowledged | None:
    """What this screen was told last of a table's book."""
    cookie = request.COOKIES.get(COOKIE)
    return acknowledgement.read(book_id, cookie) if cookie else None


def heed(request: HttpRequest, table: Table, viewer: Staff) -> Table:
    """A screen looks at a table, which was read with its book: as it stands once it was heard what the screen has."""
    is_behind = recorder.show(table, standings.head_of(table), receipt_of(request, table.book_id), viewer)
    return Table.objects.select_related("book").get(pk=table.pk) if is_behind else table


def keep(
    request: HttpRequest, response: HttpResponse, table: Table, standing: TableState, entered: Input | None = None
) -> None:
    """The screen keeps what it is shown now, and in words what was just entered there."""
    before = receipt_of(request, table.book_id)
    words = before.words if before and before.seq <= standing.seq else ()
    words = (*words, _words(standing, entered)) if entered is not None else words
    value = restored_tables.receipt(table.book_id, standing, before, words)
    if not value or value == request.COOKIES.get(COOKIE):
        return
    dealers, pits = _pages(table.pk)
    response.set_cookie(
        COOKIE,
        value,
        max_age=KEPT_SECONDS,
        path=pits if request.path.startswith(pits) else dealers,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


@lru_cache(maxsize=10_000)
def _pages(pk: int) -> tuple[str, str]:
    """The addresses of a table's page, for its dealer and for the pit."""
    return reverse("dealer:screen", args=[pk]), reverse("pit:table", args=[pk])


def _words(standing: TableState, entered: Input) -> str:
    """An input as everybody at the table saw it."""
    current = standing.round
    if current is not None and current.plays and current.plays[-1].seq == standing.seq:
        latest = text_of(clauses_of(secrecy.latest(current)), pack_of(current.opening.dealt))
        return f"round {current.number}: {latest}"
    facts = dict(to_builtins(entered))
    name = str(facts.pop("do")).replace("_", " ")
    return " ".join([name, *(_fact(key, value) for key, value in facts.items())])


def _fact(key: str, value: object) -> str:
    if key.endswith("_cents") and isinstance(value, int):
        return f"{key.removesuffix('_cents').replace('_', ' ')} {money(value)}"
    return f"{key.replace('_', ' ')} {value}"
