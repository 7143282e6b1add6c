"""The versions of limit plans: none is ever changed, so each row, in the order in which they were set, is what its one
entry says. That a row names its own entry is asked with the book (``proofs.py``)."""

from __future__ import annotations

from tables.audit.rows.reading import Rows, of_the_house
from tables.models import LimitPlan
from tables.setup import limit_plans


def in_log() -> Rows:
    """Every version that was set."""
    entries = enumerate(of_the_house("limit_plans", limit_plan=["set"]), 1)
    return {f"{number}": entry.event.content() | {"by": entry.by} for number, entry in entries}


def in_database() -> Rows:
    """Every row of a version."""
    rows = enumerate(LimitPlan.objects.order_by("seq"), 1)
    return {f"{number}": limit_plans.event_of(row).content() | {"by": row.by} for number, row in rows}
