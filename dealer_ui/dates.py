"""Days and moments in addresses and forms, read without an error: invalid text is None."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from django.http import HttpRequest
from django.urls import register_converter
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from tables.log.moments import is_possible
from tables.reports import gaming_hours


def day(text: str | None) -> date | None:
    """A day that a house can have seen; None for anything else."""
    try:
        read = parse_date(text or "")
    except ValueError:
        return None
    return read if read is not None and is_possible(read) else None


def gaming_day(request: HttpRequest) -> date:
    """The gaming day that the query asks for, at the latest today; today for anything that is no day."""
    today = gaming_hours.day_of(timezone.now())
    return min(day(request.GET.get("day")) or today, today)


def with_neighbours(day: date, latest: date) -> dict[str, date | None]:
    """A day as the context of a page, with the day before and the day after; None after the latest day."""
    step = timedelta(days=1)
    return {"on": day, "before": day - step, "after": day + step if day < latest else None}


def moment(text: str | None) -> datetime | None:
    """A moment that a house can have seen, 2026-01-31T21:30:05Z; without a zone it is by the house's clock."""
    try:
        # A plus sign that was not escaped came as a space.
        read = parse_datetime((text or "").strip().replace(" ", "+" if "T" in (text or "") else " "))
    except ValueError:
        return None
    if read is None or not is_possible(read):
        return None
    return (timezone.make_aware(read) if timezone.is_naive(read) else read).astimezone(UTC)


def spelled(moment: datetime) -> str:
    """A moment as ``moment`` reads it."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


class Day:
    """A day as a part of an address. Another one is no address of ours."""

    regex = "[0-9]{4}-[0-9]{2}-[0-9]{2}"

    def to_python(self, text: str) -> date:
        """Raises ValueError, which Django answers with 404."""
        if (read := day(text)) is None:
            raise ValueError(f"{text} is no day")
        return read

    def to_url(self, day: date | str) -> str:
        """As it was read."""
        return str(day)


register_converter(Day, "day")
