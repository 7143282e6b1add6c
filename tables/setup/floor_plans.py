"""The drawn floor plan of a pit: the positions of its tables. Rows are only added, and each has its log entry.

A plan is a grid. A table without a position takes the next free one in the first rows, in the order of its pit, so a
pit has a plan before one is drawn. A table that left the pit is not on its plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import count
from typing import Final

from django.db import transaction

from ledger import site_log
from ledger.proof.chain import Entry
from tables.log.entries.pits import FloorPlanDrawn
from tables.models import FloorPlan, Staff
from tables.projections import site_rows
from tables.refusals import Faults, Refused, refuse_faults
from tables.setup import pits

WIDE: Final = 24
"""Steps from the left edge of a plan to its right one."""
HIGH: Final = 14
"""Steps from its top edge to its bottom one, for as many tables as stand there; more of them take further rows."""
TABLE_WIDE: Final = 4
"""Steps that a table takes."""
TABLE_HIGH: Final = 3

Spot = tuple[int, int]
Spots = dict[str, Spot]


def newest(pit: str) -> FloorPlan | None:
    """The plan of a pit as it was drawn last."""
    return FloorPlan.objects.filter(pit=pit).order_by("-seq").first()


def spots_of(drawn: Mapping[str, Collection[int]], tables: Collection[str]) -> Spots:
    """The positions of the tables of a pit: as drawn, and for the others the next free ones, without overlaps."""
    spots = {name: _spot(drawn[name]) for name in tables if name in drawn}
    free = _free(spots.values())
    return spots | {name: next(free) for name in tables if name not in spots}


def _spot(place: Collection[int]) -> Spot:
    left, top = place
    return left, top


def _free(spots: Collection[Spot]) -> Iterator[Spot]:
    spots = list(spots)
    for top in count(0, TABLE_HIGH + 1):
        for left in range(0, WIDE - TABLE_WIDE + 1, TABLE_WIDE + 1):
            if not any(_overlap((left, top), spot) for spot in spots):
                yield left, top


def high_of(spots: Collection[Spot]) -> int:
    """Steps from the top edge of a plan to its bottom one, so that all of its tables stand on it."""
    return max([HIGH, *(top + TABLE_HIGH for _, top in spots)])


def most_high(tables: int) -> int:
    """The lowest possible bottom edge of a plan, in grid steps, with all its tables below each other."""
    return max(HIGH, tables * (TABLE_HIGH + 1))


def _overlap(spot: Spot, neighbour: Spot) -> bool:
    return abs(spot[0] - neighbour[0]) < TABLE_WIDE and abs(spot[1] - neighbour[1]) < TABLE_HIGH


def draw(event: FloorPlanDrawn, *, basis_seq: int, by: Staff) -> FloorPlan:
    """Store the positions of the tables of a pit. Raises Refused.

    ``basis_seq`` is the entry of the plan that the author started from, 0 for none.
    """
    by.require("tables.add_pitsection", "Only an operator arranges the tables of a pit.")
    with transaction.atomic():
        head = site_log.lock()
        # Optimistic locking: a plan drawn from an older version would undo the one saved since.
        current = newest(event.pit)
        if current is not None and current.seq != basis_seq:
            sentence = f"{current.by} drew {event.pit} meanwhile. Yours is still here: save again to keep it."
            raise Refused("changed_meanwhile", sentence, 409, seen=current.seq)
        refuse_faults("bad_plan", faults(event))
        return site_rows.FLOOR_PLANS.append(head, event, by.signature)


def faults(event: FloorPlanDrawn) -> Faults:
    """The faults of a plan to be drawn, by field."""
    present = {name for row in pits.sections() if row.pit == event.pit for name in row.tables}
    if not present:
        return {"pit": f"There is no pit {event.pit}: say which tables stand in it first."}
    if strangers := sorted(event.spots.keys() - present, key=pits.natural):
        return {"spots": f"{strangers[0]} does not stand in {event.pit}."}
    return _spot_faults(event)


def _spot_faults(event: FloorPlanDrawn) -> Faults:
    right, bottom = WIDE - TABLE_WIDE, most_high(len(event.spots)) - TABLE_HIGH
    for name, (left, top) in event.spots.items():
        if not (0 <= left <= right and 0 <= top <= bottom):
            return {"spots": f"{name} stands off the plan: 0 to {right} from the left, 0 to {bottom} from the top."}
    placed = list(event.spots.items())
    for number, (name, spot) in enumerate(placed):
        if neighbour := next((neighbour for neighbour, place in placed[:number] if _overlap(spot, place)), ""):
            return {"spots": f"{name} stands upon {neighbour}: move one of them."}
    return {}


def entry_fault(event: FloorPlanDrawn, entry: Entry) -> str:
    """Why an entry of a plan is invalid; empty if it is valid.

    Which tables were in the pit is not checked: those rows may have been tampered with, and have a check of their own.
    """
    # Only the spots of the entry itself: rows are verified against the log, and not the log against rows.
    return " ".join(_spot_faults(event).values())
