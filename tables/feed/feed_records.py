"""Reading the feed: the events after a place in it, filtered by type and table.

A page examines a bounded number of entries, however few match, so the cost of a request is bounded and does not grow
with history. Each event has the cursor after it; the page has the cursor after the last entry examined.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

import msgspec

from ledger import log
from ledger.proof.chain import Entry
from ledger.proof.spelling import timestamp
from tables.feed import order
from tables.log import catalog
from tables.log.event import Event, Unreadable
from tables.log.publication import FORMS, FeedEvent, event_of, needs_past
from tables.models import Table
from tables.refusals import Refused

LOOKED_AT: Final = 1_000
"""Entries that a page examines."""
MOST: Final = 500
"""Maximum of events in a page."""


class TableName(msgspec.Struct, frozen=True):
    """A table by the id that API addresses have, and by name."""

    id: int
    name: str


class EntryName(msgspec.Struct, frozen=True):
    """The log entry behind an event."""

    book: str
    seq: int


class Envelope(msgspec.Struct, frozen=True):
    """One event. Its `id` is the same however it is read, so that a receiver can discard duplicates."""

    id: str
    cursor: str
    """Cursor of the place after it."""
    type: str
    version: int
    at: str
    """Time of the entry by the database's clock, in UTC."""
    table: TableName | None
    by: str
    """Author: badge or user name, and name."""
    entry: EntryName
    data: dict[str, Any]


class Feed(msgspec.Struct, frozen=True):
    """Consecutive events. With `more`, the next page has some already; otherwise request it later."""

    events: tuple[Envelope, ...]
    cursor: str
    """Cursor after the last entry examined, which may be past the last event."""
    more: bool


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Criteria on events; an empty set imposes no condition."""

    types: frozenset[str] = field(default_factory=frozenset)
    tables: frozenset[int] = field(default_factory=frozenset)
    """Ids of tables. Events about no table are then left out."""

    def takes(self, story: FeedEvent, table: TableName | None) -> bool:
        """Whether an event matches."""
        if self.types and story.type not in self.types:
            return False
        return not self.tables or (table is not None and table.id in self.tables)


# --- Cursors ---------------------------------------------------------------------------------------------------

_CURSOR: Final = re.compile(rb"events/1 (0|[1-9][0-9]{0,17})")


def cursor_of(place: int) -> str:
    """The cursor of a place. It is opaque, so that its format can change."""
    return base64.urlsafe_b64encode(f"events/1 {place}".encode()).decode().rstrip("=")


def place_of(cursor: str) -> int:
    """The place of a cursor; an empty one is the beginning. Raises Refused."""
    if not cursor:
        return 0
    try:
        spelled = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        match = _CURSOR.fullmatch(spelled)
    except (ValueError, binascii.Error, UnicodeError):
        match = None
    if match is None:
        sentence = (
            "This is no cursor of the feed: send one as an earlier answer had it, or none to begin with the first."
        )
        raise Refused("bad_cursor", sentence, 400)
    return int(match[1])


def types_of(names: str) -> frozenset[str]:
    """Types from a comma-separated query parameter. Raises Refused for unknown ones."""
    types = frozenset(name.strip() for name in names.split(",") if name.strip())
    if unknown := sorted(types - FORMS.keys()):
        sentence = f"There is no event {', '.join(unknown)[:80]}. There are: {', '.join(sorted(FORMS))}."
        raise Refused("unknown_kind", sentence, 400)
    return types


def as_json(events: Sequence[Envelope]) -> list[dict[str, Any]]:
    """Events as JSON data, with their time under its name in v1 of the API too."""
    return [msgspec.to_builtins(event) | {"recorded_at": event.at} for event in events]


# --- Reading ---------------------------------------------------------------------------------------------------


def read(after: int, *, limit: int = 100, filters: EventFilter | None = None) -> Feed:
    """The events after a place, including all committed before the call, here or on a later page."""
    order.extend()
    return page(after, limit=limit, filters=filters or EventFilter())


def page(after: int, *, limit: int, filters: EventFilter, looked_at: int = LOOKED_AT) -> Feed:
    """The events after a place, of the entries already in the feed."""
    spots = order.spots(after, looked_at)
    tables = {table.name: table for table in _tables()}
    other_books = _of_others(filters, tables)
    places = [(spot.book_id, spot.seq) for spot in spots if spot.book_id not in other_books]
    entries = {(entry.book_id, entry.seq): entry for entry in log.picked(places)}
    stories = {place: event for place, entry in entries.items() if (event := _read(entry)) is not None}
    pasts = _pasts([(entries[place], event) for place, event in stories.items()])
    events: list[Envelope] = []
    place = after
    for spot in spots:
        if len(events) == limit:
            break
        place = spot.through
        key = (spot.book_id, spot.seq)
        if key in stories and (envelope := _envelope(spot, entries[key], stories[key], pasts, tables, filters)):
            events.append(envelope)
    return Feed(tuple(events), cursor_of(place), more=bool(spots) and place < order.end())


@dataclass(frozen=True, slots=True)
class _Table:
    id: int
    name: str
    book_id: int


def _tables() -> list[_Table]:
    return [_Table(*row) for row in Table.objects.values_list("pk", "name", "book_id")]


def _of_others(filters: EventFilter, tables: Mapping[str, _Table]) -> Collection[int]:
    """Logs without matching events: those of other tables. The site log may have events about any table."""
    return {table.book_id for table in tables.values() if filters.tables and table.id not in filters.tables}


def _read(entry: Entry) -> Event | None:
    try:
        return catalog.event_of(entry)
    except Unreadable:
        return None  # verification reports it


def _pasts(stories: Sequence[tuple[Entry, Event]]) -> Mapping[tuple[int, int | None], list[Entry]]:
    """Entries of the rounds that events need, by log and round."""
    rounds = {(entry.book_id, entry.round or 0) for entry, event in stories if needs_past(event)}
    entries = log.of_rounds(rounds, subject="round")
    return {key: list(past) for key, past in groupby(entries, key=lambda entry: (entry.book_id, entry.round))}


def _envelope(
    spot: order.Spot,
    entry: Entry,
    event: Event,
    pasts: Mapping[tuple[int, int | None], Sequence[Entry]],
    tables: Mapping[str, _Table],
    filters: EventFilter,
) -> Envelope | None:
    past = [earlier for earlier in pasts.get((entry.book_id, entry.round), ()) if earlier.seq <= entry.seq]
    story = event_of(entry, event, past)
    if story is None or entry.at is None:
        return None
    about = tables.get(story.about or entry.book)
    table = TableName(about.id, about.name) if about is not None else None
    if not filters.takes(story, table):
        return None
    return Envelope(
        id=f"{spot.book_id}-{spot.seq}",
        cursor=cursor_of(spot.through),
        type=story.type,
        version=story.version,
        at=timestamp(entry.at),
        table=table,
        by=entry.by,
        entry=EntryName(entry.book, entry.seq),
        data=msgspec.to_builtins(story),
    )
