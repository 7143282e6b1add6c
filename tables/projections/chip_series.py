"""Series of chips and their retirement: neither is ever changed, so each row is what its one entry says."""

from __future__ import annotations

from tables.log.entries.chips import ChipSeriesAdded
from tables.log.entries.slips import HouseSlipSigned
from tables.log.slip_types import SLIPS
from tables.models import ChipSeries, SeriesRetirement
from tables.projections.records import Rows, of_the_house


def in_log() -> Rows:
    """Every series that was added."""
    entries = [(entry.event, entry.by) for entry in of_the_house("series of chips", chip_series=["added"])]
    return {
        event.name: _columns(event.manufacturer, event.year, event.values, by)
        for event, by in entries
        if isinstance(event, ChipSeriesAdded)
    }


def in_database() -> Rows:
    """Every series that has a row."""
    return {row.name: _columns(row.manufacturer, row.year, row.values, row.by) for row in ChipSeries.objects.all()}


def _columns(manufacturer: str, year: int, values: object, by: str) -> dict[str, object]:
    kinds = list(values) if isinstance(values, list | tuple) else values
    return {"manufacturer": manufacturer, "year": year, "values": kinds, "by": by}


def retired_in_log() -> Rows:
    """Every series that two people retired."""
    kinds = [f"{name}_{record.stages[-1].name}" for name, record in SLIPS.items() if record.retires]
    events = [entry.event for entry in of_the_house("retirements", slip=kinds)]
    slips = [event.after for event in events if isinstance(event, HouseSlipSigned)]
    return {slip.facts["series"]: {"slip": slip.name, "last_day": slip.facts["last_day"]} for slip in slips}


def retired_in_database() -> Rows:
    """Every retirement that has a row."""
    rows = SeriesRetirement.objects.select_related("series")
    return {row.series.name: {"slip": row.slip, "last_day": row.last_day.isoformat()} for row in rows}
