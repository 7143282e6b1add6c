"""The rows beside the log, held against it: whatever is missing, too much or another is named, kind by kind.

All of it is read at one moment, so that nothing which is written meanwhile looks wrong.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import connection, transaction

from ledger import findings, shape
from ledger.findings import JOURNALS, Journal
from ledger.inspection import OUTAGE
from tables.projections import (
    alerts,
    certificates,
    chip_series,
    chips,
    codes,
    devices,
    key_register,
    limit_plans,
    pay_tables,
    people,
    pit_assignments,
    pits,
    player_pages,
    schedule_notes,
    secrets,
    service_accounts,
    tables,
)
from tables.projections.records import Columns, Rows, taken_over

log = logging.getLogger(__name__)

MOST: Final = 20
"""So many differences of one kind are named."""


@dataclass(frozen=True, slots=True)
class RowKind:
    """A kind of row: what the log says of all of them, and what the database has."""

    title: str
    in_log: Callable[[], Rows]
    in_database: Callable[[], Rows]


KINDS: Final = (
    RowKind("staff", people.in_log, people.in_database),
    RowKind("emergency code of", codes.in_log, codes.in_database),
    RowKind("code for", secrets.codes_in_log, secrets.codes_in_database),
    RowKind("secret of", secrets.versions_in_log, secrets.versions_in_database),
    RowKind("passkey", secrets.passkeys_in_log, secrets.passkeys_in_database),
    RowKind("program", service_accounts.accounts_in_log, service_accounts.accounts_in_database),
    RowKind("token of a program", service_accounts.tokens_in_log, service_accounts.tokens_in_database),
    RowKind("terminal", devices.in_log, devices.in_database),
    RowKind("table", tables.in_log, tables.in_database),
    RowKind("chip", chips.in_log, chips.in_database),
    RowKind("series of chips", chip_series.in_log, chip_series.in_database),
    RowKind("retirement of", chip_series.retired_in_log, chip_series.retired_in_database),
    RowKind("page of", player_pages.in_log, player_pages.in_database),
    RowKind("pay table", pay_tables.in_log, pay_tables.in_database),
    RowKind("alert rule", alerts.rules_in_log, alerts.rules_in_database),
    RowKind("alert channel", alerts.channels_in_log, alerts.channels_in_database),
    RowKind("dead letter", alerts.resent_in_log, alerts.resent_in_database),
    RowKind("setting of a key", key_register.keys_in_log, key_register.keys_in_database),
    RowKind("schedule of drops", key_register.drops_in_log, key_register.drops_in_database),
    RowKind("section of a pit", pits.in_log, pits.in_database),
    RowKind("plan of a pit", pits.plans_in_log, pits.plans_in_database),
    RowKind("post", pit_assignments.in_log, pit_assignments.in_database),
    RowKind("cover", pit_assignments.covers_in_log, pit_assignments.covers_in_database),
    RowKind("limit plan", limit_plans.in_log, limit_plans.in_database),
    RowKind("certificate", certificates.in_log, certificates.in_database),
)


@dataclass(slots=True)
class Comparison:
    """What the comparison went through, and every difference that it found, as a sentence."""

    rows: int = 0
    kinds: int = len(KINDS) + len(JOURNALS) + len(schedule_notes.NOTED)
    faults: list[str] = field(default_factory=list)


def compare() -> Comparison:
    """Hold every kind of row against the log. Whatever somebody wrote, it ends with its sentences."""
    comparison = Comparison()
    comparison.faults.extend(differences(comparison))
    return comparison


def differences(comparison: Comparison, most: int | None = MOST) -> Iterator[str]:
    """Each difference as it is found, and what was gone through. ``most``: of each kind; None for all of them."""
    with _at_one_moment():
        for kind in KINDS:
            yield from _guarded(kind.title, _compare(kind, comparison, most))
        for journal_rows in JOURNALS:
            yield from _guarded(journal_rows.title, _compare_journal(journal_rows, comparison, most))
        yield from _guarded("notes of the watch", _compare_notes(comparison))


def shape_faults() -> list[str]:
    """Where the database itself is not as its migrations make it."""
    return list(shape.faults())


@contextmanager
def _at_one_moment() -> Iterator[None]:
    """Of everything, what was committed when the first of it was read."""
    first = not connection.in_atomic_block
    with transaction.atomic():
        if first:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def _guarded(title: str, found: Iterator[str]) -> Iterator[str]:
    """What stops one comparison is a difference of its kind; the others go on."""
    try:
        with transaction.atomic():
            yield from found
    except OUTAGE:
        raise
    except Exception as error:
        log.exception("%s cannot be compared", title, exc_info=error)
        yield f"{title}: cannot be held against the log: {type(error).__name__}"


def _compare(kind: RowKind, comparison: Comparison, most: int | None) -> Iterator[str]:
    entries, rows = kind.in_log(), kind.in_database()
    comparison.rows += len(rows)
    wrong = [name for name in sorted(entries.keys() | rows.keys()) if entries.get(name) != rows.get(name)]
    for name in wrong[:most]:
        yield f"{kind.title} {name}: {_difference(entries.get(name), rows.get(name))}"
    if most is not None and len(wrong) > most:
        yield f"{kind.title}: and {len(wrong) - most} more"


def _compare_journal(rows: Journal, comparison: Comparison, most: int | None) -> Iterator[str]:
    comparison.rows += findings.count(rows)
    before = taken_over(rows.table)
    through = before.through or 0
    if through:
        totals = findings.sum_of(rows, through)
        if totals != {"through": through, "count": before.count, "sha256": before.sha256}:
            says = f"the log says {before.count}, and their digest; the rows are {totals['count']}, and others"
            yield f"{rows.title} 1 to {through}: {says}"
    for number, entered, row in findings.wrong(rows, through, most):
        yield f"{rows.title} {number}: {_difference(entered, row)}"


def _compare_notes(comparison: Comparison) -> Iterator[str]:
    comparison.rows += schedule_notes.count()
    yield from schedule_notes.faults()


def _difference(entry: Columns | None, row: Columns | None) -> str:
    """In words: the row is missing, or too much, or which of its columns say something else."""
    if entry is None:
        return "there is a row, and the log says nothing of it"
    if row is None:
        return "the log has it, and there is no row"
    columns = [name for name in (*entry, *(row.keys() - entry.keys())) if entry.get(name) != row.get(name)]
    log_says = ", ".join(f"{name} {_short(entry.get(name))}" for name in columns)
    row_says = ", ".join(f"{name} {_short(row.get(name))}" for name in columns)
    return f"the log says {log_says}; the row says {row_says}"


def _short(value: Any) -> str:
    spelled = "nothing" if value is None or value == "" else str(value)
    return spelled if len(spelled) <= 80 else f"{spelled[:77]}..."
