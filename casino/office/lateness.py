"""Finds sites whose days are late: a day should arrive some hours after its end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from casino.office import houses
from casino.office.models import Arrival, Day, House, Refusal
from ledger import alerts, clock

A_DAY: Final = timedelta(hours=24)
PATIENCE: Final = timedelta(hours=6)
"""A day is sealed, sent and verified within minutes of its end. After this time an operator must examine the delay."""


@dataclass(frozen=True, slots=True)
class ReportingStatus:
    """A site's progress and faults."""

    house: House
    last: Day | None
    late: timedelta | None
    """How long the next day is overdue; None if it is not late."""
    waiting: tuple[Arrival, ...]
    fault: str
    """The newest rejection since the last accepted day; empty if there was none."""

    @property
    def late_days(self) -> int:
        """Whole days that the next day is overdue."""
        return self.late.days if self.late else 0


def statuses(moment: datetime) -> list[ReportingStatus]:
    """The status of all sites, by name."""
    return [status_of(house, moment) for house in House.objects.order_by("name")]


def status_of(house: House, moment: datetime) -> ReportingStatus:
    """One site's status at a time."""
    last = houses.last_day(house)
    # The next day ends a day after the last one, whatever its number.
    since = last.ends + A_DAY if last else house.at
    late = moment - since - PATIENCE
    return ReportingStatus(
        house, last, late if late > timedelta(0) else None, tuple(houses.waiting(house)), _fault(house, last)
    )


def _fault(house: House, last: Day | None) -> str:
    """The newest rejection, on arrival or after verification; empty if there was none."""
    since = last.at if last else house.at
    refusal = Refusal.objects.filter(house=house, at__gte=since).order_by("-at").first()
    turned_down = (
        Arrival.objects.filter(house=house, verdict__holds=False, verdict__at__gte=since)
        .select_related("verdict")
        .order_by("-verdict__at")
        .first()
    )
    faults = [(refusal.at, refusal.says)] if refusal else []
    faults += [(turned_down.verdict.at, turned_down.verdict.says)] if turned_down else []
    return max(faults)[1] if faults else ""


def report() -> int:
    """Raise an alert for each late site. Returns the number of late sites."""
    late = [state for state in statuses(clock.read().database) if state.late]
    for state in late:
        since = f"since {state.last.day}" if state.last else "so far"
        message = f"Nothing has arrived from {state.house.name} {since}."
        alerts.raise_alert(None, "day_late", message, {"house": state.house.code})
    return len(late)
