"""A backup held against the house: it is the house's, or the difference is named and the pit hears of it."""

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
from tests.database import database_url
from tests.floor import dealt

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def restored(transactional_db: None) -> Iterator[psycopg.Connection]:
    """The same rows as the house's, which a test may spoil: nothing of it is committed."""
    with psycopg.connect(database_url("postgres")) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection
        connection.rollback()


def test_what_was_had_back_is_the_houses_and_it_says_how_far_the_house_is_ahead(
    restored: psycopg.Connection,
) -> None:
    dealer, _ = dealt()
    assert drill.held_against(restored)[:2] == ([], 0)
    book = Book.objects.get(pk=dealer.table.book_id)
    earlier = restored.execute(
        "UPDATE ledger_book SET head_seq = head_seq - 3, head_hash = (SELECT hash FROM ledger_logentry AS e"
        " WHERE e.book_id = ledger_book.id AND e.seq = head_seq - 3) WHERE id = %s RETURNING head_seq",
        [book.pk],
    ).fetchone()
    assert earlier == (book.head_seq - 3,)
    faults, behind, _, books = drill.held_against(restored)
    assert (faults, behind, books) == ([], 3, Book.objects.count())


def test_a_head_that_is_not_the_houses_is_named(restored: psycopg.Connection) -> None:
    """Harm: the repository was exchanged, and the house finds out on the day on which it needs it."""
    dealer, _ = dealt()
    book = Book.objects.get(pk=dealer.table.book_id)
    restored.execute("UPDATE ledger_book SET head_hash = sha256('another') WHERE id = %s", [book.pk])
    assert drill.held_against(restored)[0] == [f"{book.name}, entry {book.head_seq} of the backup is not the house's"]
    restored.rollback()
    restored.execute("SET session_replication_role = replica")
    restored.execute("UPDATE ledger_book SET head_seq = head_seq + 5 WHERE id = %s", [book.pk])
    assert "is not the house's" in drill.held_against(restored)[0][0], "the house was cut short since"


def test_a_seal_that_the_house_does_not_have_is_named(restored: psycopg.Connection) -> None:
    restored.execute(
        "INSERT INTO ledger_dayroot (day, number, body, hash, signature, at)"
        " VALUES ('2026-11-01', 1, '', sha256(''), repeat('x', 64)::bytea, now())"
    )
    assert not DayRoot.objects.exists()
    assert drill._seals(restored) == (["the seal of 2026-11-01 in the backup is not the house's"], 1)


def test_a_drill_that_fails_is_an_alert_and_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the weekly drill fails for a year in a log that nobody reads."""
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
    """Harm: somebody names the live server's folder, and the drill removes it."""
    (tmp_path / "PG_VERSION").write_text("15")
    with pytest.raises(CommandError, match="is not empty"):
        call_command("drill", folder=tmp_path, programs=tmp_path)
    assert (tmp_path / "PG_VERSION").exists()


def test_a_house_with_backups_that_are_never_had_back_is_told(settings: Any) -> None:
    """Harm: the worker of drills dies with its host, and nobody notices until a backup is needed."""
    assert drill.look_after() == 0
    settings.BACKUP_STATUS_FILE = "/var/lib/casino-backup/info.json"
    assert drill.look_after() == drill.look_after() == 1
    assert "No backup was ever had back" in Alert.objects.get(kind="drill_overdue").message
    run_with(0, clock.agreed())
    assert drill.look_after() == 0
    settings.BACKUP_STATUS_FILE = ""


def run_with(faults: int, moment: datetime) -> None:
    assert runs.run_between(drill.PLAN, lambda: faults, moment, lambda: True)


def test_one_is_due_each_monday_and_a_day_after_it_failed(clock: Clock) -> None:
    """Harm: what failed is tried a week later, or every ten minutes; or nothing is had back any more."""
    monday = datetime(2026, 11, 23, 7, tzinfo=UTC)
    assert drill.is_due(monday), "there never was one"
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
    assert not drill.is_due(monday + timedelta(days=9)), "it held at last"
    assert not drill.overdue().endswith("does not hold.")
    assert not Alert.objects.filter(kind="run_missed").exists()


def test_a_second_drill_of_a_week_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: somebody mends the repository, has it back by hand, and the house goes on saying that it does not hold."""
    reports = iter([drill.Report(faults=("broken",), failed="broken"), drill.Report(books=1)])
    monkeypatch.setattr(drill, "_drilled", lambda backup: next(reports))
    backup = drill.Backup("casino", tmp_path / "scratch")
    assert drill.have_back(backup, asked=True)
    assert "does not hold" in drill.overdue()
    assert drill.have_back(backup, asked=False) is None, "it is not due before tomorrow"
    assert drill.have_back(backup, asked=True)
    assert drill.overdue() == ""


def test_two_drills_are_never_under_way_at_once(tmp_path: Path) -> None:
    """Harm: two restore into one folder, and each calls the other's half a fault."""
    with psycopg.connect(database_url("casino_app")) as other:
        other.execute("SELECT pg_advisory_lock(hashtextextended('run drill', 0))")
        assert drill.have_back(drill.Backup("casino", tmp_path / "scratch"), asked=True) is None
    assert not (tmp_path / "scratch").exists()
