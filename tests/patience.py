"""Waiting for what another process or thread does in its own time: the only place in the tests that sleeps."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

Event = TypeVar("Event")

LOOKS_APART_SECONDS: Final = 0.05


def eventually(
    holds: Callable[[], Event], says: str | Callable[[], str] = "waited in vain", *, seconds: float = 120
) -> Event:
    """The first true value of `holds`. AssertionError with `says` after so many seconds."""
    deadline = time.monotonic() + seconds
    while not (event := holds()):
        assert time.monotonic() < deadline, says if isinstance(says, str) else says()
        time.sleep(LOOKS_APART_SECONDS)
    return event
