"""The moments that a wall clock shows: clocks leap over times, and show others twice. Pure."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from functools import lru_cache
from zoneinfo import ZoneInfo


@lru_cache(maxsize=4_096)
def moment_of(zone: str, day: date, wall_time: time) -> datetime:
    """The first moment at which a clock shows this time, or a later one: clocks may leap over it, or show it twice."""
    clock = ZoneInfo(zone)
    wall = datetime.combine(day, wall_time, clock)
    # By PEP 495 a time that is leapt over lies after the leap by fold 0 and before it by fold 1.
    first, second = wall.astimezone(UTC), wall.replace(fold=1).astimezone(UTC)
    if first.astimezone(clock).replace(tzinfo=None) == wall.replace(tzinfo=None):
        return first
    return _leap(clock, second, first)


def _leap(clock: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """The second at which a clock leaps, between two moments."""
    low, high, new = int(before.timestamp()), int(after.timestamp()), after.astimezone(clock).utcoffset()
    while high - low > 1:
        middle = (low + high) // 2
        has_leapt = datetime.fromtimestamp(middle, clock).utcoffset() == new
        low, high = (low, middle) if has_leapt else (middle, high)
    return datetime.fromtimestamp(high, UTC)
