"""Compares counts of the cage, and of the casino's cash, with the transfers of all logs into and out of them. Pure.

Such a place is shared by the whole site, so no single log has its balance. The second count therefore records how far
each table's log was read, and verification adds up exactly those entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from ledger.proof.chain import Entry
from ledger.proof.chips import called
from ledger.proof.moves import Move
from tables.log.entries.slips import HouseSlipSigned
from tables.log.event import AuditFailure, Event
from tables.log.slip_types import HOUSE_COUNTS

COUNTED: Final = tuple(sorted(set(HOUSE_COUNTS.values())))
"""The shared places with such counts."""

SLACK: Final = timedelta(minutes=1)
"""The maximum difference between two logs' times of one moment: by two hosts' clocks, and until a committed entry
becomes readable."""


@dataclass(frozen=True, slots=True)
class SecondCount:
    """A second count of a shared place: the expected amount, the balance in the site's own log, and how far each
    table's log was read."""

    seq: int
    place: str
    moment: datetime | None
    """None if it is not known to the minute: a corrected time."""
    expected_cents: int
    own_cents: int
    through: Mapping[str, int]


@dataclass(slots=True)
class TablePart:
    """One table's part of a bundle, reduced to its transfers of the counted places."""

    before: int
    """The last entry before the part."""
    last: int
    before_cents: Mapping[str, int]
    """The table's net effect before the part, by place."""
    moves: list[tuple[int, datetime | None, Mapping[str, int]]] = field(default_factory=list)
    """(entry, time, cents by place) of each entry that moved chips or cash into such a place, negative out of it."""

    def left_cents(self, name: str, count: SecondCount) -> int:
        """The table's net effect on the place at the count, in cents. Raises AuditFailure if the recorded entry leaves
        out transfers from long before the count, or includes later ones."""
        through, cents = count.through.get(name, 0), self.before_cents.get(count.place, 0)
        for seq, moment, amounts in self.moves:
            amount = amounts.get(count.place, 0)
            if not amount:
                continue
            if seq <= through:
                cents += amount
            if moment is None or count.moment is None:
                continue
            # Otherwise the counter could choose how far a table was read, and so make a variance vanish.
            if (moment < count.moment - SLACK and seq > through) or (moment > count.moment + SLACK and seq <= through):
                raise AuditFailure(
                    f"it was counted as if {name} had moved nothing after entry {through} by {count.moment}"
                )
        return cents

    def reaches(self, name: str, count: SecondCount) -> bool:
        """Whether the part includes the entry up to which the table was read."""
        return self.before <= count.through.get(name, 0) <= self.last


def count_of(event: Event, entry: Entry, own: Mapping[str, int]) -> SecondCount | None:
    """The second count that an entry of the site log makes, or None. ``own``: the site log's balance of each place, in
    cents. Raises AuditFailure."""
    if not isinstance(event, HouseSlipSigned):
        return None
    place = HOUSE_COUNTS.get(event.kind)
    if place is None:
        return None
    if event.through is None:
        raise AuditFailure(f"it counts the {called(place)}, and does not say how far each book was read")
    if entry.at is None:
        raise AuditFailure(f"it counts the {called(place)} at no moment")
    return SecondCount(
        seq=entry.seq,
        place=place,
        moment=entry.at,
        expected_cents=event.after.expected_cents,
        own_cents=own.get(place, 0),
        through=event.through,
    )


def into_places(moves: Iterable[Move]) -> dict[str, int]:
    """The net amount in cents that moves bring into each counted place; negative out of it."""
    cents: dict[str, int] = {}
    for move in moves:
        for place, amount in ((move.target_place, move.amount_cents), (move.source_place, -move.amount_cents)):
            if place in COUNTED:
                cents[place] = cents.get(place, 0) + amount
    return {place: amount for place, amount in cents.items() if amount}
