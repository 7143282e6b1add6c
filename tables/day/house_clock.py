"""The house's own clock: pages and printed slips tell the time as the house does, wherever the server stands."""

from __future__ import annotations

import time
from typing import Final
from zoneinfo import ZoneInfo

from django.db import DatabaseError
from django.http import HttpRequest
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin

from tables.day import hours

KEPT: Final = 60.0
"""Seconds for which a process keeps the zone it read. Hours are set for days to come, so no page is ever wrong."""

_read: tuple[float, str] | None = None
"""When the zone was read, in seconds of the monotonic clock, and the zone."""


class HouseClock(MiddlewareMixin):
    """Draws each page in the house's time zone."""

    def process_request(self, request: HttpRequest) -> None:
        """While the database is away, as before; the page will say that it is away."""
        timezone.activate(ZoneInfo(zone()))


def zone() -> str:
    """The time zone of the gaming day that it is, by the house's hours."""
    global _read
    if _read is None or time.monotonic() - _read[0] > KEPT:
        try:
            calendar = hours.calendar()
            _read = time.monotonic(), calendar.hours_of(calendar.day_of(timezone.now())).time_zone
        except DatabaseError:
            return _read[1] if _read else timezone.get_default_timezone_name()
    return _read[1]


def forget() -> None:
    """Read the hours anew with the next page."""
    global _read
    _read = None
