"""Which houses are late: a day that is over should be here some hours later."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from casino.office import houses
from casino.office.models import Arrival, Day, House, Refusal
from ledger import alerts, clock

A_DAY: Final = timedelta(hours=24)
PATIENCE: Final = timedelta(hours=6)
"""After its end a day is sealed, sent and verified within minutes: hours mean that somebody has to look."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How it stands with a house."""

    house: House
    last: Day | None
    late: timedelta | None
    """For how long the next day should have been here; None where it is not late."""
    waiting: tuple[Arrival, ...]
    fault: str
    """What did not hold since the last day that did; empty where nothing did not."""

    @property
    def late_days(self) -> int:
        """Whole days of it."""
        return self.late.days if self.late else 0


def standings(moment: datetime) -> list[Standing]:
    """All of them, by name."""
    return [standing(house, moment) for house in House.objects.order_by("name")]


def standing(house: House, moment: datetime) -> Standing:
    """How it stands with one."""
    last = houses.last_day(house)
    since = last.ends + A_DAY if last else house.at
    late = moment - since - PATIENCE
    return Standing(
        house, last, late if late > timedelta(0) else None, tuple(houses.waiting(house)), _fault(house, last)
    )


def _fault(house: House, last: Day | None) -> str:
    """The newest thing that did not hold."""
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
    """Raise an alert for each house that is late; how many are."""
    late = [state for state in standings(clock.read().database) if state.late]
    for state in late:
        since = f"since {state.last.day}" if state.last else "so far"
        says = f"Nothing has arrived from {state.house.name} {since}."
        alerts.raise_alert(None, "day_late", says, {"house": state.house.code})
    return len(late)
