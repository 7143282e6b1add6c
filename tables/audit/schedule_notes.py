"""Hourly notes of the scheduled checks: one entry for all runs, ends of runs, recounts and proofs of an hour.

A note has the count of the rows and a digest of the runs. Recounts and proofs are compared with transfers and the chain
anyway; the note adds their number, so that none can be deleted. Rows after the last note are not covered yet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction

from ledger import log, site_log
from ledger.findings import BY
from ledger.log import Draft
from ledger.raw_rows import fetch_row, fetch_rows
from tables.log.entries.carried_rows import RowsNoted
from tables.projections.records import of_the_house

SETTLED: Final = timedelta(minutes=5)
"""The minimum age of a row in a note. By then, every transaction that took a lower id has committed or failed."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A database table covered by notes: the column of its write time, and the SQL that sums up a span of its rows."""

    title: str
    table: str
    written: str
    sums: str


def _digest(*columns: str) -> str:
    row = f"jsonb_build_array({', '.join(f'r.{column}' for column in columns)})::text"
    hashed = f"sha256(convert_to({row}, 'UTF8'))"
    return f"'sha256', encode(sha256(coalesce(string_agg({hashed}, ''::bytea ORDER BY r.id), ''::bytea)), 'hex')"


NOTED: Final = (
    Rows("runs", "ledger_run", "begun_at", _digest("id", "task", "slot", "begun_at", "missed")),
    Rows("ends of runs", "ledger_runend", "at", _digest("id", "run_id", "at", "found")),
    Rows("recounts", "ledger_recount", "at", "'books', count(DISTINCT r.book_id)"),
    Rows(
        "proofs", "tables_verification", "at",
        "'rounds', coalesce(sum(r.rounds), 0), 'transfers', coalesce(sum(r.transfers), 0)",
    ),
)  # fmt: skip

Spans = Mapping[str, Mapping[str, Any]]


def note() -> bool:
    """Write what was done since the last note; whether there was anything."""
    with transaction.atomic():
        head = site_log.lock()
        before = head.moment - SETTLED
        spans = {rows.title: _span(rows, since, before) for rows in NOTED for since in [_noted_through(rows)]}
        spans = {title: span for title, span in spans.items() if span["count"]}
        if spans:
            log.append(head, Draft.of(RowsNoted(spans=spans), BY))
    return bool(spans)


def notes_in_log() -> Iterator[Spans]:
    """Every note, the first one first."""
    for entry in of_the_house("noted", rows=["noted"]):
        if isinstance(entry.event, RowsNoted):
            yield entry.event.spans


def faults() -> Iterator[str]:
    """The spans of which not every row is there as it was noted."""
    notes = list(notes_in_log())
    for rows in NOTED:
        spans = [note[rows.title] for note in notes if rows.title in note]
        for span, sums in zip(spans, _again(rows, spans), strict=True):
            if sums != {name: span[name] for name in sums}:
                says = ", ".join(f"{name} {span[name]}" for name in sums)
                kept = ", ".join(f"{name} {value}" for name, value in sums.items())
                yield f"{rows.title} {span['after'] + 1} to {span['through']}: the log says {says}, the rows say {kept}"


def count() -> int:
    """How many rows are noted."""
    return sum(int(span["count"]) for note in notes_in_log() for span in note.values())


def _noted_through(rows: Rows) -> int:
    return max((int(note[rows.title]["through"]) for note in notes_in_log() if rows.title in note), default=0)


# The rows after one number that are old enough, and everything before the newest of these.
_SPAN: Final = """
    WITH last AS (
        SELECT coalesce(max(id), %(after)s) AS id FROM {table} WHERE id > %(after)s AND {written} < %(before)s)
    SELECT jsonb_build_object('after', %(after)s::bigint, 'through', last.id, 'count', count(r.id), {sums})
    FROM last LEFT JOIN {table} AS r ON r.id > %(after)s AND r.id <= last.id GROUP BY last.id
"""

_AGAIN: Final = """
    SELECT jsonb_build_object('count', count(r.id), {sums})
    FROM unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY AS span (after, through, number)
    LEFT JOIN {table} AS r ON r.id > span.after AND r.id <= span.through GROUP BY span.number ORDER BY span.number
"""


def _span(rows: Rows, after: int, before: datetime) -> dict[str, Any]:
    return dict(json.loads(fetch_row(_filled(_SPAN, rows), {"after": after, "before": before})[0]))


def _again(rows: Rows, spans: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    bounds = [[span["after"] for span in spans], [span["through"] for span in spans]]
    return [json.loads(sums) for (sums,) in fetch_rows(_filled(_AGAIN, rows), bounds)]


def _filled(statement: str, rows: Rows) -> str:
    return statement.format(table=rows.table, written=rows.written, sums=rows.sums)
