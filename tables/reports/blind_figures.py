"""Whose figures are told to whom: who counts a rack unseen learns from neither its win nor its ends what is due."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from django.utils import timezone

from ledger.proof.chips import RACK
from tables.cage import blind_counts
from tables.log.state import TableState
from tables.models import Table
from tables.reports import gaming_hours
from tables.reports.figures import LEDGER, Figures
from tables.state import table_state


def counts(role: str, state: TableState) -> bool:
    """Whether the role may sign the next step of a rack count in progress: the expected balance is hidden."""
    counting = [slip.due for slip in state.slips if slip.series.counts(RACK)]
    return any(stage is not None and role in stage.roles for stage in counting)


def tables_for(role: str, day: date, among: Iterable[Table] | None = None) -> tuple[Sequence[Table] | None, list[str]]:
    """The tables with figures that a role may see for a day (None: all), and the names of the hidden ones.

    Today's win of a table reveals the expected balance of its rack, so roles that count the rack must not see it.
    """
    chosen = None if among is None else list(among)
    if day < gaming_hours.day_of(timezone.now()):
        return chosen, []
    tables = list(Table.objects.select_related("book").order_by("name")) if chosen is None else chosen
    standings = table_state.at_all([table_state.head_of(table) for table in tables])
    unseen = [table for table in tables if counts(role, standings[table.book_id])]
    if not unseen:
        return chosen, []
    return [table for table in tables if table not in unseen], [table.name for table in unseen]


def hides_racks(role: str, day: date) -> bool:
    """Whether what a rack should hold is kept from a role, for it may count it; of a day that is over it is not."""
    return day >= gaming_hours.day_of(timezone.now()) and RACK in blind_counts.unseen_by(role)


def row(line: Figures, *, hides_racks: bool) -> dict[str, Any]:
    """A row of figures, without rack balances from the ledger if ``hides_racks``."""
    unseen = [end for end in ("opener", "closer") if hides_racks and getattr(line, f"{end}_is") == LEDGER]
    return line.row() | {f"{end}_cents": None for end in unseen}
