"""The retirements of series of chips: the row of each is what its confirmed slip says."""

from __future__ import annotations

from tables.log.entries.slips import HouseSlipSigned
from tables.log.slip_types import SLIPS
from tables.models import SeriesRetirement
from tables.projections.records import Rows, of_the_house


def in_log() -> Rows:
    """Each series that two people retired, by its name."""
    kinds = [f"{name}_{slip_type.stages[-1].name}" for name, slip_type in SLIPS.items() if slip_type.retires]
    events = [entry.event for entry in of_the_house("retirements", slip=kinds)]
    slips = [event.after for event in events if isinstance(event, HouseSlipSigned)]
    return {slip.facts["series"]: {"slip": slip.name, "last_day": slip.facts["last_day"]} for slip in slips}


def in_database() -> Rows:
    """Each series with a row of its retirement, by its name."""
    rows = SeriesRetirement.objects.select_related("series")
    return {row.series.name: {"slip": row.slip, "last_day": row.last_day.isoformat()} for row in rows}
