"""A squashed migration makes the database that the migrations make that it replaces."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import psycopg
import pytest
from django.db.migrations.loader import MigrationLoader

from casino.embedded.keeper import postgres_program
from casino.embedded.servers import BASE_DIR, SUPERUSER, ServerSet
from tests.templates import database, environment, migrated

NUMBERED_BY_ORDER = ("django_migrations*", "django_content_type", "auth_permission")
"""Rows that get their numbers in the order in which models are made."""
NAME_OF_NOT_NULL = re.compile(r" CONSTRAINT \w+_not_null NOT NULL")
"""PostgreSQL 18 names these constraints, after the table as it was called when they were made."""
PERMISSIONS = """
    SELECT app_label, model, codename, name FROM auth_permission
    RIGHT JOIN django_content_type AS kind ON kind.id = content_type_id ORDER BY 1, 2, 3
"""


def dump(url: str) -> list[str]:
    """Schema, grants, sequences and rows as pg_dump writes them."""
    command = [postgres_program("pg_dump"), *(f"--exclude-table-data={name}" for name in NUMBERED_BY_ORDER), url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = NAME_OF_NOT_NULL.sub(" NOT NULL", text).splitlines()
    return [line for line in lines if not line.startswith("\\")]  # a key that is drawn for each dump


@pytest.mark.usefixtures("own_processes")
def test_a_squashed_migration_makes_what_the_replaced_ones_make(database_server: ServerSet) -> None:
    """Harm: new sites lack a constraint, a trigger or a grant that upgraded sites have, or the other way round."""
    squashed = MigrationLoader(None).replacements.values()
    ends = [f"{migration.app_label}={migration.replaces[-1][1]}" for migration in squashed]
    assert {end.split("=")[0] for end in ends} == {"ledger", "tables", "office"}
    old, new = f"test_{os.getpid()}_replayed", f"test_{os.getpid()}_squashed"
    with (
        psycopg.connect(database_server.database_url(SUPERUSER, "postgres"), autocommit=True) as admin,
        database(old),
        database(new, migrated(admin)),
    ):
        for command in (["-m", "tests.replay", *ends], ["manage.py", "migrate", "--verbosity", "0"]):
            subprocess.run([sys.executable, *command], cwd=BASE_DIR, env=environment(old), check=True)
        replayed, made = (database_server.database_url(SUPERUSER, name) for name in (old, new))
        assert dump(replayed) == dump(made)
        with psycopg.connect(replayed) as one, psycopg.connect(made) as other:
            assert one.execute(PERMISSIONS).fetchall() == other.execute(PERMISSIONS).fetchall()
