"""What an event is, and the list of what is told of each kind of entry. Pure: no database, no clock.

What is told of an entry follows from that entry and those of its round before it, and from nothing that comes later: so
it is the same whenever it is asked for. It holds nothing that was not open to everybody at the table or desk when the
entry was written: no cards, no choices, no orders of shoes, and of counts nothing before the slip is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, TypeVar

import msgspec

from ledger.proof.chain import Entry
from tables.log.event import Event

Past = Sequence[Entry]
"""The entries of the same round through the one that is told, in their order; none for those that need none."""


class FeedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """What an event says. Fields are only ever added to a form; whatever else changes makes another version of it."""

    type: ClassVar[str]
    version: ClassVar[int] = 1
    needs_past: ClassVar[bool] = False
    """Whether it follows from the round's other entries too."""

    @classmethod
    def of(cls, entry: Entry, event: Any, past: Past) -> FeedEvent | None:
        """What is told of an entry; None where nothing is. As a rule, what its fields of the same name say."""
        return cls(**{name: getattr(event, name) for name in cls.__struct_fields__})

    @property
    def about(self) -> str | None:
        """The table that an entry of the house's book is about, if any."""
        return None


TELLERS: Final[dict[type[Event], list[type[FeedEvent]]]] = {}
SILENT: Final[dict[type[Event], str]] = {}
"""The kinds of entry that have no event, and why."""
FORMS: Final[dict[str, type[FeedEvent]]] = {}
"""Every type of event, with its form."""

T = TypeVar("T", bound=type[FeedEvent])


def publishes(*kinds: type[Event]) -> Callable[[T], T]:
    """Put a form on the list of what is told of these kinds of entry."""

    def listed(form: T) -> T:
        if form.type in FORMS:
            raise ValueError(f"{form.type} has a form already")
        FORMS[form.type] = form
        for kind in kinds:
            TELLERS.setdefault(kind, []).append(form)
        return form

    return listed


def not_published(reason: str, *kinds: type[Event]) -> None:
    """Say of these kinds of entry why they have no event."""
    SILENT.update(dict.fromkeys(kinds, reason))


def event_of(entry: Entry, event: Event, past: Past) -> FeedEvent | None:
    """The one thing that is told of an entry; None where nothing is."""
    stories = (form.of(entry, event, past) for form in TELLERS.get(type(event), ()))
    return next((story for story in stories if story is not None), None)


def needs_past(event: Event) -> bool:
    """Whether what is told of an entry follows from the round's other entries too."""
    return any(form.needs_past for form in TELLERS.get(type(event), ()))
