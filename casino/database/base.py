"""Django's PostgreSQL backend, with a pool for each lane in a web process, and each lane's time-outs everywhere.

The time-outs are given as a connection is made: they are the session's own, and no request can inherit another's.
"""

from __future__ import annotations

import select
from threading import BoundedSemaphore
from typing import Any, ClassVar, Final

from django.conf import settings
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg import Connection
from psycopg_pool import ConnectionPool, TooManyRequests

from casino.widths import Width
from ledger import confirmed
from ledger.lanes import Lane, lane

RECONNECT_SECONDS: Final = 0.5
"""A pool gives an attempt up so soon, and begins anew with the next request. Else it would wait ever longer between
two, and for as long as a failover took once more."""


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that is taken from its lane's pool. Django gives it back to the pool that it came from."""

    _connection_pools: ClassVar[dict[str, ConnectionPool[Any]]] = {}
    _queues: ClassVar[dict[str, BoundedSemaphore]] = {}

    @property
    def pool(self) -> ConnectionPool[Any] | None:
        """The pool of the lane that this request is in; None outside of a web process."""
        if self.alias == NO_DB_ALIAS or not _lane_width().connections:
            return None
        key = f"{self.alias} {lane.get()}"
        # Two threads may both make one, which is not open yet; the first that is kept is everybody's.
        return self._connection_pools.get(key) or self._connection_pools.setdefault(key, self._new_pool())

    def get_new_connection(self, conn_params: Any) -> Any:
        """One of the pool, in its lane's turn. Raises TooManyRequests where as many wait as may.

        The pool's own count of them would not do: it goes on counting who gave up until it has a connection again, and
        makes none for whom it turns away. After ten seconds without a database a full floor was turned away for good.
        """
        if self.pool is None:
            return super().get_new_connection(conn_params)
        queue = self._queues.get(lane.get()) or self._queues.setdefault(
            lane.get(), BoundedSemaphore(_lane_width().queue)
        )
        if not queue.acquire(blocking=False):
            raise TooManyRequests(f"{_lane_width().queue} requests wait for a connection already")
        try:
            return super().get_new_connection(conn_params)
        finally:
            queue.release()

    def _new_pool(self) -> ConnectionPool[Any]:
        width = _lane_width()
        return ConnectionPool(
            kwargs=self.get_connection_params() | {"autocommit": True},
            open=False,
            configure=self._configure_connection,  # type: ignore[arg-type]
            check=check,
            min_size=1 if width.connections > 1 else 0,
            max_size=width.connections,
            timeout=width.wait_ms / 1000,
            reconnect_timeout=RECONNECT_SECONDS,
        )

    def _configure_connection(self, connection: Any) -> bool:
        """Each new connection of the driver, pooled or not, comes by here."""
        confirmed.watch(connection)
        return bool(super()._configure_connection(connection))  # type: ignore[misc]

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]
        confirmed.check(self.connection)

    def close_pool(self) -> None:
        """Django asks for it when its own settings change."""
        for key in [key for key in self._connection_pools if key.startswith(f"{self.alias} ")]:
            self._connection_pools.pop(key).close()

    def get_connection_params(self) -> dict[str, Any]:
        """What libpq is told: the address, and how long this lane waits for a lock, a statement, and a next one."""
        parameters: dict[str, Any] = super().get_connection_params()
        return parameters | {"options": f"{parameters.get('options', '')} {_lane_width().options}".strip()}


def check(connection: Connection[Any]) -> None:
    """Whether a connection from the pool still stands. One that its server closed has the end to be read; where there
    is nothing to read, a statement of its own would learn no more than the next one does."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        ConnectionPool.check_connection(connection)


def _lane_width() -> Width:
    width: Width = settings.LANES[lane.get() if settings.WEB_PROCESS else Lane.COMMANDS]
    return width
