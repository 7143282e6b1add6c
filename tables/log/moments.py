"""The moments and days that a request may name: those of the years 2000 to 2999, which any time zone can show."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from tables.refusals import Refused, pointer

FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)
LAST: Final = datetime(2999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
YEARS: Final = f"from {FIRST.year} to {LAST.year}"

Moment = Annotated[datetime, Meta(tz=True)]
"""A moment with its offset, sent by an API client. ``refuse`` checks each."""


def is_possible(value: date) -> bool:
    """Whether a day, or a moment, is within the supported years. A moment without an offset is read as UTC."""
    if not isinstance(value, datetime):
        return FIRST.date() <= value <= LAST.date()
    return FIRST <= (value if value.tzinfo else value.replace(tzinfo=UTC)) <= LAST


def within(moment: datetime) -> datetime:
    """The nearest supported moment, for stored ones, because earlier releases accepted any year."""
    return min(max(moment, FIRST), LAST)


def fault(value: date) -> str:
    """The supported range, as a clause about a moment or day outside of it; empty if it is supported."""
    kind = "moment" if isinstance(value, datetime) else "day"
    return "" if is_possible(value) else f"expected a {kind} {YEARS}"


def refuse(form: Any) -> None:
    """Raises Refused with the place of the first moment or day of a form that is not possible."""
    for place, value in _dates(form, ""):
        if says := fault(value):
            refused = Refused("bad_moment", f"{place[:1].upper()}{place[1:]}: {says}.", 422)
            raise refused.in_field(pointer(place), says)


def _dates(value: Any, place: str) -> Iterator[tuple[str, date]]:
    if isinstance(value, date):
        yield place, value
    elif isinstance(value, msgspec.Struct):
        for attribute, name in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
            yield from _dates(getattr(value, attribute), f"{place}.{name}" if place else name)
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from _dates(part, f"{place}[{index}]")
