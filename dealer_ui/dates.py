"""Days as addresses and forms bring them: whatever stands there, reading it never fails."""

from __future__ import annotations

from datetime import date

from django.utils.dateparse import parse_date


def day(text: str | None) -> date | None:
    """A day that a house can have seen; None for anything else."""
    try:
        read = parse_date(text or "")
    except ValueError:
        return None
    return read if read is not None and 2000 <= read.year <= 2999 else None


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
