"""What is told of each kind of entry, a file a matter; importing the room puts all of them on the list."""

from __future__ import annotations

from tables.log.published import (  # noqa: F401
    alerts,
    chips,
    days,
    disputes,
    limits,
    not_published,
    people,
    proposals,
    readers,
    rounds,
    slips,
    tables,
)
