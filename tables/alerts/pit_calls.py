"""A dealer calls the pit to the table: one alert for one board, however often the button is pressed, and whether
somebody comes."""

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
    """A call as the dealer follows it."""

    alert: int
    comes: str
    """Who took note of it; nobody as long as it is empty."""


def call_pit(table: Table, standing: TableState, by: Staff) -> PitCall:
    """Call the pit, or follow the call that this board has had before."""
    number = standing.round.number if standing.round is not None and standing.round_open else standing.next_number
    message = f"{table.name}, round {number}, after entry {standing.seq}: {by.name} calls the pit"
    alert = alerts.raise_alert(table.book, KIND, message, {"round": number, "seq": standing.seq})
    return _followed(alert)


def call_of(pk: int) -> PitCall | None:
    """A call that was made."""
    alert = Alert.objects.filter(pk=pk, kind=KIND).select_related("acknowledgement").first()
    return _followed(alert) if alert is not None else None


def _followed(alert: Alert) -> PitCall:
    acknowledgement = getattr(alert, "acknowledgement", None)
    return PitCall(alert.pk, acknowledgement.by if acknowledgement else "")
