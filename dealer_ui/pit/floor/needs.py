"""The tasks of a table for a viewer, most urgent first, each with the sentence on its tile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from tables.alerts.alert_types import Rule
from tables.board.table_view import Board
from tables.log.state import TableState
from tables.models import Table

RESTORED, ALERT, DISPUTE, LOCKED, SLIP, NO_DEALER, RELIEF_LATE, CUT_CARD, PAPERS, RELIEF_SOON = (
    99,
    90,
    80,
    75,
    70,
    60,
    50,
    40,
    30,
    20,
)
"""Urgency of each task. An alert of a higher level counts one more for each level."""
SOON: Final = timedelta(minutes=10)
"""How long before it is due a relief is shown on the tile."""


@dataclass(frozen=True, slots=True)
class Need:
    """Something that a table waits for."""

    rank: int
    says: str
    mark: str = ""
    """The symbol that its tile shows with it."""


@dataclass(frozen=True, slots=True)
class Relief:
    """When the dealer at a table is due to be relieved."""

    since: datetime
    due: datetime | None
    """When it is due; None without an alert rule for this table."""

    @classmethod
    def of(cls, since: datetime, table: Table, rule: Rule) -> Relief:
        """The relief due by the alert rule about time at a table; without a due time where the rule does not apply."""
        goes_by = rule.is_on and rule.threshold is not None and rule.is_for(table.name, table.game)
        return cls(since, since + timedelta(minutes=rule.threshold or 0) if goes_by else None)

    @property
    def at_table_minutes(self) -> int:
        """The minutes since the dealer tapped in."""
        return _minutes(timezone.now() - self.since)

    @property
    def is_late(self) -> bool:
        return self.due is not None and self.due <= timezone.now()

    @property
    def need(self) -> Need | None:
        """The task of a relief that is late or due soon; None otherwise."""
        if self.due is None:
            return None
        left = self.due - timezone.now()
        if left <= timedelta():
            return Need(RELIEF_LATE, f"Relief late: {_minutes(-left)} min")
        return Need(RELIEF_SOON, f"Relief in {_minutes(left)} min") if left <= SOON else None


def _minutes(span: timedelta) -> int:
    return int(span.total_seconds() // 60)


@dataclass(frozen=True, slots=True)
class TableNeeds:
    """The open cases of a table, as far as a role is informed of them."""

    alert_level: int | None = None
    """Severity of its most severe alert; None where none is open."""
    alert_title: str = ""
    disputes: int = 0


def needs(
    role: str, board: Board, standing: TableState, matters: TableNeeds, relief: Relief | None
) -> tuple[Need, ...]:
    """The tasks that a role sees at a table, the most urgent first."""
    pressing = [*_matters(matters), *_slips(role, standing), *_stops(board, standing)]
    if relief and (near := relief.need):
        pressing.append(near)
    return tuple(sorted(pressing, key=lambda need: -need.rank))


def _matters(matters: TableNeeds) -> Iterator[Need]:
    if matters.alert_level is not None:
        yield Need(ALERT + matters.alert_level, f"Alert: {matters.alert_title}", "alert")
    if matters.disputes:
        yield Need(DISPUTE, "Dispute open" if matters.disputes == 1 else f"{matters.disputes} disputes open", "alert")


def _slips(role: str, state: TableState) -> Iterator[Need]:
    for slip in state.slips:
        if slip.due and role in slip.due.roles:
            yield Need(SLIP, f"{slip.label} {slip.due.to_be}", "alert")


def _stops(board: Board, state: TableState) -> Iterator[Need]:
    """The conditions that stop the table from being dealt, or soon will."""
    if state.restored is not None and state.restored.waits:
        yield Need(RESTORED, "To be confirmed after a restore", "alert")
    if state.lock is not None:
        yield Need(LOCKED, "Rack is locked", "alert")
    elif board.due == "dealer":
        yield Need(NO_DEALER, "Needs a dealer", "alert")
    if board.shoe and board.shoe.cut_out:
        yield Need(CUT_CARD, "Cut card is out")
    if state.back_entry:
        yield Need(PAPERS, "Back-entry")
