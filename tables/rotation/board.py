"""The rotation at a moment: who deals where, who relieves whom next, who is late, and who needs a break."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from tables.log.rotation import DealerHours, hours_of
from tables.log.state import TableState
from tables.models import Staff, Table
from tables.reports import gaming_hours
from tables.rotation import line_ups, sessions
from tables.rotation.line_ups import LineUpChange, StringLineUp
from tables.setup import policies
from tables.setup.pits import natural
from tables.state import table_state

RELIEF_TIME: Final = timedelta(minutes=5)
"""The time from a push to a relief that is late."""
ON_TIME: Final = timedelta(minutes=1)
"""A push that comes sooner before its time than this is early."""


@dataclass(frozen=True, slots=True)
class Position:
    """A position of a string: a table with its dealer and relief, or a break."""

    number: int
    where: str
    """Name of its table; "" for a break."""
    table: Table | None
    """None for a break, and for a table that is retired."""
    username: str
    """User name of the dealer whose position it is; "" for none."""
    name: str
    relief: str
    """Name of the dealer who comes at the next push; "" for none."""
    dealing: str = ""
    """Name of the dealer who is signed in at the table; "" for none."""
    is_open: bool = True
    awaits_relief: bool = False
    """Whether another dealer still deals at the table since the last push."""
    is_late: bool = False
    """Whether the relief has not come within ``RELIEF_TIME`` of the push."""
    hours: DealerHours | None = None
    """The hours of the dealer whose position it is."""
    needs_break: bool = False

    @property
    def is_gap(self) -> bool:
        """Whether an open table has no dealer in the line-up."""
        return self.table is not None and self.is_open and not self.username

    @property
    def is_retired(self) -> bool:
        """Whether the table of the position was retired after the line-up was set."""
        return bool(self.where) and self.table is None


@dataclass(frozen=True, slots=True)
class StringBoard:
    """A string with its positions and its next push."""

    current: StringLineUp
    positions: tuple[Position, ...]
    push_at: datetime
    late: timedelta
    """The time since the next push was due; zero before that, and for a string that is dormant."""
    early: timedelta
    """The time until the next push if it would be an early one; zero otherwise."""
    certificates: tuple[str, ...]
    """Sentences about certificates that are missing or end within the shift."""
    misfits: Mapping[str, str]
    """Sentences about dealers who may not deal at their next table, by user name."""
    plan_fault: str
    """Why the plan itself leaves a dealer without a break for too long; "" if it does not."""

    @property
    def string(self) -> str:
        return self.current.row.string

    @property
    def places(self) -> tuple[Position, ...]:
        """The tables of the string."""
        return tuple(position for position in self.positions if position.where)

    @property
    def is_dormant(self) -> bool:
        return self.current.line_up.is_dormant

    @property
    def asks(self) -> bool:
        """Whether a push is confirmed first: it is early, or sends a dealer to a table where they may not deal."""
        return bool(self.early or self.misfits)

    @property
    def unfit(self) -> tuple[Position, ...]:
        """The positions of the dealers who may not deal at their next table."""
        return tuple(position for position in self.positions if position.username in self.misfits)

    @property
    def unfit_names(self) -> str:
        """The names of these dealers, in a sentence."""
        return ", ".join(position.name for position in self.unfit)

    @property
    def breaks(self) -> tuple[Position, ...]:
        """The break positions of the string."""
        return tuple(position for position in self.positions if not position.where)


@dataclass(frozen=True, slots=True)
class RotationBoard:
    """All strings, and the dealers and tables outside them."""

    strings: tuple[StringBoard, ...]
    free: tuple[Staff, ...]
    """Active dealers in no string."""
    tables: tuple[Table, ...]
    """Open tables in no string."""


def longest_stretch() -> timedelta:
    """The longest time that a dealer may deal without a break, by the policies."""
    return timedelta(minutes=policies.number("longest_stretch_minutes"))


def hours_of_span(start: datetime, end: datetime, now: datetime) -> list[DealerHours]:
    """The hours of all dealers within a span."""
    return hours_of(sessions.sessions(start, end, now), min(end, now))


def board(moment: datetime | None = None) -> RotationBoard:
    """The rotation at a moment. The number of queries depends on the number of strings, not on history."""
    moment = moment or timezone.now()
    strings = line_ups.in_force(moment)
    tables = list(Table.objects.in_use().select_related("book"))
    states = table_state.at_all([table_state.head_of(table) for table in tables])
    by_name = {table.name: (table, states[table.book_id]) for table in tables}
    hours = {each.username: each for each in hours_of_span(moment - gaming_hours.DAY, moment, moment)}
    limit = longest_stretch()
    placed = {name for each in strings for name in each.line_up.dealers}
    used = {name for each in strings for name in each.line_up.tables}
    loose = [table for table in tables if table.name not in used and states[table.book_id].is_open]
    return RotationBoard(
        strings=tuple(_string(each, by_name, hours, limit, moment) for each in strings),
        free=tuple(person for person in line_ups.dealers_for(()) if person.username not in placed),
        tables=tuple(sorted(loose, key=lambda table: natural(table.name))),
    )


def _string(
    current: StringLineUp,
    tables: Mapping[str, tuple[Table, TableState]],
    hours: Mapping[str, DealerHours],
    limit: timedelta,
    moment: datetime,
) -> StringBoard:
    line_up = current.line_up
    # Dealers need a moment to walk to their next tables.
    is_due = moment - line_up.at >= RELIEF_TIME
    every = (_position(current, number, tables, hours, limit) for number in range(len(line_up.dealers)))
    positions = tuple(replace(each, is_late=each.awaits_relief and is_due) for each in every)
    planned = line_up.longest_stretch
    too_long = planned > limit and any(line_up.dealers)
    wait = line_up.push_at - moment
    plan_fault = (
        f"This plan has a dealer deal {planned // timedelta(minutes=1)} minutes without a break, and"
        f" {limit // timedelta(minutes=1)} are permitted: add a dealer on a break, or shorten the turn."
    )
    return StringBoard(
        current=current,
        positions=positions,
        push_at=line_up.push_at,
        late=timedelta() if line_up.is_dormant else max(-wait, timedelta()),
        early=wait if wait >= ON_TIME else timedelta(),
        certificates=tuple(line_ups.uncertified(_as_change(current))),
        misfits=line_ups.unfit(line_up.tables, line_up.coming),
        plan_fault=plan_fault if too_long else "",
    )


def _position(
    current: StringLineUp,
    number: int,
    tables: Mapping[str, tuple[Table, TableState]],
    hours: Mapping[str, DealerHours],
    limit: timedelta,
) -> Position:
    line_up = current.line_up
    username, relief = line_up.dealers[number], line_up.coming[number]
    where = line_up.tables[number] if number < len(line_up.tables) else ""
    table, state = tables.get(where, (None, None))
    dealer = state.dealer if state else None
    own = hours.get(username)
    return Position(
        number=number,
        where=where,
        table=table,
        username=username,
        name=current.names.get(username, username),
        relief=current.names.get(relief, relief),
        dealing=dealer.name if dealer else "",
        is_open=state.is_open if state else not where,
        awaits_relief=dealer is not None and bool(username) and dealer.username != username,
        hours=own,
        needs_break=own is not None and own.stretch >= limit,
    )


def _as_change(current: StringLineUp) -> LineUpChange:
    return LineUpChange(
        string=current.row.string,
        tables=current.line_up.tables,
        dealers=current.line_up.dealers,
        turn_minutes=current.row.turn_minutes,
        push_at=current.line_up.push_at,
        ends=current.line_up.ends,
    )
