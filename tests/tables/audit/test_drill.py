"""Restore drills: a backup that differs from the house is found, named and raised as an alert."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command

from ledger import clock, runs
from ledger.models import Alert, Book, DayRoot, RunEnd
from tables.audit import drill
from tests.clock import Clock
from tests.database import database_url, locked_by_another_worker
from tests.floor import dealt

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def restored(transactional_db: None) -> Iterator[psycopg.Connection]:
    """A connection to the house's own rows, in the place of a restored copy. A test may spoil them: it rolls back."""
    with psycopg.connect(database_url("postgres")) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection
        connection.rollback()


def test_a_restored_backup_matches_the_house_and_reports_how_far_the_house_is_ahead(
    restored: psycopg.Connection,
) -> None:
    dealer, _ = dealt()
    assert drill.compare_heads(restored)[:2] == ([], 0)
    book = Book.objects.get(pk=dealer.table.book_id)
    earlier = restored.execute(
        "UPDATE ledger_book SET head_seq = head_seq - 3, head_hash = (SELECT hash FROM ledger_logentry AS e"
        " WHERE e.book_id = ledger_book.id AND e.seq = head_seq - 3) WHERE id = %s RETURNING head_seq",
        [book.pk],
    ).fetchone()
    assert earlier == (book.head_seq - 3,)
    faults, behind, _, books = drill.compare_heads(restored)
    assert (faults, behind, books) == ([], 3, Book.objects.count())


def test_a_head_that_is_not_the_houses_is_named(restored: psycopg.Connection) -> None:
    """Harm: somebody swapped the repository, and the house finds out on the day it needs a backup."""
    dealer, _ = dealt()
    book = Book.objects.get(pk=dealer.table.book_id)
    restored.execute("UPDATE ledger_book SET head_hash = sha256('another') WHERE id = %s", [book.pk])
    assert drill.compare_heads(restored)[0] == [f"{book.name}, entry {book.head_seq} of the backup is not the house's"]
    restored.rollback()
    restored.execute("SET session_replication_role = replica")
    restored.execute("UPDATE ledger_book SET head_seq = head_seq + 5 WHERE id = %s", [book.pk])
    assert "is not the house's" in drill.compare_heads(restored)[0][0], "the house's log was cut short since the backup"


def test_a_seal_that_the_house_does_not_have_is_named(restored: psycopg.Connection) -> None:
    restored.execute(
        "INSERT INTO ledger_dayroot (day, number, body, hash, signature, at)"
        " VALUES ('2026-11-01', 1, '', sha256(''), repeat('x', 64)::bytea, now())"
    )
    assert not DayRoot.objects.exists()
    assert drill._compare_seals(restored) == (["the seal of 2026-11-01 in the backup is not the house's"], 1)


def test_a_drill_that_fails_is_an_alert_and_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the weekly drill fails for a year, and only a log that nobody reads shows it."""
    folder = tmp_path / "scratch"
    monkeypatch.setenv("PATH", str(tmp_path))
    fake = tmp_path / "pgbackrest"
    fake.write_text("#!/bin/sh\necho 'ERROR: [056]: unable to find primary cluster' >&2\nexit 56\n")
    fake.chmod(0o755)
    with pytest.raises(CommandError, match="Restoring failed: ERROR"):
        call_command("drill", folder=folder, programs=tmp_path)
    assert "unable to find primary cluster" in Alert.objects.get(kind="drill_failed").message
    assert RunEnd.objects.get(run__task="drill").found == 1
    assert not folder.exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    """Harm: somebody passes the live server's folder, and the drill removes it."""
    (tmp_path / "PG_VERSION").write_text("15")
    with pytest.raises(CommandError, match="is not empty"):
        call_command("drill", folder=tmp_path, programs=tmp_path)
    assert (tmp_path / "PG_VERSION").exists()


