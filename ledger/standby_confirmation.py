"""Ensures that a commit has reached the synchronous standby, if there is one, before it is acknowledged.

A commit waits for the standby. But if the wait is cancelled, PostgreSQL keeps the commit, warns, and reports success;
and if the server dies during the wait, the commit is there after the restart. Such a commit exists on one host only and
counts as not written: the client sends its input again under the same key, and gets its answer only after a later
commit was confirmed, because a standby that has that commit has all earlier ones.
"""

from __future__ import annotations

from typing import Any, Final
from weakref import WeakSet, ref

import psycopg
from django.db import OperationalError, connection

WAIT: Final = "SyncRepWaitForLSN"
"""The PostgreSQL function that sends the warning, whose text depends on the server's language."""

EARLIER: Final = "SELECT pg_logical_emit_message(true, 'casino', '')"
"""Writes a few bytes, so that a transaction that only reads waits for the standby as well."""

_unconfirmed: Final[WeakSet[Any]] = WeakSet()
"""The driver connections whose last commit was not confirmed."""


class NotConfirmed(OperationalError):
    """The commit is on one host only, so it must not be acknowledged."""


def watch(driver: psycopg.Connection[Any]) -> None:
    """Record such warnings of a new driver connection."""
    reference = ref(driver)  # the handler belongs to the connection, and must not keep it alive

    def note(warning: psycopg.errors.Diagnostic) -> None:
        if warning.source_function == WAIT and (connection := reference()) is not None:
            _unconfirmed.add(connection)

    driver.add_notice_handler(note)


def check(driver: Any) -> None:
    """Raise NotConfirmed if the last commit of this driver connection was not confirmed. Call it after each commit."""
    if driver in _unconfirmed:
        _unconfirmed.discard(driver)
        raise NotConfirmed("the commit was not confirmed by a standby")


def confirm_earlier() -> None:
    """Make the commit of a read-only transaction wait for the standby. Rows that it read were committed earlier, and
    perhaps not confirmed."""
    with connection.cursor() as cursor:
        cursor.execute(EARLIER)
