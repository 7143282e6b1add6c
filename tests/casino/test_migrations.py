"""Migrations run while the release before still deals: none takes away what it needs, none holds a big table for long.

squawk reads the SQL of each migration with PostgreSQL's own grammar. Migrations of before there was a rolling upgrade
are left as they are.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Final

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

BEFORE: Final = {"ledger": "0026", "office": "0000", "tables": "0035"}
"""The last migration of each app that houses ran with the doors closed."""

BREAKS_THE_RELEASE_BEFORE: Final = {
    "adding-not-nullable-field",
    "adding-required-field",
    "ban-alter-domain-with-add-constraint",
    "ban-drop-column",
    "ban-drop-default",
    "ban-drop-table",
    "changing-column-type",
    "renaming-column",
    "renaming-table",
}
"""A row that the old code writes, or a column that it reads, is refused."""
HOLDS_A_TABLE: Final = {
    "adding-field-with-default",
    "adding-foreign-key-constraint",
    "adding-primary-key-constraint",
    "adding-serial-primary-key-field",
    "constraint-missing-not-valid",
    "disallowed-unique-constraint",
    "require-concurrent-index-creation",
    "require-concurrent-index-deletion",
}
"""A dealer waits while every row of it is read; only where there are many."""
GROWS: Final = re.compile(
    r"\b(ledger_(logentry|transfer|recount|alert|slip|slipsignature|run|runend|notice|finding)"
    r"|tables_(feedsheet|keptanswer|delivery|deliveryattempt|verification|houseshoe|keptsheet|shoeaudit))\b"
)
"""Tables that have a row for every input, every round, or every few minutes of a house's life."""


def faults(sql: str, folder: Path) -> list[str]:
    """What must not run beside the release before, each with its line."""
    file = folder / "migration.sql"
    file.write_text(sql)
    squawk = Path(sys.executable).with_name("squawk")
    judged = subprocess.run([squawk, "--reporter", "Json", file], capture_output=True, text=True, check=False)
    assert judged.stdout, judged.stderr
    lines = sql.splitlines()
    breaches = []
    for fault in json.loads(judged.stdout):
        rule, line = fault["rule_name"], lines[fault["line"]] if fault["line"] < len(lines) else ""
        assert rule != "syntax-error", fault
        if rule in BREAKS_THE_RELEASE_BEFORE or (rule in HOLDS_A_TABLE and GROWS.search(line)):
            breaches.append(f"{rule}: {line.strip()}")
    return breaches


def after_before() -> list[tuple[str, str]]:
    names = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    return sorted((app, name) for app, name in names if app in BEFORE and name[:4] > BEFORE[app])


def sql_of(app: str, name: str) -> str:
    out = StringIO()
    call_command("sqlmigrate", app, name, stdout=out, no_color=True)
    return out.getvalue()


@pytest.mark.django_db
def test_no_migration_takes_from_the_release_before_what_it_needs(tmp_path: Path) -> None:
    """Harm: for the minutes of an upgrade half of the dealers' inputs fail, or all of them wait for a lock."""
    breaches = {f"{app} {name}": faults(sql_of(app, name), tmp_path) for app, name in after_before()}
    wrong = {name: lines for name, lines in breaches.items() if lines}
    assert not wrong, (
        f"{wrong}: add first (with db_default, or null), stop using it in one release, and take it away in the next;"
        " build an index with AddIndexConcurrently"
    )


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        ("ALTER TABLE tables_table DROP COLUMN name;", "ban-drop-column"),
        ("ALTER TABLE tables_table RENAME COLUMN name TO title;", "renaming-column"),
        ("ALTER TABLE tables_table RENAME TO tables_desk;", "renaming-table"),
        ("DROP TABLE tables_table;", "ban-drop-table"),
        ("ALTER TABLE tables_table ADD COLUMN n integer NOT NULL;", "adding-required-field"),
        ("ALTER TABLE tables_table ALTER COLUMN name SET NOT NULL;", "adding-not-nullable-field"),
        ("ALTER TABLE tables_table ALTER COLUMN name TYPE bigint;", "changing-column-type"),
        # As Django adds a column with a default of Python's alone: the old code's rows have none.
        ("ALTER TABLE t ADD COLUMN n bigint DEFAULT 0 NOT NULL;\nALTER TABLE t ALTER COLUMN n DROP DEFAULT;",
         "ban-drop-default"),
        ("CREATE INDEX i ON ledger_logentry (at);", "require-concurrent-index-creation"),
        ("ALTER TABLE ledger_transfer ADD CONSTRAINT c CHECK (amount_cents > 0);", "constraint-missing-not-valid"),
    ],
)  # fmt: skip
def test_what_must_not_be_is_found(sql: str, rule: str, tmp_path: Path) -> None:
    assert [fault.partition(":")[0] for fault in faults(sql + "\n", tmp_path)] == [rule]


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE tables_table ADD COLUMN n bigint;",
        "ALTER TABLE tables_table ADD COLUMN n bigint DEFAULT 0 NOT NULL;",
        "CREATE TABLE tables_new (id bigint PRIMARY KEY);\nCREATE INDEX i ON tables_new (id);",
        "CREATE INDEX i ON tables_floorplan (pit);",
        "CREATE INDEX CONCURRENTLY i ON ledger_logentry (at);",
        "ALTER TABLE ledger_transfer ADD CONSTRAINT c CHECK (amount_cents > 0) NOT VALID;",
    ],
)
def test_what_may_be_is_let_through(sql: str, tmp_path: Path) -> None:
    assert faults(sql + "\n", tmp_path) == []


@pytest.mark.django_db
def test_tables_that_grow_are_there() -> None:
    """Harm: a table is renamed, and the rule for big ones never looks at it again."""
    names = connection.introspection.table_names()
    prefixed = re.findall(r"(ledger|tables)_\(([\w|]+)\)", GROWS.pattern)
    for app, rest in prefixed:
        assert {f"{app}_{name}" for name in rest.split("|")} <= set(names)
