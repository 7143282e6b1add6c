"""A count of the cage, or of the house's cash, against what every book moved into it and out of it. Pure.

Such a place is of the whole house: what it is to hold follows from no book alone. So whoever counts it the second time
notes how far each table's book was read, and a proof adds up the same entries.
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
"""The places that are counted so."""

SLACK: Final = timedelta(minutes=1)
"""So far two books' times may differ for one moment: by two hosts' clocks, and until an entry can be read."""


@dataclass(frozen=True, slots=True)
class SecondCount:
    """A second count of such a place: what it expected there, what the house's own book had left there by then, and
    how far each table's was read."""

    seq: int
    place: str
    moment: datetime | None
    """None where it is not known to the minute: a mended time."""
    expected_cents: int
    own_cents: int
    through: Mapping[str, int]


@dataclass(slots=True)
class TablePart:
    """One table's part of a bundle, as far as it is about the places that are counted."""

    before: int
    """The last entry before it."""
    last: int
    before_cents: Mapping[str, int]
    """By place."""
    moves: list[tuple[int, datetime | None, Mapping[str, int]]] = field(default_factory=list)
    """(entry, when, cents by place) for all that went into such a place, or, less than nothing, out of it."""

    def left_cents(self, name: str, count: SecondCount) -> int:
        """What the table had left in the place when it was counted. Raises Misconduct where it was read only so far
        that what moved long before is left out, or what came long after is in it."""
        through, cents = count.through.get(name, 0), self.before_cents.get(count.place, 0)
        for seq, moment, amounts in self.moves:
            amount = amounts.get(count.place, 0)
            if not amount:
                continue
            if seq <= through:
                cents += amount
            if moment is None or count.moment is None:
                continue
            if (moment < count.moment - SLACK and seq > through) or (moment > count.moment + SLACK and seq <= through):
                raise AuditFailure(
                    f"it was counted as if {name} had moved nothing after entry {through} by {count.moment}"
                )
        return cents

    def reaches(self, name: str, count: SecondCount) -> bool:
        """Whether the part has the entry up to which the table was read."""
        return self.before <= count.through.get(name, 0) <= self.last


def count_of(event: Event, entry: Entry, own: Mapping[str, int]) -> SecondCount | None:
    """The second count of such a place that an entry of the house's book is. ``own``: what that book left in each."""
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
    """What came into each of the places that are counted, in cents; below zero where more went out."""
    cents: dict[str, int] = {}
    for move in moves:
        for place, amount in ((move.target_place, move.amount_cents), (move.source_place, -move.amount_cents)):
            if place in COUNTED:
                cents[place] = cents.get(place, 0) + amount
    return {place: amount for place, amount in cents.items() if amount}
