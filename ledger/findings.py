"""Alerts and discrepancies, and what people did about them: each such row is an entry of the house's book too.

The database spells a row for its entry, and again for the proof, so that the two are held against each other where they
lie, however many there are. Evidence is in the entry by its digest: it may be long, and is for the house alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection, transaction

from ledger import site_log
from ledger.log import CONTENT
from ledger.models import HOUSE

BY: Final = "the house"
"""Who writes what nobody in particular found."""


@dataclass(frozen=True, slots=True)
class Journal:
    """Rows of one table, the entries that tell of them, and how the database spells a row (``r``) for its entry."""

    title: str
    table: str
    subject: str
    kind: str
    spelled: str

    @property
    def row(self) -> str:
        """A row as JSON, in SQL."""
        return f"jsonb_build_object('number', r.id, 'at', {_moment('r.at')}, {self.spelled})"


def _moment(column: str) -> str:
    """As entries spell moments."""
    return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""


_BOOK: Final = "'book', (SELECT name FROM ledger_book WHERE id = r.book_id)"
_EVIDENCE: Final = "'evidence_sha256', encode(sha256(convert_to(r.evidence::text, 'UTF8')), 'hex')"

ALERTS: Final = Journal(
    "alert", "ledger_alert", "alert", "raised", f"{_BOOK}, 'kind', r.kind, 'message', r.message, {_EVIDENCE}"
)
ACKNOWLEDGEMENTS: Final = Journal(
    "acknowledgement", "ledger_acknowledgement", "alert", "acknowledged",
    "'alert', r.alert_id, 'by', r.by, 'note', r.note",
)  # fmt: skip
ESCALATIONS: Final = Journal(
    "escalation", "ledger_escalation", "alert", "escalated",
    "'alert', r.alert_id, 'step', r.step, 'level', r.level, 'roles', r.roles",
)  # fmt: skip
DISCREPANCIES: Final = Journal(
    "discrepancy", "ledger_discrepancy", "discrepancy", "opened",
    f"{_BOOK}, 'kind', r.kind, 'amount_cents', r.amount_cents, 'level', r.level, 'message', r.message,"
    f" {_EVIDENCE}, 'involved', r.involved, 'key', r.key",
)  # fmt: skip
ASSIGNMENTS: Final = Journal(
    "assignment", "ledger_assignment", "discrepancy", "assigned",
    "'discrepancy', r.discrepancy_id, 'username', r.owner, 'name', r.name, 'by', r.by",
)  # fmt: skip
FINDINGS: Final = Journal(
    "finding", "ledger_finding", "discrepancy", "found",
    "'discrepancy', r.discrepancy_id, 'username', r.username, 'by', r.by, 'text', r.text",
)  # fmt: skip

# What surveillance looks at is nobody else's business, and operators read the house's book: the entry has a digest, and
# salt in it keeps anybody from trying notes until one fits.
_BOOKMARKED: Final = f"jsonb_build_array(r.book_id, r.round, {_moment('r.moment')}, r.note, r.camera, r.salt)"
BOOKMARKS: Final = Journal(
    "bookmark", "ledger_bookmark", "bookmark", "made",
    f"'by', r.by, 'bookmark_sha256', encode(sha256(convert_to({_BOOKMARKED}::text, 'UTF8')), 'hex')",
)  # fmt: skip

JOURNALS: Final = (ALERTS, ACKNOWLEDGEMENTS, ESCALATIONS, DISCREPANCIES, ASSIGNMENTS, FINDINGS, BOOKMARKS)


def enter(journal: Journal, row: int, moment: datetime, by: str = BY, *, at_the_door: bool = False) -> None:
    """Write the entry of a row that was just added, in its transaction. On the way to a table nobody waits for it, and
    it is told whatever is wrong with the house.

    ``at_the_door``: it is left for whoever writes in the house's book next. What a worker finds out under a clock that
    leapt must not date that book.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {journal.row} FROM {journal.table} AS r WHERE r.id = %s", [row])  # noqa: S608
        content: dict[str, Any] = json.loads(cursor.fetchone()[0])
    tell = site_log.enqueue_at if at_the_door else site_log.report
    tell(journal.subject, journal.kind, by, content, moment)


# --- Rows from before they were entered ------------------------------------------------------------------------


_SUM: Final = """
    SELECT count(*), encode(sha256(coalesce(string_agg(
        sha256(convert_to({row}::text, 'UTF8')), ''::bytea ORDER BY r.id), ''::bytea)), 'hex')
    FROM {table} AS r WHERE r.id <= %s
"""


def sum_of(journal: Journal, through: int) -> dict[str, Any]:
    """What the rows through one of them come to: the entry that took them over says the same."""
    with connection.cursor() as cursor:
        cursor.execute(_SUM.format(row=journal.row, table=journal.table), [through])
        count, digest = cursor.fetchone()
    return {"through": through, "count": count, "sha256": digest}


# --- Proving ---------------------------------------------------------------------------------------------------

# Each row against its entry, or against the notice that waits to be one.
_WRONG: Final = """
    WITH told AS (
        SELECT (content->>'number')::bigint AS number, content - 'happened_at' AS row FROM (
            SELECT {content} AS content
            FROM ledger_logentry AS e JOIN ledger_book AS b ON b.id = e.book_id
            WHERE b.name = %(house)s AND subject = %(subject)s AND kind = %(kind)s
            UNION ALL
            SELECT content FROM ledger_notice WHERE seq IS NULL AND subject = %(subject)s AND kind = %(kind)s) AS e),
    kept AS (SELECT r.id AS number, {row} AS row FROM {table} AS r WHERE r.id > %(through)s)
    SELECT coalesce(told.number, kept.number), told.row, kept.row
    FROM told FULL JOIN kept ON kept.number = told.number
    WHERE told.row IS DISTINCT FROM kept.row ORDER BY 1 LIMIT %(most)s
"""


def wrong(
    journal: Journal, through: int, most: int | None
) -> Iterator[tuple[int, dict[str, Any] | None, dict[str, Any] | None]]:
    """Rows numbered above ``through`` that differ from the log: the number of each, its values in the log and in the
    row. ``most``: the maximum number of rows, or None for all, which the server-side cursor streams."""
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(
            _WRONG.format(row=journal.row, table=journal.table, content=CONTENT.format(body="e.body")),
            {"house": HOUSE, "subject": journal.subject, "kind": journal.kind, "through": through, "most": most},
        )
        for number, entry, row in cursor:
            yield number, _read(entry), _read(row)


def count(journal: Journal) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {journal.table}")  # noqa: S608
        return int(cursor.fetchone()[0])


def _read(row: str | None) -> dict[str, Any] | None:
    return None if row is None else json.loads(row)
