"""Prepared statements: each connection parses and plans them once, and then only executes them.

They are prepared and executed as SQL, not by the driver's protocol, so that several statements together with BEGIN and
COMMIT go to the server as one text in one round trip. Each still sees what was committed before it began.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.utils import DatabaseError
from psycopg.errors import InvalidSqlStatementName
from psycopg.pq import TransactionStatus

from ledger import standby_confirmation


@dataclass(frozen=True, slots=True)
class Statement:
    """A prepared statement and its name in the database session."""

    name: str
    types: str
    """The SQL types of its parameters, in order, separated by commas."""
    sql: str

    @property
    def prepare(self) -> str:
        """The SQL text that prepares the statement."""
        return f"PREPARE {self.name} ({self.types}) AS {self.sql}"

    @property
    def execute(self) -> str:
        """The SQL text that executes the statement, with a placeholder for each parameter."""
        return f"EXECUTE {self.name} ({', '.join(['%s'] * len(self.types.split(',')))})"


NO_SEQSCAN: Final = "SET LOCAL enable_seqscan = off"
BEGIN: Final = ("BEGIN", NO_SEQSCAN)
"""A prepared plan is kept while its tables grow. Planned when tables have few rows and no statistics, it would read
whole tables until the next ANALYZE, so sequential scans are off."""

Call = tuple[Statement, Sequence[Any]]
"""A statement with its parameters."""

_names: Final[WeakKeyDictionary[Any, set[str]]] = WeakKeyDictionary()
"""The names of the statements that each driver connection has prepared."""


@contextmanager
def executed(calls: Sequence[Call], *, begin: bool = False, commit: bool = False) -> Iterator[CursorWrapper]:
    """Execute statements in one round trip. The cursor is at the first statement's rows.

    ``begin``: the transaction of an atomic block begins in this round trip, unless it has begun already. ``commit``:
    the transaction ends in it, if the atomic block is the outermost one; no query may follow in that block.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    with connection.cursor() as cursor:
        _prepare(connection, cursor, [statement for statement, _ in calls])
        texts = [statement.execute for statement, _ in calls]
        begins = begin and _begins_here(connection)
        if begins:
            texts[:0] = BEGIN
        if commit and connection.in_atomic_block and not connection.savepoint_ids:
            texts.append("COMMIT")
        with _forgetting_lost_names(connection):
            cursor.execute(";".join(texts), [value for _, values in calls for value in values])
        # A commit without the standby's confirmation must not be acknowledged: it would be lost in a failover.
        standby_confirmation.check(connection.connection)
        for _ in BEGIN if begins else ():
            cursor.nextset()
        yield cursor


def read_row(statement: Statement, values: Sequence[Any]) -> tuple[Any, ...] | None:
    """The first row of a query, or None. Outside a transaction the query is a transaction of its own.

    The text is sent as one message, so the server ends that transaction itself, also after an error.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    with connection.cursor() as cursor:
        _prepare(connection, cursor, [statement])
        with _forgetting_lost_names(connection):
            cursor.execute(f"{NO_SEQSCAN};{statement.execute}", values)
        cursor.nextset()
        row: tuple[Any, ...] | None = cursor.fetchone()
        return row


def _begins_here(connection: BaseDatabaseWrapper) -> bool:
    """Whether an atomic block's transaction has not begun yet; if so, our text begins it instead of the driver.

    The driver would send BEGIN before the first statement and wait for the answer. With autocommit set it sends none;
    the block still commits or rolls back by the server's state, and then resets autocommit.
    """
    driver = connection.connection
    if not connection.in_atomic_block or driver.pgconn.transaction_status != TransactionStatus.IDLE:
        return False
    driver.autocommit = True
    return True


def _prepare(connection: BaseDatabaseWrapper, cursor: CursorWrapper, statements: Iterable[Statement]) -> None:
    """Prepare the statements that this session lacks. If the session is unknown here, query which it has."""
    by_name = {statement.name: statement for statement in statements}
    # The query of the names costs a round trip: it is made once per connection, not per input.
    if (names := _names.get(connection.connection)) is not None and by_name.keys() <= names:
        return
    cursor.execute("SELECT name FROM pg_prepared_statements")
    names = {name for (name,) in cursor.fetchall()}
    if missing := [statement.prepare for name, statement in by_name.items() if name not in names]:
        cursor.execute(";".join(missing))
    _names[connection.connection] = names | by_name.keys()


@contextmanager
def _forgetting_lost_names(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Forget a session's statements when one is missing, as behind a pooler that resets sessions, so that the next call
    checks again."""
    try:
        yield
    except DatabaseError as fault:
        if isinstance(fault.__cause__, InvalidSqlStatementName):
            _names.pop(connection.connection, None)
        raise
