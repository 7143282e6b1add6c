"""Restore drills: restore the newest backup into a scratch server, verify it there and compare it with the site.

Celery beat schedules a drill, and the worker on the backup host (casino/drills.py) runs one if it is due: once a week,
and again a day after a failure. pgBackRest restores the newest backup and the archive since then into a folder of its
own, and a server that only this user can reach starts there. `manage.py verify` checks the whole log in it; its heads
and seals must match the site's.
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
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import psycopg
from django.conf import settings
from django.db import connection
from django.utils import timezone
from psycopg.conninfo import make_conninfo

from ledger import clock, runs
from ledger.alerts import raise_lasting
from ledger.models import Run, RunEnd
from ledger.raw_rows import fetch_row, fetch_rows
from ledger.runs import WatchPlan
from tables.refusals import sentence

GRACE: Final = timedelta(days=1)
AGAIN: Final = timedelta(days=1)
"""The pause after a failed drill. The fault is repaired by then, or the next drill raises the alert again."""
PLAN: Final = WatchPlan("drill", "Restoring the last backup", timedelta(days=7), timedelta(days=5, hours=7))
"""Mondays at 07:00 UTC, when last night's backup has been made."""
LONGEST_STEP_SECONDS: Final = 11 * 3600.0
"""For the restore, and again for the verification: both fit in the day that the task has, so none continues after
it."""
MARK: Final = ".casino-restore-drill"
"""This file marks a folder as a drill's, which the next drill may remove. A folder named by mistake has none."""
DEBIANS: Final = "/usr/lib/postgresql/{}/bin"
START_SECONDS: Final = 3600.0
"""The server answers only after it has replayed the archive since the backup."""
SERVER: Final = {
    "listen_addresses": "''",
    "archive_mode": "off",
    "fsync": "off",
    "hot_standby": "off",
    # At least as high as in any house: a server refuses to replay the log of one with higher limits.
    "max_connections": "1000",
    "max_worker_processes": "128",
    "max_wal_senders": "64",
    "max_prepared_transactions": "64",
    "max_locks_per_transaction": "256",
    "shared_preload_libraries": "''",
}


class Failed(Exception):
    """The backup could not be restored. The message names the step and quotes the program that failed."""


@dataclass(frozen=True, slots=True)
class Backup:
    """The backup and the folder to restore it into, on a disk with room for the whole database."""

    stanza: str
    folder: Path
    programs: Path | None = None
    """The folder of PostgreSQL's programs; by default Debian's, of the restored version."""

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def control(self) -> list[str]:
        """The command that starts and stops the scratch server, without its verb."""
        version = (self.data / "PG_VERSION").read_text().strip()
        programs = self.programs or Path(DEBIANS.format(version))
        return [str(programs / "pg_ctl"), "--pgdata", str(self.data), "--log", str(self.folder / "log")]


@dataclass(frozen=True, slots=True)
class DrillReport:
    """The result of a drill."""

    books: int = 0
    entries: int = 0
    behind: int = 0
    """Entries that the site has and the backup does not."""
    seals: int = 0
    faults: tuple[str, ...] = ()
    seconds: float = 0.0
    failed: str = ""
    """Why nothing was restored; empty after a restore."""

    @property
    def summary(self) -> str:
        if self.failed:
            return self.failed
        contents = f"{self.books} books with {self.entries:,} entries and {self.seals} sealed days"
        return f"{contents} were restored in {self.seconds:.0f} s; the house is {self.behind:,} entries ahead."


def overdue() -> str:
    """Why it is unknown whether the backups can be restored; empty if one was restored this week."""
    begun, last = _last_begun(), RunEnd.objects.filter(run__task=PLAN.task).order_by("-at").first()
    if begun is not None and not hasattr(begun, "end") and timezone.now() - begun.begun_at > GRACE:
        return f"The restore drill that began on {begun.begun_at:%Y-%m-%d} never ended."
    if last is None:
        return "No backup was ever restored: nobody knows whether one can be."
    if last.found:
        return f"The restore drill of {last.at:%Y-%m-%d} failed."
    if timezone.now() - last.at > PLAN.every + GRACE:
        return f"The last restore drill was on {last.at:%Y-%m-%d}."
    return ""


