"""Alerts and discrepancies, and the response to them: each such row also has an entry in the site log.

The database formats a row for its entry, and again for verification, so that any number of rows is compared inside the
database. Evidence is in the entry only as a digest: it may be long, and only the casino may read it.
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
from ledger.raw_rows import fetch_row

BY: Final = "the house"
"""The signature of entries that no user caused."""


@dataclass(frozen=True, slots=True)
class Journal:
    """A table, the kind of its log entries, and the SQL that formats a row (``r``) for its entry."""

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
    """A time in the format of entries, in SQL."""
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

# Surveillance's bookmarks are confidential, and operators read the site log: the entry has only a digest, salted so
# that the note cannot be found by guessing.
_BOOKMARKED: Final = f"jsonb_build_array(r.book_id, r.round, {_moment('r.moment')}, r.note, r.camera, r.salt)"
BOOKMARKS: Final = Journal(
    "bookmark", "ledger_bookmark", "bookmark", "made",
    f"'by', r.by, 'bookmark_sha256', encode(sha256(convert_to({_BOOKMARKED}::text, 'UTF8')), 'hex')",
)  # fmt: skip

JOURNALS: Final = (ALERTS, ACKNOWLEDGEMENTS, ESCALATIONS, DISCREPANCIES, ASSIGNMENTS, FINDINGS, BOOKMARKS)


def record(journal: Journal, row: int, moment: datetime, by: str = BY, *, queued_only: bool = False) -> None:
    """Write the entry of a row that was just added, in its transaction. Never waits for the site log, and works even
    when a clock or the site log is faulty.

    ``queued_only``: the entry is only queued, for the next writer of the site log. A worker that reports a wrong clock
    must not date the site log by it.
    """
    # The database formats the row, so that verification uses the same SQL.
    (text,) = fetch_row(f"SELECT {journal.row} FROM {journal.table} AS r WHERE r.id = %s", [row])  # noqa: S608
    content: dict[str, Any] = json.loads(text)
    tell = site_log.enqueue_at if queued_only else site_log.report
    tell(journal.subject, journal.kind, by, content, moment)


# --- Rows from before they were entered ------------------------------------------------------------------------


_SUM: Final = """
    SELECT count(*), encode(sha256(coalesce(string_agg(
        sha256(convert_to({row}::text, 'UTF8')), ''::bytea ORDER BY r.id), ''::bytea)), 'hex')
    FROM {table} AS r WHERE r.id <= %s
"""


def sum_of(journal: Journal, through: int) -> dict[str, Any]:
    """The number and digest of the rows up to ``through``. The entry that took over older rows records the same."""
    count, digest = fetch_row(_SUM.format(row=journal.row, table=journal.table), [through])
    return {"through": through, "count": count, "sha256": digest}


# --- Proving ---------------------------------------------------------------------------------------------------

# Each row against its entry, or against the queued notice that will become its entry.
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
    row.

    ``most``: the maximum number of rows, or None for all. The rows are streamed with a server-side cursor.
    """
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(
            _WRONG.format(row=journal.row, table=journal.table, content=CONTENT.format(body="e.body")),
            {"house": HOUSE, "subject": journal.subject, "kind": journal.kind, "through": through, "most": most},
        )
        for number, entry, row in cursor:
            yield number, _read(entry), _read(row)


def count(journal: Journal) -> int:
    return int(fetch_row(f"SELECT count(*) FROM {journal.table}")[0])  # noqa: S608


def _read(row: str | None) -> dict[str, Any] | None:
    return None if row is None else json.loads(row)
