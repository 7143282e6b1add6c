"""What is published of an entry in the feed, by the record of its kind. Pure: no database, no clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ledger.proof.chain import Entry
from tables.log import catalog
from tables.log.event import Event
from tables.log.published.form import FeedEvent
from tables.log.state import Round, TableState

Past = Sequence[Entry]
"""The entries of a round through the one that is published, in their order; empty for kinds that do not need them."""


def _forms() -> Iterator[tuple[str, type[FeedEvent]]]:
    every = dict.fromkeys(form for event in catalog.EVENTS for form in event.record.forms)
    names = [form.type for form in every]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise TypeError(f"Several forms are of type {', '.join(twice)}. A type has one form.")
    return zip(names, every, strict=True)


FORMS: Final[Mapping[str, type[FeedEvent]]] = dict(_forms())
"""Every type of event, with its form."""


@dataclass(frozen=True, slots=True)
class ReadHistory:
    """The entries of a round, read by the catalog when a form asks for them."""

    entries: Past

    @property
    def begun_at(self) -> datetime:
        return self.entries[0].heading.at

    def event(self, seq: int) -> Event | None:
        """The event of an earlier entry of the round."""
        return next((catalog.event_of(entry) for entry in self.entries if entry.seq == seq), None)

    def round(self) -> Round:
        """The round after all these entries."""
        state = TableState()
        for entry in self.entries:
            state = catalog.follow(state, entry)
        assert state.round is not None  # noqa: S101 -- its first entry opens it
        return state.round


def event_of(entry: Entry, event: Event, past: Past) -> FeedEvent | None:
    """What is published of an entry; None for nothing."""
    events = (form.of(entry, event, ReadHistory(past)) for form in event.record.forms)
    return next((published for published in events if published is not None), None)


def needs_past(event: Event) -> bool:
    """Whether what is published of an entry follows from the other entries of its round too."""
    return any(form.needs_past for form in event.record.forms)
