"""The tests' own PostgreSQL and Valkey: where they are is known at once, and each starts when a test first needs it."""

import atexit
from contextlib import ExitStack
from functools import cache

from casino.embedded import servers
from casino.embedded.servers import POSTGRESQL, VALKEY, ServerSet
from tests.tiers import Tier

DATABASE_SERVER = ServerSet(servers.LOCAL / "test", (POSTGRESQL,), durable=False)
BROKER = ServerSet(servers.LOCAL / "test-broker", (VALKEY,), durable=False)

_use = ExitStack()
atexit.register(_use.close)
_tier = Tier.TRIALS


class WrongTier(RuntimeError):
    """A test starts a process that its tier does not allow."""


@cache
def running(house: ServerSet) -> ServerSet:
    """The server, started unless it runs; this process uses it until it ends. Raises `WrongTier`."""
    if house is not DATABASE_SERVER:
        refuse_in_quick(" and ".join(house.servers))
    return _use.enter_context(servers.attached(house))


def limit(tier: Tier) -> None:
    """The test that runs next belongs to this tier."""
    global _tier
    _tier = tier


def refuse_in_quick(process: str) -> None:
    """Raise `WrongTier` in a test of the quick tier: it would start more than PostgreSQL, and no fixture says so."""
    if _tier is Tier.QUICK:
        raise WrongTier(f"A test of the quick tier starts {process}: use a fixture with @belongs_to (tests/tiers.py).")
