"""The tests' own PostgreSQL and Valkey: where they are is known at once, and each starts when a test first needs it."""

import atexit
from contextlib import ExitStack
from functools import cache

from casino import embedded
from casino.embedded import POSTGRESQL, VALKEY, House

DATABASE_SERVER = House(embedded.LOCAL / "test", (POSTGRESQL,), durable=False)
BROKER = House(embedded.LOCAL / "test-broker", (VALKEY,), durable=False)

_use = ExitStack()
atexit.register(_use.close)
_forbidden = False


class NotPure(RuntimeError):
    """A test of the pure half asked for a server."""


@cache
def running(house: House) -> House:
    """The server, started unless it runs; this process uses it until it ends."""
    if _forbidden:
        raise NotPure(f"A test of the pure half asked for {' and '.join(house.servers)}.")
    return _use.enter_context(embedded.attached(house))


def forbid() -> None:
    """From now on nothing in this process starts a server."""
    global _forbidden
    _forbidden = True
