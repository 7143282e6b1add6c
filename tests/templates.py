"""Databases beside the tests' own, and the migrated one that all of them copy (`CREATE DATABASE ... TEMPLATE`)."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

import psycopg
from django.apps import apps

from casino.embedded.servers import APPLICATION, BASE_DIR, OWNER, SUPERUSER
from ledger.grants import ALLOW_LIST
from tests.servers import DATABASE_SERVER


@contextmanager
def database(name: str, template: str = "template1") -> Iterator[None]:
    """A database, gone afterwards. Its name begins with the run's, so that a later run drops what a killed one left."""
    with psycopg.connect(DATABASE_SERVER.database_url(SUPERUSER, "postgres"), autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE "{name}" OWNER {OWNER} TEMPLATE "{template}"')
        try:
            yield
        finally:
            admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def environment(database: str) -> dict[str, str]:
    """For commands in processes of their own."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("CASINO_", "PYTEST_"))}
    return inherited | DATABASE_SERVER.environment() | {
        "DJANGO_SETTINGS_MODULE": "casino.settings",
        "DATABASE_URL": DATABASE_SERVER.database_url(APPLICATION, database),
        "DATABASE_OWNER_URL": DATABASE_SERVER.database_url(OWNER, database),
    }  # fmt: skip


# --- The migrated database ---------------------------------------------------------------------------------------

PREFIX: Final = "migrated_"
MAKING: Final = "a template is being made"


def migrated(admin: psycopg.Connection) -> str:
    """The name of the template. It stays at least as long as the connection: runs of other migrations drop the
    templates that no connection has reserved."""
    name = PREFIX + _digest_of_migrations()
    with _locked(admin, MAKING):
        admin.execute("SELECT pg_advisory_lock_shared(hashtext(%s))", [name])
        if name not in (templates := _templates(admin)):
            _make(admin, name)
            for other in templates:
                _drop_unless_reserved(admin, other)
    return name


def _digest_of_migrations() -> str:
    """Django's and ours, with the grants that `migrate` makes at its end. It also corrects permissions in a copy."""
    folders = [Path(app.path, "migrations") for app in apps.get_app_configs()]
    files = [BASE_DIR / ALLOW_LIST, *(file for folder in folders for file in sorted(folder.glob("*.py")))]
    return sha256(b"".join(sha256(file.read_bytes()).digest() for file in files)).hexdigest()[:16]


def _templates(admin: psycopg.Connection) -> list[str]:
    names = admin.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX]).fetchall()
    return [name for (name,) in names]


def _make(admin: psycopg.Connection, name: str) -> None:
    """Under another name until it is whole: a maker that is killed leaves a draft, which the next one drops."""
    draft = f"{PREFIX}draft"
    admin.execute(f'DROP DATABASE IF EXISTS "{draft}" WITH (FORCE)')
    admin.execute(f'CREATE DATABASE "{draft}" OWNER {OWNER}')
    _migrate(draft)
    admin.execute(f'ALTER DATABASE "{draft}" ALLOW_CONNECTIONS false')  # a copy needs that nobody is connected
    admin.execute(f'ALTER DATABASE "{draft}" RENAME TO "{name}"')


def _migrate(database: str) -> None:
    """In a process of its own: pytest-django blocks the connection of this one until the copy is there."""
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    process = subprocess.run(
        command, cwd=BASE_DIR, env=environment(database), capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr


def _drop_unless_reserved(admin: psycopg.Connection, name: str) -> None:
    [(is_free,)] = admin.execute("SELECT pg_try_advisory_lock(hashtext(%s))", [name]).fetchall()
    if is_free:
        admin.execute(f'DROP DATABASE IF EXISTS "{name}"')
        admin.execute("SELECT pg_advisory_unlock(hashtext(%s))", [name])


@contextmanager
def _locked(admin: psycopg.Connection, what: str) -> Iterator[None]:
    admin.execute("SELECT pg_advisory_lock(hashtext(%s))", [what])
    try:
        yield
    finally:
        admin.execute("SELECT pg_advisory_unlock(hashtext(%s))", [what])
