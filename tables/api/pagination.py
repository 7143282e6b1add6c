"""Pagination of lists by signed cursors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from operator import attrgetter
from typing import Annotated, Any, Final, Generic, TypeVar

import msgspec
from django.core import signing
from msgspec import UNSET, Meta, UnsetType
from rest_framework.pagination import BasePagination
from rest_framework.response import Response

from ledger.proof.spelling import canonical
from tables.log.moments import Moment
from tables.refusals import Refused

MAX_LIMIT: Final = 200
DEFAULT_LIMIT: Final = 50
LIST_NAMES: Final = {"list_corrections": "list_corrections by number"}
"""The name of a list in the salt of its cursors, if it is not that of the operation: older cursors of corrections
named a moment, and are refused."""

Row = TypeVar("Row")
Item = TypeVar("Item")


class PageQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of a list."""

    cursor: Annotated[str, Meta(max_length=600, description="The `next` of the page before.")] = ""
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="Lines of a page.")] = DEFAULT_LIMIT


class SpanQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of a list that v1 limits to a span of time."""

    since: Annotated[Moment | UnsetType, Meta(description="Only what began at this moment or later.")] = UNSET
    until: Annotated[Moment | UnsetType, Meta(description="Only what began before this moment.")] = UNSET


class Page(msgspec.Struct, Generic[Item], frozen=True):
    """A part of a list."""

    items: list[Item]
    next: str | None
    """The cursor of the page after this one; null where there is none."""


class SignedCursorPagination(BasePagination):
    """Pages of a list. A cursor names a place in the order of the list, not an offset: rows that are added while a
    client reads neither repeat a row nor hide one. It is signed for its list and its filters."""

    def __init__(self, name: str, query: PageQuery) -> None:
        self.name = name
        self.query = query
        self.next_place: Any = None
        """The place at which the next page begins; None after the last row."""

    @cached_property
    def place(self) -> Any:
        """The place at which the page begins; None for the first page. Raises Refused for a cursor of another list."""
        if not self.query.cursor:
            return None
        try:
            return signing.loads(self.query.cursor, salt=self.salt)
        except (signing.BadSignature, ValueError):
            sentence = "This cursor is not of this list with these filters: begin again without one."
            raise Refused("bad_cursor", sentence, 400) from None

    @property
    def salt(self) -> str:
        """The salt of the signature: the list and its filters."""
        filters: dict[str, Any] = msgspec.to_builtins(self.query)
        del filters["cursor"], filters["limit"]
        return f"tables.api.cursor {self.name} {canonical(filters).decode()}"

    def paginate_queryset(self, queryset: Any, request: Any = None, view: Any = None) -> list[Any]:
        """The rows of the page, from a queryset that is ordered by one unique column."""
        [ordering] = queryset.query.order_by
        column = ordering.removeprefix("-")
        if self.place is not None:
            queryset = queryset.filter(**{f"{column}__{'gt' if column == ordering else 'lt'}": self.place})
        return self.paginate(queryset[: self.query.limit + 1], attrgetter(column))

    def paginate(self, rows: Iterable[Row], place: Callable[[Row], Any]) -> list[Row]:
        """The rows of the page, from at most ``limit + 1`` rows: the last one only shows that there are more."""
        page = list(rows)
        if len(page) > self.query.limit:
            page.pop()
            self.next_place = place(page[-1])
        return page

    def get_paginated_response(self, data: list[Any]) -> Response:
        """The page, with the cursor of the next one."""
        cursor = None if self.next_place is None else signing.dumps(self.next_place, salt=self.salt)
        return Response(Page(data, cursor))
