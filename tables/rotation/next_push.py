"""The next push for the dealer at a table: when it is due, who comes, and where the dealer goes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tables.rotation import line_ups
from tables.rotation.line_ups import StringLineUp


@dataclass(frozen=True, slots=True)
class NextPush:
    """The next push of a string, for one of its dealers."""

    push_at: datetime
    relief: str
    """Name of the dealer who comes; "" for none."""
    awaits_relief: bool
    """Whether the position of the table is another dealer's since the last push."""
    is_placed: bool
    """Whether the dealer has a position in the string; a dealer who covers for another one has none."""
    table: str
    """Name of the dealer's next table; "" for a break."""


def next_push(table: str, username: str, moment: datetime | None = None) -> NextPush | None:
    """The next push for the dealer who deals at a table; None for a table in no string."""
    current = next(iter(line_ups.in_force(moment, table)), None)
    return _of(current, table, username) if current else None


def _of(current: StringLineUp, table: str, username: str) -> NextPush:
    line_up = current.line_up
    awaits_relief = line_up.dealer_of(table) not in ("", username)
    # After a push, its dealers are on the way to the positions that they have.
    dealers = line_up.dealers if awaits_relief else line_up.coming
    relief = dealers[line_up.tables.index(table)]
    place = dealers.index(username) if username in dealers else len(dealers)
    return NextPush(
        push_at=line_up.push_at,
        relief="" if relief == username else current.names.get(relief, relief),
        awaits_relief=awaits_relief,
        is_placed=username in dealers,
        table=line_up.tables[place] if place < len(line_up.tables) else "",
    )
