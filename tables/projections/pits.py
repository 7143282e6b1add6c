"""The sections of pits and their drawn plans: none is ever changed, so each row, in the order in which they were set,
is what its one entry says. That a row names its own entry is asked with the book (``proofs.py``)."""

from __future__ import annotations

from tables.models import FloorPlan, PitSection
from tables.projections.records import Rows, of_the_house
from tables.setup import floor_plans, pits


def in_log() -> Rows:
    """Every time that a section was set."""
    entries = enumerate(of_the_house("pits", pit=["section_set"]), 1)
    return {f"{number}": entry.event.content() | {"by": entry.by} for number, entry in entries}


def in_database() -> Rows:
    """Every row of a section."""
    rows = enumerate(PitSection.objects.order_by("seq"), 1)
    return {f"{number}": pits.event_of(row).content() | {"by": row.by} for number, row in rows}


def plans_in_log() -> Rows:
    """Every time that a plan was drawn."""
    entries = enumerate(of_the_house("plans of pits", pit=["plan_drawn"]), 1)
    return {f"{number}": entry.event.content() | {"by": entry.by} for number, entry in entries}


def plans_in_database() -> Rows:
    """Every row of a plan."""
    rows = enumerate(FloorPlan.objects.order_by("seq"), 1)
    return {f"{number}": floor_plans.event_of(row).content() | {"by": row.by} for number, row in rows}
