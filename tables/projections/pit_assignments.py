"""Posts and covers: none is ever changed, so each row, in the order in which they were set, is what its one entry says,
but for the name that somebody had then, and where tables stood."""

from __future__ import annotations

from typing import Any, Final

from tables.models import PitCover, Post
from tables.projections.records import Rows, of_the_house
from tables.setup import pit_assignments

_BESIDE: Final = ("name", "badge", "role", "floor")


def _content(event: Any, by: str) -> dict[str, Any]:
    return {name: value for name, value in event.content().items() if name not in _BESIDE} | {"by": by}


def in_log() -> Rows:
    """Every time that a post was set."""
    entries = enumerate(of_the_house("posts", post=["set"]), 1)
    return {f"{number}": _content(entry.event, entry.by) for number, entry in entries}


def in_database() -> Rows:
    """Every row of a post."""
    rows = enumerate(Post.objects.order_by("seq"), 1)
    return {f"{number}": pit_assignments.event_of(row) | {"by": row.by} for number, row in rows}


def covers_in_log() -> Rows:
    """Every time that a pit was taken over, or given back."""
    entries = enumerate(of_the_house("covers", post=["cover_set"]), 1)
    return {f"{number}": _content(entry.event, entry.by) for number, entry in entries}


def covers_in_database() -> Rows:
    """Every row of a cover."""
    rows = enumerate(PitCover.objects.order_by("seq"), 1)
    return {f"{number}": pit_assignments.cover_event_of(row) | {"by": row.by} for number, row in rows}
