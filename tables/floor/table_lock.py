"""Stage `lock`: acquires the lock of a table's log and reads what the other stages need, in one round trip."""

from __future__ import annotations

from typing import Final

from ledger import log
from ledger.prepared import Statement
from ledger.raw_rows import RawRows
from tables.floor.inputs import ShowAcknowledged
from tables.floor.recording import LockedTable, Recording
from tables.models import Denomination, Table

_TABLES: Final = RawRows(Table)
_CHIPS: Final = RawRows(Denomination)

# Both are read after the lock, never before: an operator who changes the settings of a table has this lock too, so what
# is read here is in force until the commit. Whether the key is known is part of it, because a second request with the
# key waits at the lock until the first has committed. Prepared and sent with the lock, they cost no further round trip.
_READ: Final = Statement(
    "tables_under_the_lock",
    "bigint, uuid, bigint",
    f"""SELECT EXISTS (SELECT FROM ledger_logentry WHERE book_id = $1 AND key = $2),
        (SELECT hash FROM ledger_logentry WHERE book_id = $1 AND seq = $3), {_TABLES.columns("felt")}
        FROM tables_table AS felt WHERE book_id = $1""",  # noqa: S608
)
_READ_CHIPS: Final = Statement(
    "tables_chips_under_the_lock",
    "bigint",
    f"""SELECT {_CHIPS.columns("chip")} FROM tables_table AS felt
        JOIN tables_table_denominations AS has ON has.table_id = felt.id
        JOIN tables_denomination AS chip ON chip.id = has.denomination_id
        WHERE felt.book_id = $1 ORDER BY chip.value_cents DESC""",  # noqa: S608
)


def lock(recording: Recording) -> LockedTable:
    """Lock the log of a table until the transaction ends, and read the table."""
    book, entered, options = recording.table.book_id, recording.entered, recording.options
    # An input that reports a restored database names the missing entry itself; any other has the receipt of its screen.
    receipt = entered if isinstance(entered, ShowAcknowledged) else options.receipt
    read = (_READ, [book, options.key, receipt.seq if receipt else 0])
    head, (rows, chips) = log.lock_and_read(book, read, (_READ_CHIPS, [book]))
    # Deleted between the request and the lock: no log may grow for a table that is gone.
    if not rows:
        raise Table.DoesNotExist(f"{recording.table} is not there any more")
    is_key_known, shown_hash, *values = rows[0]
    table = _TABLES.row(values)
    # Handlers ask the table for its denominations. Filled in as a prefetch would, they cost no query under the lock.
    kinds = Denomination.objects.all()
    kinds._result_cache = [_CHIPS.row(chip) for chip in chips]
    table._prefetched_objects_cache = {"denominations": kinds}  # type: ignore[attr-defined]
    return LockedTable(head, table, is_key_known, shown_hash)
