"""A count of the cage against what every book moved into it and out of it. Pure.

The cage is of the whole house: what it is to hold follows from no book alone. So whoever counts it the second time
notes how far each table's book was read, and a proof adds up the same entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from ledger.proof.chain import Entry
from ledger.proof.chips import CAGE
from ledger.proof.moves import Move
from tables.log.entries.slips import HouseSlipSigned
from tables.log.event import Event, Misconduct

SLACK: Final = timedelta(minutes=1)
"""So far two books' times may differ for one moment: by two hosts' clocks, and until an entry can be read."""


@dataclass(frozen=True, slots=True)
class Count:
    """A second count of the cage: what it expected there, what the house's own book had left there by then, and how
    far each table's was read."""

    seq: int
    moment: datetime | None
    """None where it is not known to the minute: a mended time."""
    expected_cents: int
    own_cents: int
    through: Mapping[str, int]


@dataclass(slots=True)
class Part:
    """One table's part of a bundle, as far as it is about the cage."""

    before: int
    """The last entry before it."""
    last: int
    before_cents: int
    moves: list[tuple[int, datetime | None, int]] = field(default_factory=list)
    """(entry, when, cents) for all that went into the cage, or, less than nothing, out of it."""

    def left_cents(self, name: str, count: Count) -> int:
        """What the table had left in the cage when it was counted. Raises Misconduct where it was read only so far
        that what moved long before is left out, or what came long after is in it."""
        through, cents = count.through.get(name, 0), self.before_cents
        for seq, moment, amount in self.moves:
            if seq <= through:
                cents += amount
            if moment is None or count.moment is None:
                continue
            if (moment < count.moment - SLACK and seq > through) or (moment > count.moment + SLACK and seq <= through):
                raise Misconduct(
                    f"it was counted as if {name} had moved nothing after entry {through} by {count.moment}"
                )
        return cents

    def reaches(self, name: str, count: Count) -> bool:
        """Whether the part has the entry up to which the table was read."""
        return self.before <= count.through.get(name, 0) <= self.last


def count_of(event: Event, entry: Entry, own_cents: int) -> Count | None:
    """The second count of the cage that an entry of the house's book is. ``own_cents``: what that book left there."""
    if not isinstance(event, HouseSlipSigned) or event.through is None:
        return None
    if entry.at is None:
        raise Misconduct("it counts the cage at no moment")
    return Count(entry.seq, entry.at, event.after.expected_cents, own_cents, event.through)


def into_the_cage(moves: Iterable[Move]) -> int:
    """In cents; below zero where more went out of the cage than came in."""
    return sum(move.amount_cents * ((move.target_place == CAGE) - (move.source_place == CAGE)) for move in moves)
