"""Django's PostgreSQL backend with a connection pool and time-outs for each kind of work of a web process.

The time-outs are set when a session starts and belong to it, so no request inherits another pool's.
"""

from __future__ import annotations

import math
import select
import time
from collections import deque
from typing import Any, ClassVar, Final

from django.conf import settings
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg import Connection
from psycopg_pool import ConnectionPool, PoolTimeout, TooManyRequests

from casino.web.pool_sizes import PoolSize
from ledger import standby_confirmation
from ledger.connection_pools import Lane, lane

RECONNECT_SECONDS: Final = 0.5
"""A pool stops trying to connect after this time, and starts again with the next request. By default it would back off
ever longer, so that an outage could last twice as long for the site as for the database."""


class LanePool(ConnectionPool[Any]):
    """A pool whose queue has only requests that still wait.

    psycopg's own pool keeps requests that gave up until it has a connection again. They counted against its limit, so
    that ten seconds without a database locked a full floor out for good, and each of them held its whole request in
    memory.
    """

    is_away = False
    """Whether the latest attempt to connect has failed, or has had no answer yet: a server that is just starting may
    leave it without one for longer than a request waits."""
    last_refusal = -math.inf
    """The monotonic time of the last failed attempt to connect."""

    def getconn(self, timeout: float | None = None) -> Connection[Any]:
        """Raises PoolTimeout if the database was away while this request waited; TooManyRequests if the queue is full,
        or if others had every connection."""
        began = time.monotonic()
        try:
            return super().getconn(timeout)
        except PoolTimeout as late:
            with self._lock:
                # Under the pool's lock: its worker takes clients from this queue at the same time.
                self._waiting = deque(client for client in self._waiting if client.error is None)
            # The database may have come back just as this request gave up.
            if self.is_away or self.last_refusal >= began:
                raise
            raise TooManyRequests(f"all {self._max_size} connections were in use") from late

    def _connect(self, timeout: float | None = None) -> Connection[Any]:
        self.is_away = True
        try:
            connection = super()._connect(timeout)
        except Exception:
            self.last_refusal = time.monotonic()
            raise
        self.is_away = False
        return connection


class DatabaseWrapper(base.DatabaseWrapper):
    """Takes its connection from the pool of the current kind of work. Django returns it to the pool that it came
    from."""

    _connection_pools: ClassVar[dict[str, ConnectionPool[Any]]] = {}

    @property
    def pool(self) -> ConnectionPool[Any] | None:
        """The pool of the current kind of work; None outside a web process."""
        if self.alias == NO_DB_ALIAS or not _pool_size().connections:
            return None
        key = f"{self.alias} {lane.get()}"
        # Two threads may both create a pool, which is not open yet; setdefault keeps the first for both.
        return self._connection_pools.get(key) or self._connection_pools.setdefault(key, self._new_pool())

    def _new_pool(self) -> ConnectionPool[Any]:
        size = _pool_size()
        return LanePool(
            kwargs=self.get_connection_params() | {"autocommit": True},
            open=False,
            configure=self._configure_connection,  # type: ignore[arg-type]
            check=check,
            min_size=1 if size.connections > 1 else 0,
            max_size=size.connections,
            max_waiting=size.queue,
            timeout=size.wait_ms / 1000,
            reconnect_timeout=RECONNECT_SECONDS,
        )

    def _configure_connection(self, connection: Any) -> bool:
        """Django calls this for each new driver connection, pooled or not."""
        standby_confirmation.watch(connection)
        return bool(super()._configure_connection(connection))  # type: ignore[misc]

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]
        # A commit that only this host has would be lost in a failover, so it is not acknowledged.
        standby_confirmation.check(self.connection)

    def close_pool(self) -> None:
        """Close the pools of this alias. Django calls this when its settings change."""
        for key in [key for key in self._connection_pools if key.startswith(f"{self.alias} ")]:
            self._connection_pools.pop(key).close()

    def get_connection_params(self) -> dict[str, Any]:
        """libpq's parameters: the address, and this pool's time-outs for locks, statements and idle transactions."""
        parameters: dict[str, Any] = super().get_connection_params()
        return parameters | {"options": f"{parameters.get('options', '')} {_pool_size().options}".strip()}


def check(connection: Connection[Any]) -> None:
    """Check a pooled connection before use, without a round trip where possible.

    A connection that the server closed has something to read: its end. In other cases a test statement would reveal no
    more than the next statement does.
    """
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        ConnectionPool.check_connection(connection)


def _pool_size() -> PoolSize:
    size: PoolSize = settings.LANES[lane.get() if settings.WEB_PROCESS else Lane.COMMANDS]
    return size
