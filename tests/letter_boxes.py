"""Houses' letter boxes, each on a server of its own set up by deploy/letter-box; and a head office's subscriptions."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg

from casino.embedded.keeper import postgres_program
from casino.embedded.servers import BASE_DIR, POSTGRESQL, SUPERUSER, ServerSet, attached, is_ready

DATABASE: Final = "letter_box"
WRITER: Final = "casino_letters"
FETCHER: Final = "casino_fetcher"
PASSWORD = "a password of the head office"  # pragma: allowlist secret


@dataclass
class LetterBox:
    """The server of one house's letter box, which a test may stop and start."""

    folder: Path
    _use: ExitStack = field(default_factory=ExitStack, init=False)

    @property
    def server(self) -> ServerSet:
        """The server's folder and programs."""
        return ServerSet(self.folder, (POSTGRESQL,), durable=False)

    def make(self) -> None:
        """Set it up as in docs/head-office.md. Only the fetching role needs a password; all others are trusted."""
        self.start()
        self.stop()
        with (self.server.data / "postgresql.conf").open("a") as file:
            file.write(Path(BASE_DIR, "deploy", "letter-box", "postgresql.conf").read_text())
        access = self.server.data / "pg_hba.conf"
        access.write_text(
            f"local {DATABASE} {FETCHER} scram-sha-256\nlocal replication {FETCHER} reject\n{access.read_text()}"
        )
        self.start()
        with psycopg.connect(self.server.database_url(SUPERUSER, "postgres"), autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {DATABASE}")
        for _ in range(2):  # it must be repeatable
            psql(self.url(SUPERUSER), Path("deploy", "letter-box", "letter-box.sql"))
        self.let_in()

    def let_in(self) -> None:
        """Set the fetching role's password to the present ``PASSWORD``, which a test may change."""
        with self.as_role(SUPERUSER) as admin:
            admin.execute(f"ALTER ROLE {FETCHER} PASSWORD '{PASSWORD}'")

    def start(self) -> None:
        self._use.enter_context(attached(self.server))

    def stop(self) -> None:
        self._use.close()

    @property
    def is_up(self) -> bool:
        return is_ready(self.server)

    def url(self, role: str) -> str:
        """The box's URL for a role."""
        return self.server.database_url(role, DATABASE)

    def as_role(self, role: str) -> psycopg.Connection:
        """A connection to the box as a role."""
        return psycopg.connect(self.url(role), autocommit=True, password=PASSWORD)


def subscribe(office: str, house: str, box: LetterBox) -> None:
    """Subscribe a head office to a house's box, as its superuser does; ``office`` is the database's URL."""
    connection = f"host={box.server.sockets} dbname={DATABASE} user={FETCHER} password='{PASSWORD}'"
    psql(office, Path("deploy", "subscription.sql"), f"--set=house={house}", HOUSE_CONNECTION=connection)


def unsubscribe(office: psycopg.Connection) -> None:
    """Drop a test's subscriptions, even if their boxes are gone; the slots stay in the boxes."""
    names = office.execute(
        "SELECT subname FROM pg_subscription"
        " WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
    ).fetchall()
    for (name,) in names:
        office.execute(f"ALTER SUBSCRIPTION {name} DISABLE")
        office.execute(f"ALTER SUBSCRIPTION {name} SET (slot_name = NONE)")
        office.execute(f"DROP SUBSCRIPTION {name}")


def psql(address: str, file: Path, *options: str, **environment: str) -> None:
    """Run a SQL file of deploy/ as an administrator does. Raises CalledProcessError, with what psql wrote as a note."""
    command = [postgres_program("psql"), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", *options]
    command += [f"--dbname={address}", f"--file={file}"]
    process = subprocess.run(
        command, cwd=BASE_DIR, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    try:
        process.check_returncode()
    except subprocess.CalledProcessError as failure:
        failure.add_note(process.stderr)
        raise
