"""A backup is one when it was had back: restored into a scratch server, proved there, and held against the house.

Beat asks for it, and the worker on the host of the backups does it (casino/drills.py) where it is due: once a week, and
again a day after one that failed. pgBackRest lays the newest backup and all that was archived since into a folder of
its own; a server that nobody else reaches is started there. `manage.py verify` proves the whole log in it, and its
heads and seals have to be the house's.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import psycopg
from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo

from ledger import clock, runs
from ledger.alerts import raise_alert
from ledger.models import RunEnd
from ledger.runs import Plan
from tables.refusals import sentence

GRACE: Final = timedelta(days=1)
AGAIN: Final = timedelta(days=1)
"""After one that failed: what it wants is mended by then, or is an alert anew."""
PLAN: Final = Plan("drill", "Restoring the last backup", timedelta(days=7), timedelta(days=5, hours=7))
"""Mondays at 07:00 UTC, when last night's backup has been made."""
MARK: Final = "drill"
"""A file that tells a drill's folder, which the next one may remove, from one that somebody named by mistake."""
DEBIANS: Final = "/usr/lib/postgresql/{}/bin"
START_SECONDS: Final = 3600.0
"""What was archived since the backup is played back before the server answers."""
SERVER: Final = {
    "listen_addresses": "''",
    "archive_mode": "off",
    "max_logical_replication_workers": "0",  # a head office's copy would fetch from houses in its place
    "fsync": "off",
    "hot_standby": "off",
    # As many as any house has: a server refuses to play back what one with more wrote.
    "max_connections": "1000",
    "max_worker_processes": "128",
    "max_wal_senders": "64",
    "max_prepared_transactions": "64",
    "max_locks_per_transaction": "256",
    "shared_preload_libraries": "''",
}


class Failed(Exception):
    """The backup could not be had back; the message says at which step, in the words of the program that failed."""


@dataclass(frozen=True, slots=True)
class Backup:
    """Where the backup is, and where it may be laid: a folder on a disk with room for the whole database."""

    stanza: str
    folder: Path
    programs: Path | None = None
    """PostgreSQL's; by default Debian's of the version that was restored."""

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def control(self) -> list[str]:
        """How its scratch server is started and stopped."""
        version = (self.data / "PG_VERSION").read_text().strip()
        programs = self.programs or Path(DEBIANS.format(version))
        return [str(programs / "pg_ctl"), "--pgdata", str(self.data), "--log", str(self.folder / "log")]


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a drill."""

    books: int = 0
    entries: int = 0
    behind: int = 0
    """Entries of the house that the backup did not have yet."""
    seals: int = 0
    faults: tuple[str, ...] = ()
    seconds: float = 0.0
    failed: str = ""
    """Why nothing was had back."""

    @property
    def says(self) -> str:
        if self.failed:
            return self.failed
        what = f"{self.books} books with {self.entries:,} entries and {self.seals} sealed days were had back in"
        return f"{what} {self.seconds:.0f} s; the house is {self.behind:,} entries ahead."


def overdue() -> str:
    """Why nobody knows whether the backups can be had back; empty where one was, this week."""
    last = RunEnd.objects.filter(run__task=PLAN.task).order_by("-at").first()
    if last is None:
        return "No backup was ever had back: nobody knows whether one can be."
    if last.found:
        return f"The backup that was had back on {last.at:%Y-%m-%d} does not hold."
    if datetime.now(UTC) - last.at > PLAN.every + GRACE:
        return f"The last backup that was had back was that of {last.at:%Y-%m-%d}."
    return ""


def look_after() -> int:
    """An alert where none was had back in time, whatever became of the worker that should. A house that says nowhere
    what was backed up has no backups of its own to have back: doctor says so."""
    if not settings.BACKUP_STATUS_FILE or not (says := overdue()):
        return 0
    raise_alert(None, "drill_overdue", f"{says} On the database's host, journalctl -u backup-drill says why.", {})
    return 1


def is_due(moment: datetime) -> bool:
    """Whether none was had back since the last Monday, or the last one failed and that was a day ago."""
    last = RunEnd.objects.filter(run__task=PLAN.task).select_related("run").order_by("-at").first()
    if last is None:
        return True
    return moment - last.at >= AGAIN if last.found else last.run.slot < PLAN.slot(moment)


def have_back(backup: Backup, *, asked: bool) -> Report | None:
    """Restore, prove, compare, and tell the house: a run like those of the watch, and an alert where something is
    wrong. None where another drill is under way, or where nobody ``asked`` and none is due. Raises WrongClock."""
    moment, reports = clock.agreed(), []

    def deed() -> int:
        reports.append(_drilled(backup))
        return len(reports[0].faults)

    runs.run_between(PLAN, deed, moment, lambda: asked or is_due(moment))
    if not reports:
        return None
    if faults := reports[0].faults:
        says = f"The last backup was restored for a drill, and does not hold: {faults[0]}"
        raise_alert(None, "drill_failed", says, {"faults": list(faults[:20])})
    return reports[0]


def _drilled(backup: Backup) -> Report:
    began = time.monotonic()
    try:
        _make_room(backup)
        try:
            _restore(backup)
            with _server(backup) as address:
                faults = _verified(address)
                with psycopg.connect(address) as restored:
                    return _compared(restored, faults, began)
        finally:
            shutil.rmtree(backup.folder, ignore_errors=True)
    except (Failed, OSError, psycopg.Error) as failed:
        why = str(failed).strip().partition("\n")[0] or type(failed).__name__
        return Report(faults=(why,), failed=why, seconds=time.monotonic() - began)


def _make_room(backup: Backup) -> None:
    """What a drill left that was killed is taken away, its server too; what is nobody's drill stays. Raises Failed."""
    if backup.folder.exists() and any(backup.folder.iterdir()):
        if not (backup.folder / MARK).exists():
            raise Failed(f"{backup.folder} is not empty: a drill makes and removes it.")
        if (backup.data / "PG_VERSION").exists():
            _stop(backup)
        shutil.rmtree(backup.folder)
    backup.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (backup.folder / MARK).touch()


