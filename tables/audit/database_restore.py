"""Declares that an older database was restored on purpose: each table waits until a pit boss has confirmed its
state."""

from __future__ import annotations

from uuid import uuid4

from msgspec import structs

from tables.audit.tree_proof import Testimony
from tables.floor import recorder, restored_tables
from tables.floor.inputs import DeclareRestored
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.state.acknowledgement import HEX, Acknowledged


def declare(reason: str, by: Staff, testimony: Testimony | None = None) -> list[str]:
    """Make all tables wait for confirmation. Returns their names.

    ``testimony``: the heads that an outside witness saw; a head beyond the end of a log is recorded at its table.
    """
    tables = list(Table.objects.in_use().select_related("book").order_by("name"))
    for table in tables:
        try:
            recorder.record(table, DeclareRestored(reason), by=by, key=uuid4(), expected_seq=None)
        except Refused as refused:
            if refused.code != "records_restored":  # a screen was faster: it waits already
                raise
    if testimony is not None:
        _list(tables, by, testimony)
    return [table.name for table in tables]


def _list(tables: list[Table], by: Staff, testimony: Testimony) -> None:
    """Record at each table the witnessed head, if the log does not reach it."""
    name = f"witness {', '.join(testimony.names)}"
    for table in tables:
        seq, digest = testimony.heads.get(table.book.name, (0, ""))
        receipt = Acknowledged(seq, digest[:HEX])
        if recorder.lacks(table.book_id, receipt):
            entered, key = restored_tables.showing(receipt, name)
            recorder.record(table, structs.replace(entered, by=name), by=by, key=key, expected_seq=None)
