"""A real hot standby of the tests' own server: a base backup that streams, to be held up, killed and started again."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

import psycopg

from casino.embedded import keeper
from casino.embedded.servers import SUPERUSER, ServerSet
from tests.patience import eventually


class Standby:
    """Follows a server. Its sockets lie in a short folder: a socket's address has few letters."""

    def __init__(self, primary: ServerSet) -> None:
        self._primary = primary
        self._prefix, self._owner = keeper.unprivileged()
        self._folder = Path(tempfile.mkdtemp(prefix="casino-standby-"))
        self._data = self._folder / "data"
        self._log = (self._folder / "log").open("wb")
        self._process: subprocess.Popen[bytes] | None = None
        os.chown(self._folder, self._owner, -1)

    def make(self) -> None:
        """Copy the server as it is."""
        copy = [keeper.postgres_program("pg_basebackup"), f"--pgdata={self._data}", "--write-recovery-conf"]
        copy += [f"--host={self._primary.sockets}", f"--username={SUPERUSER}", "--checkpoint=fast", "--no-sync"]
        subprocess.run([*self._prefix, *copy], check=True, stdout=self._log, stderr=self._log)

    def start(self) -> None:
        chosen = {"listen_addresses": "", "unix_socket_directories": self._folder, "fsync": "off"}
        chosen["max_connections"] = keeper.POSTGRES_SETTINGS[
            "max_connections"
        ]  # a standby needs the primary's at least
        options = [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]
        command = [*self._prefix, keeper.postgres_program("postgres"), "-D", str(self._data), *options]
        self._process = subprocess.Popen(
            command, stdout=self._log, stderr=self._log, preexec_fn=keeper.die_with_parent, process_group=0
        )
        eventually(self._is_up, lambda: (self._folder / "log").read_text())

    def _is_up(self) -> bool:
        try:
            self.ask("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, *, suddenly: bool = False) -> None:
        if self._process is not None:
            self._process.kill() if suddenly else self._process.terminate()
            self._process.wait()
        self._process = None

    def remove(self) -> None:
        self.stop(suddenly=True)
        self._log.close()
        shutil.rmtree(self._folder)

    def url(self, role: str, database: str) -> str:
        return f"postgresql://{role}@{quote(str(self._folder), safe='')}/{database}"

    def ask(self, sql: str) -> None:
        """As its superuser, such as holding up what it plays back."""
        with psycopg.connect(self.url(SUPERUSER, "postgres"), autocommit=True) as admin:
            admin.execute(sql)

    def pause(self) -> None:
        self.ask("SELECT pg_wal_replay_pause()")

    def resume(self) -> None:
        self.ask("SELECT pg_wal_replay_resume()")
