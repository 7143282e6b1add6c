"""What a program keeps of a table: the newest entry that it was told of, signed, in a header of each answer about it.

It sends the header back with its next request at that table, so that a house which was put back to an earlier moment
knows what the program was acknowledged beyond it.
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
    """The newest entry of a table that the caller was told of, from its header; None without one."""
    header = call.request.headers.get(HEADER)
    return acknowledgement.read(table.book_id, header) if header else None


def heed(call: Call[Any, Any], table: Table) -> bool:
    """Compare the caller's receipt with a table that was read with its log. Returns whether the table now waits to be
    confirmed."""
    return recorder.show(table, standings.head_of(table), receipt_of(call, table), call.caller)


def keep(call: Call[Any, Any], table: Table, standing: TableState) -> None:
    """Add the receipt of the table's present state to the answer."""
    if value := restored_tables.receipt(table.book_id, standing, receipt_of(call, table)):
        call.headers[HEADER] = value
