"""How wide each lane is (see ledger/connection_pools.py), and how long its work waits for anything."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from casino.environment import whole

WHOLE: Final = 48
"""Connections that one web process may have, unless it is told otherwise: what the shares below are parts of."""


@dataclass(frozen=True, slots=True)
class Width:
    """How much of the database a kind of work may have, and how long it waits for any of it."""

    share: int
    """So many of ``WHOLE`` connections; at least one, and of the dealers' two."""
    queue: int
    """How many requests may wait for a connection; the next one is told at once to come back."""
    wait_ms: int
    """For a connection."""
    lock_ms: int
    statement_ms: int
    idle_ms: int
    """How long a transaction may do nothing before the database ends it: it holds its locks meanwhile."""
    connections: int = 0
    """In this process; 0: it has no pool."""

    @property
    def options(self) -> str:
        """What the database is told as a connection is made."""
        return (
            f"-c lock_timeout={self.lock_ms} -c statement_timeout={self.statement_ms}"
            f" -c idle_in_transaction_session_timeout={self.idle_ms}"
        )


# A dealer's request waits twice for a connection, for a turn and for a lock: 7 s at most, which is less than the 8 s
# after which the screen sends the input again. A command may think for long, but waits for no lock for long.
_LANES: Final = {
    "dealers": Width(share=20, queue=100, wait_ms=1_500, lock_ms=2_000, statement_ms=4_000, idle_ms=5_000),
    "seats": Width(share=8, queue=100, wait_ms=1_500, lock_ms=2_000, statement_ms=4_000, idle_ms=5_000),
    "pages": Width(share=14, queue=40, wait_ms=3_000, lock_ms=3_000, statement_ms=20_000, idle_ms=15_000),
    "door": Width(share=4, queue=20, wait_ms=2_000, lock_ms=2_000, statement_ms=4_000, idle_ms=5_000),
    "exports": Width(share=2, queue=20, wait_ms=20_000, lock_ms=2_000, statement_ms=60_000, idle_ms=60_000),
    "replica": Width(share=0, queue=40, wait_ms=5_000, lock_ms=2_000, statement_ms=60_000, idle_ms=60_000),
    "commands": Width(share=0, queue=0, wait_ms=0, lock_ms=10_000, statement_ms=0, idle_ms=600_000),
}


REPLICA: Final = "replica"
"""The lane whose connections are to another server: it takes none of the primary's."""


def widths(connections: int, environment: Mapping[str, str] = os.environ, *, to_replica: int = 0) -> dict[str, Width]:
    """The lanes of a process that may hold so many connections; of none, where it has no pools. ``to_replica``: those
    that it may hold besides, to the server that reports are read from."""
    lanes = {name: _width(name, width, connections, environment) for name, width in _LANES.items()}
    return lanes | {REPLICA: replace(lanes[REPLICA], connections=to_replica)}


def _width(name: str, width: Width, connections: int, environment: Mapping[str, str]) -> Width:
    """A lane as the environment has it: ``DEALERS_LOCK_MS`` and the like."""
    waits = {
        what: whole(f"{name}_{what}".upper(), getattr(width, what), least=0, environment=environment)
        for what in ("wait_ms", "lock_ms", "statement_ms", "idle_ms")
    }
    least = 2 if name == "dealers" else 1
    connections_here = max(least, width.share * connections // WHOLE) if connections and width.share else 0
    return Width(share=width.share, queue=width.queue, connections=connections_here, **waits)
