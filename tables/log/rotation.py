"""Dealer rotation: the positions of the dealers of a string at any moment. Pure.

A string is a row of tables that a group of dealers deals in turn. Its positions are its tables in order, then its
breaks. At a push, each dealer moves to the next position, and the dealer of the last position to the first table. The
floor calls a push, or the first relief of the new turn taps in: the line-up moves on either way, and only once. A
string whose tables are all closed is dormant: no push is due until one of them opens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

TURNS: Final = (20, 40, 60)
"""The usual lengths of a turn, in minutes."""
SHORTEST_BREAK: Final = timedelta(minutes=10)
"""A shorter time off the tables is the way from one table to the next, and no break."""


class Tap(NamedTuple):
    """A dealer tapped in at a table."""

    table: str
    username: str
    at: datetime


class TableStatus(NamedTuple):
    """A table opened or closed."""

    table: str
    is_open: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LineUp:
    """The dealers of a string by position, from a moment on."""

    string: str
    tables: tuple[str, ...]
    dealers: tuple[str, ...]
    """User names; "" for a position without a dealer. Each table has a position, each further one is a break."""
    turn: timedelta
    push_at: datetime
    ends: datetime
    at: datetime
    """The moment of its entry, or of the tap that moved it on."""
    closed: frozenset[str] = frozenset()
    """Its tables that are closed."""

    @property
    def is_dormant(self) -> bool:
        """Whether all its tables are closed."""
        return self.closed.issuperset(self.tables)

    @property
    def coming(self) -> tuple[str, ...]:
        """The dealers by position after the next push."""
        return (*self.dealers[-1:], *self.dealers[:-1])

    @property
    def former(self) -> tuple[str, ...]:
        """The dealers by position before the last push."""
        return (*self.dealers[1:], *self.dealers[:1])

    @property
    def on_break(self) -> tuple[str, ...]:
        """The dealers on a break."""
        return tuple(name for name in self.dealers[len(self.tables) :] if name)

    @property
    def longest_stretch(self) -> timedelta:
        """The time that each dealer deals between two breaks, as planned; a string without breaks has none but the
        shift."""
        has_breaks = len(self.dealers) > len(self.tables)
        return self.turn * len(self.tables) if has_breaks else self.ends - self.at

    def dealer_of(self, table: str) -> str:
        """The user name of the dealer whose position is a table; "" for none."""
        return self.dealers[self.tables.index(table)] if table in self.tables else ""

    def relief_of(self, table: str) -> str:
        """The user name of the dealer who relieves the dealer of a table at the next push; "" for none."""
        return self.coming[self.tables.index(table)] if table in self.tables else ""

    def pushed(self, moment: datetime) -> LineUp:
        """The line-up after a push. The plan keeps its clock times; after a push that is late by a turn or more, or
        early by more than half a turn, the next one is due a turn later."""
        planned = self.push_at + self.turn
        keeps_times = moment < planned <= moment + self.turn * 1.5
        return replace(self, dealers=self.coming, push_at=planned if keeps_times else moment + self.turn, at=moment)

    def tapped(self, tap: Tap) -> LineUp:
        """The line-up after a tap. The first relief of the next turn moves it on for all dealers of the string; a
        relief in the first half of a turn is not part of the rotation."""
        is_due = tap.at > self.at and tap.at >= self.push_at - self.turn / 2
        is_relief = tap.username == self.relief_of(tap.table) != self.dealer_of(tap.table)
        return self.pushed(tap.at) if is_due and is_relief else self

    def switched(self, status: TableStatus) -> LineUp:
        """The line-up after a table opened or closed. A push that came due while the string was dormant is due a turn
        after its first table opened."""
        changed = self.closed - {status.table} if status.is_open else self.closed | {status.table}
        woke = self.is_dormant and not changed.issuperset(self.tables) and status.at > self.at
        push_at = status.at + self.turn if woke and self.push_at <= status.at else self.push_at
        return replace(self, closed=changed, push_at=push_at)


def moved_on(line_up: LineUp, events: Iterable[Tap | TableStatus]) -> LineUp:
    """A line-up after the taps, openings and closings at its tables since its entry. Openings and closings before the
    entry tell which tables were closed then."""
    for event in sorted(events, key=lambda event: event.at):
        line_up = line_up.tapped(event) if isinstance(event, Tap) else line_up.switched(event)
    return line_up


class Session(NamedTuple):
    """The time of a dealer at a table, up to now where it lasts."""

    username: str
    name: str
    table: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class DealerHours:
    """The hours of a dealer within a span."""

    username: str
    name: str
    dealt: timedelta
    breaks: int
    on_break: timedelta
    longest: timedelta
    """The longest time without a break."""
    stretch: timedelta
    """The time since the last break; zero while the dealer is at no table."""
    tables: tuple[str, ...]

    @property
    def minutes(self) -> int:
        """Whole minutes since the last break."""
        return self.stretch // timedelta(minutes=1)


def stretches(sessions: Iterable[Session]) -> Iterator[tuple[datetime, datetime]]:
    """The times that a dealer dealt without a break, from the sessions of the dealer in order."""
    start = end = None
    for session in sessions:
        if start is None or end is None or session.start - end >= SHORTEST_BREAK:
            if start is not None and end is not None:
                yield start, end
            start = session.start
        end = session.end
    if start is not None and end is not None:
        yield start, end


def hours_of(sessions: Iterable[Session], moment: datetime) -> list[DealerHours]:
    """The hours of each dealer, by name, from sessions at all tables; ``moment`` is the end of those that last."""
    by_dealer: dict[str, list[Session]] = {}
    for session in sorted(sessions, key=lambda session: session.start):
        by_dealer.setdefault(session.username, []).append(session)
    hours = [_hours(dealt, moment) for dealt in by_dealer.values()]
    return sorted(hours, key=lambda hours: hours.name)


def _hours(sessions: list[Session], moment: datetime) -> DealerHours:
    spans = list(stretches(sessions))
    breaks = [later[0] - earlier[1] for earlier, later in pairwise(spans)]
    last = sessions[-1]
    return DealerHours(
        username=last.username,
        name=last.name,
        dealt=sum((session.end - session.start for session in sessions), timedelta()),
        breaks=len(breaks),
        on_break=sum(breaks, timedelta()),
        longest=max(end - start for start, end in spans),
        stretch=moment - spans[-1][0] if last.end == moment else timedelta(),
        tables=tuple(dict.fromkeys(session.table for session in sessions)),
    )


def fault_of(tables: tuple[str, ...], dealers: tuple[str, ...]) -> str:
    """The fault of the positions of a string as a sentence; "" if there is none."""
    people = [name for name in dealers if name]
    if len(set(tables)) < len(tables):
        return "Name each table of a string once."
    if len(set(people)) < len(people):
        return "A dealer has one position in a line-up."
    if len(dealers) < len(tables):
        return f"{len(tables)} tables need {len(tables)} positions or more: there are {len(dealers)}."
    return ""


def is_push(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Whether pushes alone turn one order of dealers into another."""
    turned = [before[place:] + before[:place] for place in range(len(before))]
    return after in turned
