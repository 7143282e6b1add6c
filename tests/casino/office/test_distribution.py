"""What distributing this schema by house (Citus) would need: read from the real catalog, and compared with the docs."""

from collections.abc import Mapping
from typing import Final

import pytest
from django.db import connection

from casino.embedded.servers import BASE_DIR

PAGE: Final = BASE_DIR / "docs" / "many-houses.md"
REFERENCE: Final = ("django_migrations", "django_content_type", "auth_permission")
"""Tables with the same rows in every house: they would be complete on every node."""

_OURS: Final = r"""
    WITH ours AS (
        SELECT oid, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
            AND relname NOT LIKE 'office\_%%' AND relname <> ALL (%s))
"""
QUESTIONS: Final[Mapping[str, str]] = {
    "tables": "SELECT relname FROM ours",
    "primary keys": "SELECT relname FROM ours JOIN pg_constraint ON conrelid = ours.oid WHERE contype = 'p'",
    "unique constraints and indexes beside them": """
        SELECT i.relname FROM ours JOIN pg_index ON indrelid = ours.oid JOIN pg_class AS i ON i.oid = indexrelid
        WHERE indisunique AND NOT indisprimary""",
    "foreign keys between them": """
        SELECT conname FROM pg_constraint JOIN ours ON conrelid = ours.oid JOIN ours AS other ON confrelid = other.oid
        WHERE contype = 'f'""",
    "foreign keys that change or empty a column": """
        SELECT conname FROM pg_constraint JOIN ours ON conrelid = ours.oid
        WHERE contype = 'f' AND (confdeltype IN ('n', 'd', 'c') OR confupdtype IN ('n', 'd', 'c'))""",
    "triggers for each row": """
        SELECT tgname FROM pg_trigger JOIN ours ON tgrelid = ours.oid WHERE NOT tgisinternal AND tgtype & 1 = 1""",
    "triggers for each statement": """
        SELECT tgname FROM pg_trigger JOIN ours ON tgrelid = ours.oid WHERE NOT tgisinternal AND tgtype & 1 = 0""",
    "sequences narrower than bigint": """
        SELECT s.relname FROM pg_sequence JOIN pg_class AS s ON s.oid = seqrelid
        JOIN pg_depend ON objid = s.oid AND refobjsubid > 0 JOIN ours ON ours.oid = refobjid
        WHERE seqtypid <> 'bigint'::regtype""",
}
"""What Citus limits: https://docs.citusdata.com, "Limitations" and "Creating and distributing tables"."""
FORBIDDEN: Final[Mapping[str, str]] = {
    "exclusion constraints": """
        SELECT conname FROM pg_constraint JOIN ours ON conrelid = ours.oid WHERE contype = 'x'""",
    "foreign keys from a reference table to a distributed one": """
        SELECT conname FROM pg_constraint JOIN ours ON confrelid = ours.oid
        WHERE contype = 'f' AND conrelid NOT IN (SELECT oid FROM ours)""",
    "inherited or partitioned tables": "SELECT relname FROM ours JOIN pg_inherits ON inhrelid = ours.oid",
    "rules": "SELECT rulename FROM pg_rewrite JOIN ours ON ev_class = ours.oid WHERE rulename <> '_RETURN'",
}
"""What Citus does not support, or only differently."""


def names(question: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(_OURS + question, [list(REFERENCE)])
        return sorted(row[0] for row in cursor.fetchall())


@pytest.mark.django_db
def test_nothing_in_the_schema_forbids_a_distribution_by_house() -> None:
    """Harm: a new table makes impossible what we promise a company that outgrows one PostgreSQL server."""
    assert {obstacle: names(question) for obstacle, question in FORBIDDEN.items()} == {
        obstacle: [] for obstacle in FORBIDDEN
    }


@pytest.mark.django_db
def test_the_page_names_what_a_distribution_would_change() -> None:
    """Harm: somebody plans it with outdated numbers."""
    page = PAGE.read_text()
    rows = {matter: f"| {matter} | {len(names(question))} |" for matter, question in QUESTIONS.items()}
    assert [row for row in rows.values() if row not in page] == []
    assert all(f"`{trigger}`" in page for trigger in names(QUESTIONS["triggers for each statement"]))
