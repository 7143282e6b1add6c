"""Compares the rows derived from the log with the log: missing, additional and different rows, kind by kind.

Entries and rows are read in one snapshot, so a concurrent write causes no difference.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from django.db import connection, transaction
from django.db.models import Model

from ledger import findings, shape
from ledger.findings import JOURNALS, Journal
from ledger.inspection import OUTAGE
from tables import models
from tables.alerts import alert_rows
from tables.alerts.alert_rows import ALERT_CHANNELS, ALERT_RULES
from tables.alerts.models import Resending
from tables.audit import certificate_rows, schedule_notes
from tables.projections import (
    chips,
    codes,
    devices,
    people,
    player_pages,
    secrets,
    series_retirements,
    service_accounts,
    tables,
)
from tables.projections.records import Columns, Rows, taken_over
from tables.projections.site_rows import GAMING_HOURS, POLICIES, PROPOSALS, SITE_ROWS

log = logging.getLogger(__name__)

MOST: Final = 20
"""The maximum number of differences listed for one kind of row."""


class ComparedRows(Protocol):
    """Rows of one kind: as the log says that they are, and as the database has them. Projections are such."""

    @property
    def title(self) -> str: ...

    def in_log(self) -> Rows: ...

    def in_database(self) -> Rows: ...


@dataclass(frozen=True, slots=True)
class SecondImplementation:
    """Rows whose expected columns are computed by other code than the code that writes them.

    A projection finds rows that were changed behind the log, but no fault of its own: it writes and it compares. So
    the rows by which people sign, money is paid and chips are valid are computed a second time.
    """

    title: str
    model: type[Model]
    in_log: Callable[[], Rows]
    in_database: Callable[[], Rows]


SECOND_IMPLEMENTATIONS: Final = (
    # Who may sign: names, roles, and the digests of passwords, PINs, codes and passkeys.
    SecondImplementation("staff", models.Staff, people.in_log, people.in_database),
    SecondImplementation("emergency code of", models.EmergencyCode, codes.in_log, codes.in_database),
    SecondImplementation("code for", models.OneTimeCode, secrets.codes_in_log, secrets.codes_in_database),
    SecondImplementation("secret of", models.SecretVersion, secrets.versions_in_log, secrets.versions_in_database),
    SecondImplementation("passkey", models.Passkey, secrets.passkeys_in_log, secrets.passkeys_in_database),
    SecondImplementation(
        "program", models.ServiceAccount, service_accounts.accounts_in_log, service_accounts.accounts_in_database
    ),
    SecondImplementation(
        "token of a program", models.ServiceToken, service_accounts.tokens_in_log, service_accounts.tokens_in_database
    ),
    SecondImplementation("terminal", models.Terminal, devices.in_log, devices.in_database),
    SecondImplementation("page of", models.SeatPage, player_pages.in_log, player_pages.in_database),
    # What is paid: limits, options and chips of tables; which chips the site redeems.
    SecondImplementation("table", models.Table, tables.in_log, tables.in_database),
    SecondImplementation("chip", models.Denomination, chips.in_log, chips.in_database),
    SecondImplementation(
        "retirement of", models.SeriesRetirement, series_retirements.in_log, series_retirements.in_database
    ),
    # The writer uses the same mapping; the replay of the log plays the practice behind a certificate again.
    SecondImplementation("certificate", models.Certificate, certificate_rows.in_log, certificate_rows.in_database),
    # One entry makes several rows.
    SecondImplementation("dead letter", Resending, alert_rows.resent_in_log, alert_rows.resent_in_database),
)
COMPARED_IN_REPLAY: Final = (GAMING_HOURS, POLICIES, PROPOSALS)
"""Projections whose rows are compared entry by entry when the log is replayed."""
PROJECTIONS: Final = (
    *(projection for projection in SITE_ROWS if projection not in COMPARED_IN_REPLAY),
    ALERT_RULES,
    ALERT_CHANNELS,
)
KINDS: Final[tuple[ComparedRows, ...]] = (*SECOND_IMPLEMENTATIONS, *PROJECTIONS)


@dataclass(slots=True)
class Comparison:
    """The number of compared rows and kinds, and a sentence for each difference."""

    rows: int = 0
    kinds: int = len(KINDS) + len(JOURNALS) + len(schedule_notes.NOTED)
    faults: list[str] = field(default_factory=list)


def compare() -> Comparison:
    """Compare every kind of row with the log. Unreadable rows are differences; only an outage raises."""
    comparison = Comparison()
    comparison.faults.extend(differences(comparison))
    return comparison


def differences(comparison: Comparison, most: int | None = MOST) -> Iterator[str]:
    """Yield the differences, and count the rows in ``comparison``. ``most``: differences of one kind; None for all."""
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


def _compare(kind: ComparedRows, comparison: Comparison, most: int | None) -> Iterator[str]:
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
