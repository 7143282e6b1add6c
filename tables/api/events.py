"""The feed of events by cursor, for callers that may read the whole log."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import msgspec
from django.http import StreamingHttpResponse
from msgspec import Meta

from tables.api.access import refuse_other_table
from tables.api.operations import Call, operation
from tables.api.versions import Version, to_wire
from tables.api.views import FloorViewSet
from tables.feed import feed_records, long_polling
from tables.feed.feed_records import MOST, EventFilter, Feed
from tables.models import ServiceAccount, Staff, Table
from tables.refusals import Refused


class EventsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of the feed."""

    cursor: Annotated[str, Meta(max_length=80, description="As an earlier answer had it; none: the first event.")] = ""
    limit: Annotated[int, Meta(ge=1, le=MOST, description="Events of a page.")] = 100
    kinds: Annotated[str, Meta(max_length=2_000, description="Types with commas: `round.settled,round.voided`.")] = ""
    table: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    """What is about this table alone."""
    wait: Annotated[int, Meta(ge=0, le=long_polling.LONGEST)] = 0
    """Seconds that an empty answer may wait for something to happen."""


class Events(FloorViewSet):
    """What happened in the house, in one order."""

    @operation(
        "read_events",
        "What happened, in one order.",
        tag="Events",
        query=EventsQuery,
        answers=Feed,
        may=("ledger.view_logentry",),
        scope="read:events",
        narrows=True,
        refuses=(404,),
    )
    def list(self, call: Call[EventsQuery, Any]) -> Feed | StreamingHttpResponse:
        """The events after a cursor. None is ever left out, and none comes twice at the same cursor. The feed has no
        end: keep the cursor, and ask again; with `wait` the answer comes as soon as there is something."""
        query = call.query
        criteria = EventFilter(feed_records.types_of(query.kinds), _tables(query.table, call.caller))

        def read(place: int) -> Feed:
            return feed_records.read(place, limit=query.limit, filters=criteria)

        feed = read(feed_records.place_of(query.cursor))
        if feed.events or feed.more or not query.wait:
            return feed
        place = long_polling.Waiter()
        return _waited(call.version, feed, query.wait, read, place) if place.is_free else feed


def _waited(
    version: Version, feed: Feed, seconds: int, read: Callable[[int], Feed], place: long_polling.Waiter
) -> StreamingHttpResponse:
    """An answer that comes later, and meanwhile costs some memory."""

    async def body() -> AsyncIterator[bytes]:
        try:
            yield msgspec.json.encode(to_wire(version, Feed, await long_polling.news(feed, seconds, read)))
        finally:
            place.leave()

    response = StreamingHttpResponse(body(), content_type="application/json")
    response._resource_closers.append(place.leave)  # type: ignore[attr-defined]  # should it never begin
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


def _tables(pk: int | None, caller: Staff | ServiceAccount) -> frozenset[int]:
    """The tables whose events are read. An API client that is limited to tables gets no others, and no events without a
    table."""
    own = caller.tables if isinstance(caller, ServiceAccount) else []
    if pk is None:
        named = Table.objects.filter(name__in=own).values_list("pk", flat=True)
        return frozenset(named) | {0} if own else frozenset()
    table = Table.objects.filter(pk=pk).first()
    if table is None:
        raise Refused("no_such_table", f"There is no table {pk}.", 404)
    if isinstance(caller, ServiceAccount):
        refuse_other_table(caller, table)
    return frozenset({pk})
