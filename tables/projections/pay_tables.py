"""Pay tables that operators made: none is ever changed, so each row is what its one entry says."""

from __future__ import annotations

from tables.log.entries.settings import PayTableMade
from tables.models import PayTable
from tables.projections.records import Rows, of_the_house
from tables.setup import pay_tables


def in_log() -> Rows:
    """Every pay table that was made."""
    entries = [(entry.event, entry.by) for entry in of_the_house("pay tables", pay_table=["made"])]
    return {
        _name(event): pay_tables.as_made(event).content() | {"by": by}
        for event, by in entries
        if isinstance(event, PayTableMade)
    }


def in_database() -> Rows:
    """Every pay table that has a row."""
    return {_name(event): event.content() | {"by": row.by} for row, event in _rows()}


def _rows() -> list[tuple[PayTable, PayTableMade]]:
    return [(row, pay_tables.event_of(row)) for row in PayTable.objects.all()]


def _name(event: PayTableMade) -> str:
    return f"{event.game} {event.name} version {event.version}"
