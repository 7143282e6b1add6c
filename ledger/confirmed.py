"""Whether a commit is on a second host, where one has to have it.

With a synchronous standby a commit waits until that has it, too. Where somebody cancels the wait, PostgreSQL keeps the
commit, warns, and calls it done; where the server ends meanwhile, the commit is there when it is back. Either would be
lost with its host. To the house it is not done: what was asked is asked again under its key, and answered only when a
later commit was confirmed, which no standby has without the earlier one.
"""

from __future__ import annotations

from typing import Any, Final
from weakref import WeakSet, ref

import psycopg
from django.db import OperationalError, connection

WAIT: Final = "SyncRepWaitForLSN"
"""Which of PostgreSQL's functions warns: its words differ from language to language."""

EARLIER: Final = "SELECT pg_logical_emit_message(true, 'casino', '')"
"""Writes a few bytes, so that the transaction's commit waits as one that records something."""

_cut_short: Final[WeakSet[Any]] = WeakSet()
"""The driver's connections whose last commit was not confirmed."""


class NotConfirmed(OperationalError):
    """What was committed is on one host alone: nothing may be acknowledged."""


def watch(driver: psycopg.Connection[Any]) -> None:
    """Take notice of such warnings on a new connection."""
    reference = ref(driver)

    def hear(warning: psycopg.errors.Diagnostic) -> None:
        if warning.source_function == WAIT and (own := reference()) is not None:
            _cut_short.add(own)

    driver.add_notice_handler(hear)


def check(driver: Any) -> None:
    """After each commit on it. Raises NotConfirmed."""
    if driver in _cut_short:
        _cut_short.discard(driver)
        raise NotConfirmed("the commit was not confirmed by a standby")


def confirm_earlier() -> None:
    """Have this transaction's commit wait, as one that writes does: what it answers from was committed before, and
    perhaps not confirmed."""
    with connection.cursor() as cursor:
        cursor.execute(EARLIER)