def look_after() -> int:
    """Raise an alert if the last drill failed or is overdue, even if its worker is dead. Returns the number of alerts.

    A site without BACKUP_STATUS_FILE has no backups to restore; doctor reports that instead.
    """
    if not settings.BACKUP_STATUS_FILE or not (fault := overdue()):
        return 0
    message = f"{fault} On the backup host, journalctl -u backup-drill shows why."
    raise_lasting(None, "drill_overdue", "drill", message, {})
    return 1


def is_due(moment: datetime) -> bool:
    """Whether no drill ran since the last Monday, or the last one failed or was killed and began at least a day ago."""
    last = _last_begun()
    if last is None:
        return True
    if not hasattr(last, "end") or last.end.found:
        return moment - last.begun_at >= AGAIN
    return last.slot < PLAN.slot(moment)


def _last_begun() -> Run | None:
    return Run.objects.filter(task=PLAN.task).select_related("end").order_by("-begun_at").first()


def run_drill(backup: Backup, *, by_hand: bool) -> DrillReport | None:
    """Run a drill, record it as a run like those of scheduled checks, and raise an alert if it finds faults.

    None if another drill is in progress, or none is due and ``by_hand`` is false. Raises WrongClock.
    """
    moment, reports = clock.agreed(), []

    def drill() -> int:
        reports.append(_restore_and_check(backup))
        return len(reports[0].faults)

    runs.run_between(PLAN, drill, moment, lambda: by_hand or is_due(moment))
    if not reports:
        return None
    if faults := reports[0].faults:
        message = f"The restore drill of the last backup failed: {faults[0]}"
        raise_lasting(None, "drill_failed", "drill", message, {"faults": list(faults[:20])})
    return reports[0]


def _restore_and_check(backup: Backup) -> DrillReport:
    began = time.monotonic()
    try:
        _make_room(backup)
        try:
            _restore(backup)
            with _server(backup) as address:
                faults = _verify(address)
                with psycopg.connect(address) as restored:
                    return _compare(restored, faults, began)
        finally:
            shutil.rmtree(backup.folder, ignore_errors=True)
    except (Failed, OSError, psycopg.Error) as failure:
        reason = str(failure).strip().partition("\n")[0] or type(failure).__name__
        return DrillReport(faults=(reason,), failed=reason, seconds=time.monotonic() - began)


def _make_room(backup: Backup) -> None:
    """Remove what a killed drill left behind, its server included. Raises Failed if the folder is not a drill's."""
    if backup.folder == Path():
        raise Failed("No folder is named to restore into: set DRILL_FOLDER, or give --folder.")
    mark = backup.folder / MARK
    if backup.folder.exists() and any(backup.folder.iterdir()):
        # Without its own mark the folder may be a live database: a drill never deletes it.
        if not mark.is_file() or mark.is_symlink():
            raise Failed(f"{backup.folder} is not empty: a drill makes and removes it.")
        if (backup.data / "PG_VERSION").exists():
            _stop(backup)
        shutil.rmtree(backup.folder)
    backup.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    mark.touch()


# --- Restoring ---------------------------------------------------------------------------------------------------


def _restore(backup: Backup) -> None:
    restore = ["pgbackrest", f"--stanza={backup.stanza}", f"--pg1-path={backup.data}", "--no-delta"]
    _run("restoring", [*restore, "--archive-mode=off", "--log-level-console=error", "restore"])
    # Debian keeps its configuration outside the data folder, and the site's would not suit a scratch server.
    lines = [f"{name} = {value}" for name, value in SERVER.items()]
    lines += [f"unix_socket_directories = '{backup.folder}'", f"hba_file = '{backup.folder}/hba'"]
    (backup.data / "postgresql.conf").write_text("\n".join(lines) + "\n")
    (backup.folder / "hba").write_text("local all all trust\n")  # the folder is this user's alone


