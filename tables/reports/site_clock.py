"""The house's own clock: pages and printed slips tell the time as the house does, wherever the server stands."""

from __future__ import annotations

import time
from datetime import date
from typing import Final
from zoneinfo import ZoneInfo

from django.db import DatabaseError
from django.http import HttpRequest
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin

from ledger import replica
from tables.reports import gaming_hours

KEPT: Final = 60.0
"""Seconds for which a process keeps the hours it read. Hours are set for days to come, so no page is ever wrong."""

_read: tuple[float, gaming_hours.Calendar] | None = None
"""When the house's hours were read, in seconds of the monotonic clock, and the hours."""


class HouseClock(MiddlewareMixin):
    """Draws each page in the house's time zone."""

    def process_request(self, request: HttpRequest) -> None:
        """While the database is away, as before; the page will say that it is away."""
        timezone.activate(ZoneInfo(zone()))


def zone() -> str:
    """The time zone of the gaming day that it is, by the house's hours."""
    calendar = _calendar()
    if calendar is None:
        return timezone.get_default_timezone_name()
    return calendar.hours_of(calendar.day_of(timezone.now())).time_zone


def day() -> date:
    """The gaming day that it is; while the database is away and never was asked, the day by the calendar."""
    calendar = _calendar()
    return calendar.day_of(timezone.now()) if calendar else timezone.now().date()


def _calendar() -> gaming_hours.Calendar | None:
    global _read
    if _read is not None and time.monotonic() - _read[0] <= KEPT:
        return _read[1]
    try:
        calendar = gaming_hours.calendar()
    except DatabaseError:
        return _read[1] if _read else None
    if replica.as_of() is None:  # what a replica says is older, and kept for nobody
        _read = time.monotonic(), calendar
    return calendar


def forget() -> None:
    """Read the hours anew with the next page."""
    global _read
    _read = None
