"""Every kind of log entry, and the one place where the content of an entry is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Final, TypeGuard, TypeVar

import msgspec

from ledger.proof import spelling
from ledger.proof.chain import Entry
from ledger.proof.spelling import Misspelled
from tables.log import entries
from tables.log.event import Event, Unreadable
from tables.log.kind_record import KindRecord
from tables.log.message import Description, Message
from tables.log.state import TableState


def _events() -> Iterator[type[Event]]:
    """The structs of all kinds, sorted by module name and then in the order of definition."""
    for name in sorted(module.name for module in iter_modules(entries.__path__, f"{entries.__name__}.")):
        for member in vars(import_module(name)).values():
            if _is_kind(member) and member.__module__ == name:
                refuse_unanswered(member)
                yield member


def _is_kind(member: object) -> TypeGuard[type[Event]]:
    return isinstance(member, type) and issubclass(member, Event) and bool(getattr(member, "kinds", ()))


def refuse_unanswered(event: type[Event]) -> None:
    """Check that a kind has answered every question. Raises TypeError that names its struct and what is missing."""
    record = event.__dict__.get("record")
    if not isinstance(record, KindRecord):
        raise TypeError(f"{event.__name__} has no record of its own. Add `record = KindRecord(...)` after its kinds.")
    faults = list(record.faults())
    faults += _undescribed(event)
    if faults:
        raise TypeError(f"{event.__name__} leaves questions unanswered. It needs {'; '.join(faults)}.")


def _undescribed(event: type[Event]) -> Iterator[str]:
    if event.description is Event.description:
        yield "description: from_fields(template), or a method that returns a Message"
    names = {name.partition(".")[0] for name in getattr(event.description, "names", ())}
    yield from (f"a field {name}, which its description names" for name in sorted(names) if not hasattr(event, name))


EVENTS: Final = tuple(_events())
"""Every kind of entry."""

E = TypeVar("E", bound=Event)


def by_name(events: Iterable[type[Event]], *, house: bool) -> Mapping[tuple[str, str], type[Event]]:
    """The kinds of a table's log or of the log of the site. Raises TypeError where two structs are of one kind."""
    kinds: dict[tuple[str, str], type[Event]] = {}
    for event in events:
        for kind in event.kinds if event.of_the_house is house else ():
            if other := kinds.get((event.subject, kind)):
                raise TypeError(
                    f"{event.__name__} and {other.__name__} are both {event.subject} {kind}. Rename a kind."
                )
            kinds[event.subject, kind] = event
    return kinds


AT_TABLES: Final = by_name(EVENTS, house=False)
IN_THE_HOUSE: Final = by_name(EVENTS, house=True)

HOUSE: Final = "house"
"""The name of the log of the site."""


def read(subject: str, kind: str, body: bytes | memoryview, *, house: bool = False) -> Event:
    """Decode the body of an entry of a table's log or, with ``house``, of the log of the site. Raises Unreadable."""
    event = (IN_THE_HOUSE if house else AT_TABLES).get((subject, kind))
    if event is None:
        raise Unreadable(f"the house writes no entry {subject} {kind} in this book")
    return read_as(event, body)


def read_as(event: type[E], body: bytes | memoryview) -> E:
    """Decode the body of an entry of a given kind. Raises Unreadable."""
    try:
        return msgspec.convert(spelling.read(event.subject, bytes(body)).content, event, str_keys=True)
    except (msgspec.MsgspecError, Misspelled, RecursionError) as wrong:
        raise Unreadable(f"it is no {event.subject} {event.kinds[0]} that a house can write: {wrong}") from None


def event_of(entry: Entry) -> Event:
    """Decode the content of an entry. Raises Unreadable."""
    return read(entry.subject, entry.kind, entry.body, house=entry.book == HOUSE)


def fold(standing: TableState, event: Event, *, seq: int, round: int | None) -> TableState:
    """The state of the table after one more event."""
    return event.folded(replace(standing, seq=seq, counted=None), seq, round)


def follow(standing: TableState, entry: Entry) -> TableState:
    """The state of the table after one more entry, which is decoded first."""
    return fold(standing, event_of(entry), seq=entry.seq, round=entry.round)


def described(event: Event) -> Description:
    """The description of an entry, with the time of the event if it was entered later."""
    description = event.description()
    if not event.happened_at:
        return description
    return Message("{description}, at {moment}: written later", description=description, moment=event.happened_at)
