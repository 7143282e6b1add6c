"""An older database was put back on purpose: every table waits until a pit boss has confirmed it."""

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
    """The names of the tables that wait now. ``testimony``: what a witness outside saw of each book, which is listed
    where it is more than the book has."""
    tables = list(Table.objects.filter(retired_at=None).select_related("book").order_by("name"))
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
    """What a witness saw beyond the end of each book."""
    name = f"witness {', '.join(testimony.names)}"
    for table in tables:
        seq, digest = testimony.heads.get(table.book.name, (0, ""))
        receipt = Acknowledged(seq, digest[:HEX])
        if recorder.lacks(table.book_id, receipt):
            entered, key = restored_tables.showing(receipt, name)
            recorder.record(table, structs.replace(entered, by=name), by=by, key=key, expected_seq=None)
