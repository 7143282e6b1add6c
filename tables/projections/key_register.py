"""The register of keys and the schedules of drops: none is ever changed, so each row, in the order in which they were
set, is what its one entry says. That a row names its own entry is asked with the book (``proofs.py``)."""

from __future__ import annotations

from tables.cage import key_register
from tables.models import DropSchedule, HouseKey
from tables.projections.records import Rows, of_the_house


def keys_in_log() -> Rows:
    """Every time that a key was set."""
    entries = enumerate(of_the_house("keys", house_key=["set"]), 1)
    return {f"{number}": entry.event.content() | {"by": entry.by} for number, entry in entries}


def keys_in_database() -> Rows:
    """Every row of a key."""
    rows = enumerate(HouseKey.objects.order_by("seq"), 1)
    return {f"{number}": key_register.event_of_key(row).content() | {"by": row.by} for number, row in rows}


def drops_in_log() -> Rows:
    """Every time that a schedule of drops was set."""
    entries = enumerate(of_the_house("drops", drop_schedule=["set"]), 1)
    return {f"{number}": entry.event.content() | {"by": entry.by} for number, entry in entries}


def drops_in_database() -> Rows:
    """Every row of a schedule."""
    rows = enumerate(DropSchedule.objects.order_by("seq"), 1)
    return {f"{number}": key_register.schedule_in(row).spelled().content() | {"by": row.by} for number, row in rows}
