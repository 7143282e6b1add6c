"""The versions of limit plans: none is ever changed, so each row, in the order in which they were set, is what its one
entry says. That a row names its own entry is asked with the book (``proofs.py``)."""

from __future__ import annotations

from typing import Any

from tables.limits import plans
from tables.log.event import Event
from tables.models import LimitPlan
from tables.projections.records import Rows, of_the_house


def in_log() -> Rows:
    """Every version that was set."""
    entries = enumerate(of_the_house("limit_plans", limit_plan=["set"]), 1)
    return {f"{number}": _columns(entry.event) | {"by": entry.by} for number, entry in entries}


def _columns(event: Event) -> dict[str, Any]:
    """What an entry says, without the rule that it was judged by: of that a row says nothing."""
    return {name: value for name, value in event.content().items() if name != "effective_maxima"}


def in_database() -> Rows:
    """Every row of a version."""
    rows = enumerate(LimitPlan.objects.order_by("seq"), 1)
    return {f"{number}": plans.event_of(row).content() | {"by": row.by} for number, row in rows}
