"""Cursors: where the next page of a list begins.

A cursor names a place in the log's order and no count of rows, so what is written meanwhile neither repeats a line nor
hides one. It is signed for its list and its filters: no other takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Generic, TypeVar

import msgspec
from django.core import signing
from msgspec import UNSET, Meta, UnsetType

from ledger.proof.spelling import canonical
from tables.log.moments import Moment
from tables.refusals import Refused

MOST: Final = 200
USUAL: Final = 50

Row = TypeVar("Row")
Item = TypeVar("Item")


class Paged(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every list may be asked."""

    cursor: Annotated[str, Meta(max_length=600, description="The `next` of the page before.")] = ""
    limit: Annotated[int, Meta(ge=1, le=MOST, description="Lines of a page.")] = USUAL


class SpanQuery(Paged, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A list that v1 limits to a span of time."""

    since: Annotated[Moment | UnsetType, Meta(description="Only what began at this moment or later.")] = UNSET
    until: Annotated[Moment | UnsetType, Meta(description="Only what began before this moment.")] = UNSET


class Page(msgspec.Struct, Generic[Item], frozen=True):
    """A part of a list."""

    items: list[Item]
    next: str | None
    """The cursor of the page after this one; null where there is none."""


def position(name: str, query: Paged) -> Any:
    """Where the page that is asked for begins; None for the first one. Raises Refused for any other list's cursor."""
    if not query.cursor:
        return None
    try:
        return signing.loads(query.cursor, salt=_salt(name, query))
    except (signing.BadSignature, ValueError):
        says = "This cursor is not of this list with these filters: begin again without one."
        raise Refused("bad_cursor", says, 400) from None


def cursor(name: str, query: Paged, place: Any) -> str:
    """A place as the next request brings it back."""
    return signing.dumps(place, salt=_salt(name, query))


def page(
    name: str, query: Paged, rows: Sequence[Row], *, form: Callable[[Row], Item], place: Callable[[Row], Any]
) -> Page[Item]:
    """The first rows of at most ``limit + 1``; the last one says only that there are more."""
    shown = rows[: query.limit]
    following = cursor(name, query, place(shown[-1])) if len(rows) > query.limit else None
    return Page([form(row) for row in shown], following)


def _salt(name: str, query: Paged) -> str:
    filters: dict[str, Any] = msgspec.to_builtins(query)
    del filters["cursor"], filters["limit"]
    return f"tables.api.cursor {name} {canonical(filters).decode()}"
