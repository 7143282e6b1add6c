"""The size of each connection pool (see ledger/connection_pools.py), and the time limits of its work."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from casino.environment import Environment, whole_or_zero

WHOLE: Final = 48
"""The default number of database connections of one web process, of which the shares below are parts."""


@dataclass(frozen=True, slots=True)
class PoolSize:
    """The database connections of a kind of work, and its time limits."""

    share: int
    """Its part of ``WHOLE`` connections; at least one, for dealers two."""
    queue: int
    """The number of requests that may wait for a connection; further ones are refused at once."""
    wait_ms: int
    """The time limit for getting a connection."""
    lock_ms: int
    statement_ms: int
    idle_ms: int
    """The time limit of an idle transaction, which holds its locks, before the database ends it."""
    connections: int = 0
    """The connections in this process; 0 without a pool."""

    @property
    def options(self) -> str:
        """The session options for a new database connection."""
        return (
            f"-c lock_timeout={self.lock_ms} -c statement_timeout={self.statement_ms}"
            f" -c idle_in_transaction_session_timeout={self.idle_ms}"
        )


# A dealer's request may wait for a connection twice, for a turn and for a lock: 7 s at most, less than the 8 s after
# which the screen sends the input again. A command may run for long, but waits for no lock for long.
_LANES: Final = {
    "dealers": PoolSize(share=20, queue=100, wait_ms=1_500, lock_ms=2_000, statement_ms=4_000, idle_ms=5_000),
    "seats": PoolSize(share=8, queue=100, wait_ms=1_500, lock_ms=2_000, statement_ms=4_000, idle_ms=5_000),
    "pages": PoolSize(share=14, queue=40, wait_ms=3_000, lock_ms=3_000, statement_ms=20_000, idle_ms=15_000),
    "door": PoolSize(share=4, queue=20, wait_ms=2_000, lock_ms=2_000, statement_ms=4_000, idle_ms=5_000),
    "exports": PoolSize(share=2, queue=20, wait_ms=20_000, lock_ms=2_000, statement_ms=60_000, idle_ms=60_000),
    "replica": PoolSize(share=0, queue=40, wait_ms=5_000, lock_ms=2_000, statement_ms=60_000, idle_ms=60_000),
    "commands": PoolSize(share=0, queue=0, wait_ms=0, lock_ms=10_000, statement_ms=0, idle_ms=600_000),
}


REPLICA: Final = "replica"
"""The pool whose connections are to the replica: it takes none of the primary's."""


def pool_sizes(
    connections: int, variables: Mapping[str, str] = os.environ, *, to_replica: int = 0
) -> dict[str, PoolSize]:
    """The pools of a process that may have this many connections; 0 for a process without pools. ``to_replica``: its
    further connections to the replica."""
    env = Environment(variables)
    lanes = {name: _pool_size(name, size, connections, env) for name, size in _LANES.items()}
    return lanes | {REPLICA: replace(lanes[REPLICA], connections=to_replica)}


def _pool_size(name: str, size: PoolSize, connections: int, env: Environment) -> PoolSize:
    """A pool with the time limits from the environment, such as ``DEALERS_LOCK_MS``."""
    waits = {
        what: env(f"{name}_{what}".upper(), whole_or_zero, getattr(size, what))
        for what in ("wait_ms", "lock_ms", "statement_ms", "idle_ms")
    }
    least = 2 if name == "dealers" else 1
    connections_here = max(least, size.share * connections // WHOLE) if connections and size.share else 0
    return PoolSize(share=size.share, queue=size.queue, connections=connections_here, **waits)