# --- Had back ----------------------------------------------------------------------------------------------------


def _restore(backup: Backup) -> None:
    restore = ["pgbackrest", f"--stanza={backup.stanza}", f"--pg1-path={backup.data}", "--no-delta"]
    _run("restoring", [*restore, "--archive-mode=off", "--log-level-console=error", "restore"])
    # Debian keeps these elsewhere, and those of the house are not for a server beside it.
    lines = [f"{name} = {value}" for name, value in SERVER.items()]
    lines += [f"unix_socket_directories = '{backup.folder}'", f"hba_file = '{backup.folder}/hba'"]
    (backup.data / "postgresql.conf").write_text("\n".join(lines) + "\n")
    (backup.folder / "hba").write_text("local all all trust\n")  # the folder is this user's alone


@contextlib.contextmanager
def _server(backup: Backup) -> Iterator[str]:
    """Its address, once all that was archived is played back."""
    try:
        start = ["--timeout", str(int(START_SECONDS)), "--wait", "start"]
        _run("starting the scratch server", [*backup.control(), *start])
        name = str(connection.settings_dict["NAME"])
        # The role is the application's: what proves the log may do no more than on the floor.
        address = make_conninfo(host=str(backup.folder), port=5432, dbname=name, user=settings.CASINO_DB_APP_ROLE)
        _wait_until_recovered(address)
        yield address
    except Failed as failed:
        log = backup.folder / "log"
        last = log.read_text(errors="replace").strip().splitlines()[-1:] if log.exists() else []
        raise Failed(f"{failed} {' '.join(last)}".strip()) from None
    finally:
        _stop(backup)


def _stop(backup: Backup) -> None:
    subprocess.run([*backup.control(), "--mode", "immediate", "stop"], capture_output=True, check=False)


def _wait_until_recovered(address: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(address) as scratch:
            row = scratch.execute("SELECT pg_is_in_recovery()").fetchone()
            if row and not row[0]:
                return
        time.sleep(0.5)
    raise Failed(f"The scratch server was not ready after {START_SECONDS:.0f} s.")


def _run(what: str, command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise Failed(sentence(f"{what} failed: {lines[0]}"))


# --- Proved, and held against the house ----------------------------------------------------------------------------


def _verified(address: str) -> list[str]:
    """The faults that `manage.py verify` names there. It is run anew: nothing that this process knows of the house may
    stand in for what the backup has."""
    command = [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), "verify"]
    environment = {**os.environ, "DATABASE_URL": address, "AUDIT_KEY_FILE": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    lines = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith(("holds", "note"))]
    return lines or ["verify failed and did not say why"]


def _compared(restored: psycopg.Connection[Any], faults: list[str], began: float) -> Report:
    differing, behind, entries, books = held_against(restored)
    sealed, seals = _seals(restored)
    return Report(books, entries, behind, seals, (*faults, *differing, *sealed), time.monotonic() - began)


def held_against(restored: psycopg.Connection[Any]) -> tuple[list[str], int, int, int]:
    """Each book's head as it was had back has to be an entry of the house; how far the house is ahead of all."""
    faults, behind, entries = [], 0, 0
    heads = restored.execute("SELECT name, head_seq, head_hash FROM ledger_book ORDER BY name").fetchall()
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, head_seq FROM ledger_book")
        here = dict(cursor.fetchall())
        for name, seq, digest in heads:
            entries += seq
            behind += here.get(name, 0) - seq
            if seq and not _is_here(cursor, name, seq, digest):
                faults.append(f"{name}, entry {seq} of the backup is not the house's")
    behind += sum(seq for name, seq in here.items() if name not in {head[0] for head in heads})
    return faults, behind, entries, len(heads)


def _is_here(cursor: Any, book: str, seq: int, digest: bytes) -> bool:
    cursor.execute(
        "SELECT e.hash FROM ledger_logentry AS e JOIN ledger_book AS b ON b.id = e.book_id"
        " WHERE b.name = %s AND e.seq = %s",
        [book, seq],
    )
    row = cursor.fetchone()
    return row is not None and bytes(row[0]) == bytes(digest)


def _seals(restored: psycopg.Connection[Any]) -> tuple[list[str], int]:
    statement = "SELECT day, hash, signature FROM ledger_dayroot ORDER BY number"
    kept = restored.execute(statement).fetchall()
    with connection.cursor() as cursor:
        cursor.execute(statement)
        here = {day: (bytes(digest), bytes(signature)) for day, digest, signature in cursor.fetchall()}
    differing = [day for day, digest, signature in kept if here.get(day) != (bytes(digest), bytes(signature))]
    return [f"the seal of {day} in the backup is not the house's" for day in differing], len(kept)