def test_a_folder_that_only_looks_like_a_drills_is_left_alone(tmp_path: Path) -> None:
    """Harm: the folder above the drill's is named by mistake, or none is, and the backups in it are removed."""
    (tmp_path / drill.MARK).mkdir()
    (tmp_path / "precious").touch()
    for folder in (tmp_path, Path()):
        with pytest.raises(drill.Failed):
            drill._make_room(drill.Backup("casino", folder))
    assert (tmp_path / "precious").exists()


def test_backups_that_are_never_restored_raise_an_alert(settings: Any) -> None:
    """Harm: the drill worker dies with its host, and nobody notices until a backup is needed."""
    assert drill.look_after() == 0
    settings.BACKUP_STATUS_FILE = "/var/lib/casino-backup/info.json"
    assert drill.look_after() == drill.look_after() == 1
    assert "No backup was ever restored" in Alert.objects.get(kind="drill_overdue").message
    run_with(0, clock.agreed())
    assert drill.look_after() == 0
    settings.BACKUP_STATUS_FILE = ""


def run_with(faults: int, moment: datetime) -> None:
    assert runs.run_between(drill.PLAN, lambda: faults, moment, lambda: True)


def test_a_drill_is_due_each_monday_and_a_day_after_a_failure(clock: Clock) -> None:
    """Harm: a failed drill is repeated only after a week, or every ten minutes; or drills stop altogether."""
    monday = datetime(2026, 11, 23, 7, tzinfo=UTC)
    assert drill.is_due(monday), "there was no drill yet"
    clock.stand(monday)
    run_with(0, monday)
    assert not drill.is_due(monday + timedelta(days=7, seconds=-1))
    assert drill.is_due(monday + timedelta(days=7))
    clock.stand(monday + timedelta(days=7))
    run_with(1, monday + timedelta(days=7))
    assert not drill.is_due(monday + timedelta(days=7, hours=23))
    assert drill.is_due(monday + timedelta(days=8))
    clock.stand(monday + timedelta(days=8))
    run_with(0, monday + timedelta(days=8))
    assert not drill.is_due(monday + timedelta(days=9)), "the last drill found no fault"
    assert not drill.overdue().endswith("failed.")
    assert not Alert.objects.filter(kind="run_missed").exists()


def test_a_killed_drill_is_repeated_a_day_later_and_said_to_be_missing(clock: Clock) -> None:
    """Harm: a drill that runs out of memory begins again every ten minutes, for days, and nobody hears of it."""
    monday = datetime(2026, 11, 23, 7, tzinfo=UTC)
    clock.stand(monday)

    def killed() -> int:
        raise SystemExit

    with pytest.raises(SystemExit):
        runs.run_between(drill.PLAN, killed, monday, lambda: True)
    assert not drill.is_due(monday + timedelta(hours=23))
    assert drill.is_due(monday + timedelta(days=1))
    assert "never ended" not in drill.overdue(), "it may still be under way"
    clock.stand(monday + drill.GRACE + timedelta(minutes=1))
    assert drill.overdue() == "The restore drill that began on 2026-11-23 never ended."


def test_a_second_drill_in_a_week_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: somebody repairs the repository, runs a drill by hand, and the house still reports the old failure."""
    reports = iter([drill.DrillReport(faults=("broken",), failed="broken"), drill.DrillReport(books=1)])
    monkeypatch.setattr(drill, "_restore_and_check", lambda backup: next(reports))
    backup = drill.Backup("casino", tmp_path / "scratch")
    assert drill.run_drill(backup, by_hand=True)
    assert "failed" in drill.overdue()
    assert drill.run_drill(backup, by_hand=False) is None, "it is not due before tomorrow"
    assert drill.run_drill(backup, by_hand=True)
    assert drill.overdue() == ""


def test_two_drills_are_never_under_way_at_once(tmp_path: Path) -> None:
    """Harm: two drills restore into one folder, and each reports the other's files as faults."""
    with locked_by_another_worker("run drill"):
        assert drill.run_drill(drill.Backup("casino", tmp_path / "scratch"), by_hand=True) is None
    assert not (tmp_path / "scratch").exists()
