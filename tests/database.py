"""The tests' database: as whom one is connected, how it is emptied, and what dead runs left behind."""

import contextlib
import os
from collections.abc import Iterator

import psycopg
from django.core.management import call_command
from django.db import connection, transaction

from casino.embedded.servers import APPLICATION, OWNER, SUPERUSER
from tests.servers import DATABASE_SERVER as HOUSE


def become(role: str) -> None:
    connection.close()
    connection.settings_dict["USER"] = role


@contextlib.contextmanager
def as_owner() -> Iterator[None]:
    """Outside a transaction only: Django's own connection as the owner, for what the application may not do."""
    become(OWNER)
    try:
        yield
    finally:
        become(APPLICATION)


def database_url(role: str) -> str:
    return HOUSE.database_url(role, connection.settings_dict["NAME"])


def drop_dead_runs() -> None:
    """A run that was killed left its database behind; its number says whether it is still running."""
    with psycopg.connect(HOUSE.database_url(SUPERUSER, "postgres"), autocommit=True) as admin:
        # A second worker's DROP ... WITH (FORCE) would cut the connection of the first to the same database.
        admin.execute("SELECT pg_advisory_lock(hashtext('drop dead runs'))")
        for (name,) in admin.execute(r"SELECT datname FROM pg_database WHERE datname ~ '^test_\d+'").fetchall():
            try:
                os.kill(int(name.split("_")[1]), 0)
            except ProcessLookupError:
                admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def close_other_sessions() -> None:
    """End what is still connected to this run's database, such as the backend of a process that has just been killed:
    Django drops no database with a session in it."""
    with psycopg.connect(HOUSE.database_url(SUPERUSER, "postgres"), autocommit=True) as admin:
        _end_sessions(admin, str(connection.settings_dict["NAME"]))


def _end_sessions(admin: psycopg.Connection, name: str) -> None:
    admin.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", [name])


@contextlib.contextmanager
def locked_by_another_worker(deed: str) -> Iterator[None]:
    """Another session holds the lock of `ledger.runs.alone` for a deed until its transaction ends. A lock that ends
    with its session would remain for a moment after the connection is closed."""
    with psycopg.connect(database_url(APPLICATION)) as worker, worker.transaction():
        worker.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [deed])
        yield


@contextlib.contextmanager
def rollback() -> Iterator[None]:
    """Roll back what is written here: one of several attempts in a test."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


# --- An older copy ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def put_back_after() -> Iterator[None]:
    """The whole database is copied, and afterwards the copy stands in its place: whoever was connected is cut off both
    times. For tests with the database to themselves."""
    name = str(connection.settings_dict["NAME"])
    copy = f"{name}_copy"
    with psycopg.connect(HOUSE.database_url(SUPERUSER, "postgres"), autocommit=True) as admin:
        connection.close()
        admin.execute(f'DROP DATABASE IF EXISTS "{copy}" WITH (FORCE)')
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        _end_sessions(admin, name)
        admin.execute(f'CREATE DATABASE "{copy}" TEMPLATE "{name}" OWNER {OWNER}')
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        yield
        connection.close()
        admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        admin.execute(f'ALTER DATABASE "{copy}" RENAME TO "{name}"')
        with as_owner():  # a copy has what its tables grant, and not what the database itself did
            call_command("grants", verbosity=0)


# --- Emptying -------------------------------------------------------------------------------------------------

MIGRATED = ("django_content_type", "auth_permission")
"""What `migrate` writes and no test does: Django's flush deletes these rows, too, and then writes them again."""
GROWN_BYTES = 256 * 1024

TABLES = """
    SELECT oid::regclass::text FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname <> ALL (%s)
"""
GROWN = """
    SELECT oid::regclass::text FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > %s
"""


class Emptying:
    """Makes the database as it was migrated, but for what migrations wrote as rows.

    Django truncates every table, writes all content types and permissions anew, and takes a fifth of a second for it.
    A test leaves a few rows in a few tables.
    """

    def __init__(self) -> None:
        self._connect()
        self.migrated = self._what_migrate_wrote()
        tables = [name for (name,) in self.database.execute(TABLES, [["django_migrations", *MIGRATED]])]
        self._lock = f"LOCK TABLE {', '.join(tables)} IN SHARE ROW EXCLUSIVE MODE"
        self._filled = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for name in tables)

    def _connect(self) -> None:
        self.database = psycopg.connect(database_url(SUPERUSER), autocommit=True)

    def _what_migrate_wrote(self) -> list[list[tuple[object, ...]]]:
        return [self.database.execute(f"SELECT * FROM {table} ORDER BY id").fetchall() for table in MIGRATED]

    def empty(self) -> None:
        try:
            self.database.execute("SELECT 1")
        except psycopg.OperationalError:  # a test that took the database away for a while took this line, too
            self._connect()
        self._empty()

    def _empty(self) -> None:
        with self.database.transaction():
            self.database.execute(self._lock)  # waits for open transactions, as TRUNCATE would
            filled = self.database.execute(self._filled, prepare=True).fetchall()  # prepared: 150 tables to plan
            self.database.execute("SET LOCAL session_replication_role = replica")  # neither trigger nor foreign key
            self.database.execute("; ".join(f"DELETE FROM {name}" for (name,) in filled))
        assert self._what_migrate_wrote() == self.migrated, "a test changed the content types or the permissions"
        for (table,) in self.database.execute(GROWN, [GROWN_BYTES]).fetchall():
            self.database.execute(f"VACUUM {table}")

    def close(self) -> None:
        self.database.close()
