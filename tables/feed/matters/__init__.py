"""What is told of each kind of entry, a file a matter; importing the room puts all of them on the list."""

from __future__ import annotations

from tables.feed.matters import (  # noqa: F401
    alerts,
    chips,
    days,
    disputes,
    doors,
    limits,
    people,
    proposals,
    readers,
    rounds,
    silent,
    slips,
)
