"""Letter boxes of houses: servers of their own, set up by deploy/letter-box; and subscriptions of a head office."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg

from casino.embedded import BASE_DIR, POSTGRESQL, SUPERUSER, House, attached, is_ready
from casino.keeper import postgres_program

DATABASE: Final = "letter_box"
WRITER: Final = "casino_letters"
FETCHER: Final = "casino_fetcher"
PASSWORD = "a password of the head office"  # pragma: allowlist secret


@dataclass
class LetterBox:
    """The server of one house's letter box. It is stopped and started as a test likes."""

    folder: Path
    _use: ExitStack = field(default_factory=ExitStack, init=False)

    @property
    def server(self) -> House:
        """Where it lies."""
        return House(self.folder, (POSTGRESQL,), durable=False)

    def make(self) -> None:
        """As docs/head-office.md says. Whoever fetches has to name a password; everybody else is a test's own."""
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
        for _ in range(2):  # it may be run again
            psql(self.url(SUPERUSER), Path("deploy", "letter-box", "letter-box.sql"))
        self.let_in()

    def let_in(self) -> None:
        """Whoever fetches gets the password of today."""
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
        """An address in it."""
        return self.server.database_url(role, DATABASE)

    def as_role(self, role: str) -> psycopg.Connection:
        """A connection."""
        return psycopg.connect(self.url(role), autocommit=True, password=PASSWORD)


def subscribe(office: str, house: str, box: LetterBox) -> None:
    """What a head office's superuser runs for a house; ``office`` is the database's address."""
    connection = f"host={box.server.sockets} dbname={DATABASE} user={FETCHER} password='{PASSWORD}'"
    psql(office, Path("deploy", "subscription.sql"), f"--set=house={house}", HOUSE_CONNECTION=connection)


def unsubscribe(office: psycopg.Connection) -> None:
    """Drop what a test subscribed to, whether its box is there or not; the slots stay there."""
    names = office.execute(
        "SELECT subname FROM pg_subscription"
        " WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
    ).fetchall()
    for (name,) in names:
        office.execute(f"ALTER SUBSCRIPTION {name} DISABLE")
        office.execute(f"ALTER SUBSCRIPTION {name} SET (slot_name = NONE)")
        office.execute(f"DROP SUBSCRIPTION {name}")


def psql(address: str, file: Path, *options: str, **environment: str) -> None:
    """A file of deploy/, as an administrator runs it. Raises CalledProcessError."""
    command = [postgres_program("psql"), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", *options]
    command += [f"--dbname={address}", f"--file={file}"]
    subprocess.run(command, cwd=BASE_DIR, env=os.environ | environment, capture_output=True, text=True, check=True)
