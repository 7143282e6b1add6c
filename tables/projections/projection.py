"""A projection: how the entries of a kind become the rows of a model; writing and comparing follow from it.

Each entry makes one row, and neither is ever changed. A column has the value of the field of the entry that has its
name, so a projection declares only what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

import msgspec
from django.db import models
from msgspec import structs

from ledger import log
from ledger.log import Draft
from ledger.proof.chain import Entry, Head
from ledger.site_log import digest_of
from tables.log.event import Event
from tables.projections.records import Columns, Rows, of_the_house

E = TypeVar("E", bound=Event)
M = TypeVar("M", bound=models.Model)
ENVELOPE: Final = frozenset({"id", "seq", "by", "at"})
"""The columns of each row that come from the heading of its entry."""


@dataclass(frozen=True, kw_only=True)
class Projection(Generic[E, M]):
    """How entries of one type become rows of one model."""

    title: str
    """A row, in the findings of a comparison: "section of a pit"."""
    event: type[E]
    model: type[M]
    fields: Mapping[str, str] = field(default_factory=dict)
    """Field of the entry by column, where the two names differ."""
    digests: tuple[str, ...] = ()
    """Columns that no entry contains; it has the SHA-256 of each, in a field such as ``address_sha256``."""
    name: Callable[[Columns], str] | None = None
    """The name of a row in findings, by its columns; rows without names are numbered in the order of their entries."""

    def append(self, head: Head, event: E, by: str, **secrets: str) -> M:
        """Append an entry to the log of the site, whose head is locked, and save its row in the same transaction.
        ``secrets``: the columns of which the entry gets the digest."""
        event = structs.replace(event, **{f"{column}_sha256": digest_of(value) for column, value in secrets.items()})
        entry = log.append(head, Draft.of(event, by))
        columns = {column: value for column, value in self.columns(event).items() if column not in self.digests}
        row = self.model(seq=entry.seq, by=by, at=entry.at or head.moment, **columns, **secrets)
        row.save()
        return row

    def columns(self, event: E) -> dict[str, Any]:
        """The columns of the row of an entry; of a secret, its digest."""
        written = {column.name: self._written(column, event) for column in self._columns}
        return written | {column: getattr(event, f"{column}_sha256") for column in self.digests}

    def _written(self, column: models.Field[Any, Any], event: E) -> Any:
        value = getattr(event, self.fields.get(column.name, column.name))
        if isinstance(column, models.JSONField):
            return msgspec.json.decode(msgspec.json.encode(value))
        # An entry has no field that is null where one that is empty says the same.
        return None if column.null and value == "" else column.to_python(value)

    def row_columns(self, row: M) -> dict[str, Any]:
        """The columns of a row, for the comparison with ``columns``."""
        stored = {column.name: getattr(row, column.name) for column in self._columns}
        return stored | {column: digest_of(getattr(row, column)) for column in self.digests}

    def event_of(self, row: M) -> E:
        """The entry that a row was made from, without the fields that the row does not have."""
        facts = {
            f"{column}_sha256" if column in self.digests else self.fields.get(column, column): _spelled(value)
            for column, value in self.row_columns(row).items()
        }
        # A column that is null is a field with its default: None, or an empty text.
        missing = {
            part.name for part in structs.fields(self.event) if not part.required and facts.get(part.name) is None
        }
        return msgspec.convert({name: value for name, value in facts.items() if name not in missing}, self.event)

    def has_row(self, event: E, entry: Entry) -> bool:
        """Whether the row of an entry of the site's log is as the entry made it."""
        row: Any = self.model._default_manager.filter(seq=entry.seq).first()
        if row is None or row.by != entry.by or entry.at not in (None, row.at):
            return False
        return self.row_columns(row) == self.columns(event)

    @cached_property
    def _columns(self) -> tuple[models.Field[Any, Any], ...]:
        columns = self.model._meta.concrete_fields
        return tuple(column for column in columns if column.name not in ENVELOPE and column.name not in self.digests)

    # --- Comparing -----------------------------------------------------------------------------------------------

    def in_log(self) -> Rows:
        """The rows that the log of the site makes."""
        subject, kinds = self.event.subject, self.event.kinds
        entries = of_the_house(self.title, **{subject: kinds})
        events = ((entry.event, entry.by) for entry in entries)
        return self._named((self.columns(event), by) for event, by in events if isinstance(event, self.event))

    def in_database(self) -> Rows:
        """The rows that the database has."""
        rows = self.model._default_manager.order_by("seq")
        return self._named((self.row_columns(row), getattr(row, "by", "")) for row in rows)

    def _named(self, rows: Iterator[tuple[dict[str, Any], str]]) -> Rows:
        name = self.name
        return {
            name(columns) if name else f"{number}": {**columns, "by": by}
            for number, (columns, by) in enumerate(rows, 1)
        }


def _spelled(value: Any) -> Any:
    """A column as entries spell it: moments in UTC and days in ISO 8601, times of day as HH:MM."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return f"{value:%H:%M}" if isinstance(value, time) else value
