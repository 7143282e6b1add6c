"""Receipts of API clients: a signed header of each answer about a table names the newest entry that it reports.

The client returns the header with its next request at that table. A site that was restored to an earlier moment then
knows which entries it had acknowledged after that moment.
"""

from __future__ import annotations

from typing import Any, Final

from tables.api.operations import Call
from tables.floor import recorder, restored_tables
from tables.log.state import TableState
from tables.models import Table
from tables.state import acknowledgement
from tables.state import table_state as standings
from tables.state.acknowledgement import Acknowledged

HEADER: Final = "Casino-Acknowledged"


def receipt_of(call: Call[Any, Any], table: Table) -> Acknowledged | None:
    """The newest entry of a table that was reported to the caller, from its header; None without one."""
    header = call.request.headers.get(HEADER)
    return acknowledgement.read(table.book_id, header) if header else None


def heed(call: Call[Any, Any], table: Table) -> bool:
    """Compare the caller's receipt with a table that was read with its log. Returns True if the table now waits for
    confirmation."""
    return recorder.show(table, standings.head_of(table), receipt_of(call, table), call.caller)


def keep(call: Call[Any, Any], table: Table, standing: TableState) -> None:
    """Add the receipt of the table's present state to the answer."""
    if value := restored_tables.receipt(table.book_id, standing, receipt_of(call, table)):
        call.headers[HEADER] = value
