"""Calls of a dealer for the pit: one alert for each board, however often the button is pressed, and its
acknowledgement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ledger import alerts
from ledger.models import Alert
from tables.log.state import TableState
from tables.models import Staff, Table

KIND: Final = "pit_called"


@dataclass(frozen=True, slots=True)
class PitCall:
    """A call as the dealer's screen shows it."""

    alert: int
    comes: str
    """The person who acknowledged it; "" until then."""


def call_pit(table: Table, standing: TableState, by: Staff) -> PitCall:
    """Call the pit to a table, or return the call already open for this board."""
    number = standing.round.number if standing.round is not None and standing.round_open else standing.next_number
    message = f"{table.name}, round {number}, after entry {standing.seq}: {by.name} calls the pit"
    alert = alerts.raise_alert(table.book, KIND, message, {"round": number, "seq": standing.seq})
    return _followed(alert)


def call_of(pk: int) -> PitCall | None:
    """A call by the id of its alert; None if there is none."""
    alert = Alert.objects.filter(pk=pk, kind=KIND).select_related("acknowledgement").first()
    return _followed(alert) if alert is not None else None


def _followed(alert: Alert) -> PitCall:
    acknowledgement = getattr(alert, "acknowledgement", None)
    return PitCall(alert.pk, acknowledgement.by if acknowledgement else "")
