"""Days and moments on the command line. Each function raises ArgumentTypeError with the correct form."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import date, datetime

from tables.log.moments import YEARS, is_possible


def day(text: str) -> date:
    try:
        read = date.fromisoformat(text)
    except ValueError:
        read = None
    if read is None or not is_possible(read):
        raise ArgumentTypeError(f"{text!r} is not a day {YEARS}: write it as 2026-11-22")
    return read


def moment(text: str) -> datetime:
    """A moment with its offset."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        read = None
    if read is None or read.tzinfo is None or not is_possible(read):
        raise ArgumentTypeError(f"{text!r} is not a moment {YEARS} with its offset: write it as 2026-11-22T06:00:00Z")
    return read
