"""Waiting for what another process does in its own time."""

import time
from collections.abc import Callable


def eventually(holds: Callable[[], bool], says: str = "waited in vain", *, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, says
        time.sleep(0.05)
