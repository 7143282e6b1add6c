"""Statements that every connection to the database parses and plans once, and from then on only executes.

They are prepared and executed as SQL, not by the driver's own protocol: so several of them, and the ends of the
transaction, go to the server as one text and in one round trip. Each still sees what was committed before it began.
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

from ledger import confirmed


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement by its name in the session."""

    name: str
    types: str
    """Of its parameters, in order."""
    sql: str

    @property
    def prepare(self) -> str:
        """The text that makes it known to a session."""
        return f"PREPARE {self.name} ({self.types}) AS {self.sql}"

    @property
    def execute(self) -> str:
        """The text that executes it."""
        return f"EXECUTE {self.name} ({', '.join(['%s'] * len(self.types.split(',')))})"


NO_SEQSCAN: Final = "SET LOCAL enable_seqscan = off"
BEGIN: Final = ("BEGIN", NO_SEQSCAN)
"""A plan that is kept must be good for the table that is still to grow: made in a house of a few rows, it would read
all of them until somebody analyses the table."""

Call = tuple[Statement, Sequence[Any]]
"""A statement with its parameters."""

_names: Final[WeakKeyDictionary[Any, set[str]]] = WeakKeyDictionary()
"""What each of the driver's connections has prepared."""


@contextmanager
def executed(calls: Sequence[Call], *, begin: bool = False, commit: bool = False) -> Iterator[CursorWrapper]:
    """Execute statements in one round trip; the cursor stands at the first one's rows.

    ``begin`` lets the transaction of an atomic block begin in the same round trip, where nothing was asked in it yet.
    ``commit`` ends it there, if the block is the outermost one: nothing may be asked in the block afterwards.
    """
    own = connections[DEFAULT_DB_ALIAS]
    with own.cursor() as cursor:
        _prepare(own, cursor, [statement for statement, _ in calls])
        texts = [statement.execute for statement, _ in calls]
        begins = begin and _begins_here(own)
        if begins:
            texts[:0] = BEGIN
        if commit and own.in_atomic_block and not own.savepoint_ids:
            texts.append("COMMIT")
        with _forgotten_if_unknown(own):
            cursor.execute(";".join(texts), [value for _, values in calls for value in values])
        confirmed.check(own.connection)
        for _ in BEGIN if begins else ():
            cursor.nextset()
        yield cursor


def read_row(statement: Statement, values: Sequence[Any]) -> tuple[Any, ...] | None:
    """The first row of a reading that is a transaction of its own, unless it is part of a larger one. The server ends
    that by itself, however the reading goes: it is one text."""
    own = connections[DEFAULT_DB_ALIAS]
    with own.cursor() as cursor:
        _prepare(own, cursor, [statement])
        with _forgotten_if_unknown(own):
            cursor.execute(f"{NO_SEQSCAN};{statement.execute}", values)
        cursor.nextset()
        row: tuple[Any, ...] | None = cursor.fetchone()
        return row


def _begins_here(own: BaseDatabaseWrapper) -> bool:
    """Whether an atomic block's transaction is still to begin; if so, the driver leaves that to the text.

    The driver would send BEGIN ahead of the first statement and wait for the answer. Told that nothing is to be begun,
    it sends none; the block commits or rolls back by the server's state, and then sets the driver as it was.
    """
    driver = own.connection
    if not own.in_atomic_block or driver.pgconn.transaction_status != TransactionStatus.IDLE:
        return False
    driver.autocommit = True
    return True


def _prepare(own: BaseDatabaseWrapper, cursor: CursorWrapper, statements: Iterable[Statement]) -> None:
    """Make statements known to this session, once; the session itself says which it knows when that is in doubt."""
    by_name = {statement.name: statement for statement in statements}
    if (names := _names.get(own.connection)) is not None and by_name.keys() <= names:
        return
    cursor.execute("SELECT name FROM pg_prepared_statements")
    names = {name for (name,) in cursor.fetchall()}
    if missing := [statement.prepare for name, statement in by_name.items() if name not in names]:
        cursor.execute(";".join(missing))
    _names[own.connection] = names | by_name.keys()


@contextmanager
def _forgotten_if_unknown(own: BaseDatabaseWrapper) -> Iterator[None]:
    """Ask the session again next time where it has lost what was prepared, as behind a pooler that resets it."""
    try:
        yield
    except DatabaseError as refused:
        if isinstance(refused.__cause__, InvalidSqlStatementName):
            _names.pop(own.connection, None)
        raise