@contextlib.contextmanager
def _server(backup: Backup) -> Iterator[str]:
    """A running scratch server's address, once the whole archive is replayed. Raises Failed."""
    try:
        start = ["--timeout", str(int(START_SECONDS)), "--wait", "start"]
        _run("starting the scratch server", [*backup.control(), *start])
        name = str(connection.settings_dict["NAME"])
        # The application's role: the verifier needs no more rights than on the floor.
        address = make_conninfo(host=str(backup.folder), port=5432, dbname=name, user=settings.CASINO_DB_APP_ROLE)
        _wait_until_recovered(address)
        yield address
    except Failed as failure:
        log = backup.folder / "log"
        last_lines = log.read_text(errors="replace").strip().splitlines()[-1:] if log.exists() else []
        raise Failed(f"{failure} {' '.join(last_lines)}".strip()) from None
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


def _ended(
    step: str, command: Sequence[str], environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The result of a program that ended in time. Raises Failed after LONGEST_STEP_SECONDS."""
    try:
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace", check=False,
            timeout=LONGEST_STEP_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Failed(sentence(f"{step} took more than {LONGEST_STEP_SECONDS / 3600:.0f} hours")) from None


def _run(step: str, command: Sequence[str]) -> None:
    process = _ended(step, command)
    if process.returncode != 0:
        lines = (process.stderr or process.stdout).strip().splitlines() or ["no message"]
        raise Failed(sentence(f"{step} failed: {lines[0]}"))


# --- Verifying, and comparing with the house -----------------------------------------------------------------------


def _verify(address: str) -> list[str]:
    """The faults that `manage.py verify` finds in the scratch server.

    It runs in a process of its own, so that no cached data of the site can hide a fault of the backup.
    """
    command = [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), "verify"]
    environment = {**os.environ, "DATABASE_URL": address, "AUDIT_KEY_FILE": ""}
    process = _ended("the proof", command, environment)
    if process.returncode == 0:
        return []
    lines = [line for line in (process.stdout + process.stderr).splitlines() if not line.startswith(("holds", "note"))]
    return [line.removeprefix("DOES NOT HOLD").strip() for line in lines] or ["verify failed and did not say why"]


def _compare(restored: psycopg.Connection[Any], faults: list[str], began: float) -> DrillReport:
    head_faults, behind, entries, books = compare_heads(restored)
    seal_faults, seals = _compare_seals(restored)
    return DrillReport(books, entries, behind, seals, (*faults, *head_faults, *seal_faults), time.monotonic() - began)


def compare_heads(restored: psycopg.Connection[Any]) -> tuple[list[str], int, int, int]:
    """Returns faults, the number of entries that the site is ahead, and the numbers of restored entries and logs.

    Each restored head must be an entry of the site, which may have more entries since.
    """
    faults, behind, entries = [], 0, 0
    heads = restored.execute("SELECT name, head_seq, head_hash FROM ledger_book ORDER BY name").fetchall()
    house_heads = dict(fetch_rows("SELECT name, head_seq FROM ledger_book"))
    for name, seq, digest in heads:
        entries += seq
        behind += max(0, house_heads.get(name, 0) - seq)
        # The restored log must be a prefix of the present one; any other hash means a different history.
        if seq and not _house_has(name, seq, digest):
            faults.append(f"{name}, entry {seq} of the backup is not the house's")
    behind += sum(seq for name, seq in house_heads.items() if name not in {head[0] for head in heads})
    return faults, behind, entries, len(heads)


def _house_has(book: str, seq: int, digest: bytes) -> bool:
    row = fetch_row(
        "SELECT e.hash FROM ledger_logentry AS e JOIN ledger_book AS b ON b.id = e.book_id"
        " WHERE b.name = %s AND e.seq = %s",
        [book, seq],
    )
    return row is not None and bytes(row[0]) == bytes(digest)


def _compare_seals(restored: psycopg.Connection[Any]) -> tuple[list[str], int]:
    """The restored seals that differ from the site's, as faults, and the number of restored seals."""
    statement = "SELECT day, hash, signature FROM ledger_dayroot ORDER BY number"
    seals = restored.execute(statement).fetchall()
    house_seals = {day: (bytes(digest), bytes(signature)) for day, digest, signature in fetch_rows(statement)}
    differing = [day for day, digest, signature in seals if house_seals.get(day) != (bytes(digest), bytes(signature))]
    return [f"the seal of {day} in the backup is not the house's" for day in differing], len(seals)
