"""A house's letter box, on a real server: it holds exact copies of sealed days until they are fetched."""

import time
from collections.abc import Iterator
from typing import Any, Final

import psycopg
import pytest

from casino.embedded.servers import SUPERUSER
from ledger.models import Alert
from tables.audit import export_database
from tests.letter_boxes import WRITER, LetterBox
from tests.tables.bundles import Evidence
from tests.tiers import Tier, belongs_to

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
@belongs_to(Tier.TRIALS)
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LetterBox]:
    box = LetterBox(tmp_path_factory.mktemp("box"))
    box.make()
    yield box
    box.stop()


@pytest.fixture
def admin(evidence: Evidence, server: LetterBox, settings: Any) -> Iterator[psycopg.Connection]:
    """The superuser's connection to the house's box, which is empty."""
    settings.LETTER_BOX_URL = server.url(WRITER)
    with server.as_role(SUPERUSER) as admin:
        yield admin
        admin.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")
        admin.execute("TRUNCATE office_piece")


def days(admin: psycopg.Connection) -> list[int]:
    return [number for (number,) in admin.execute("SELECT DISTINCT number FROM office_piece ORDER BY 1").fetchall()]


def test_sealed_days_go_in_once_byte_by_byte(
    admin: psycopg.Connection, evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the head office reads something that is not a bundle; or a new box after a loss stays empty."""
    monkeypatch.setattr(export_database, "PIECE_BYTES", 5_000)
    assert export_database.fill() == 2
    assert export_database.fill() == 0
    pieces = admin.execute("SELECT number, start, content FROM office_piece ORDER BY number, start").fetchall()
    for number, bundle in ((1, evidence.first), (2, evidence.second)):
        assert b"".join(content for day, _, content in pieces if day == number) == bundle.read_bytes()
        assert [start for day, start, _ in pieces if day == number] == list(range(0, bundle.stat().st_size, 5_000))
    assert export_database.status().says == "The letter box answers, but no head office reads it."
    admin.execute("TRUNCATE office_piece")
    assert export_database.fill() == 2
    assert days(admin) == [1, 2]


LONG_AGO: Final = "house_north_1700000000"
"""A slot that was made in 2023, by its name."""


def make_slot(admin: psycopg.Connection, name: str) -> None:
    admin.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", [name])


def test_no_day_is_deleted_before_it_was_fetched(admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a day is deleted from the box while the head office is away, and never arrives there."""
    monkeypatch.setattr(export_database, "KEPT_DAYS", 0)
    export_database.fill()
    export_database.fill()
    assert days(admin) == [1, 2], "without a head office nothing was fetched"
    admin.execute("TRUNCATE office_piece")
    make_slot(admin, LONG_AGO)
    export_database.fill()
    export_database.fill()
    assert days(admin) == [1, 2], "the head office has not read that far"
    admin.execute("SELECT pg_replication_slot_advance(%s, pg_current_wal_lsn())", [LONG_AGO])
    export_database.fill()
    assert days(admin) == [2], "the newest day stays: it shows how far the box is filled"
    assert export_database.fill() == 0


@pytest.mark.parametrize("slot", ["house_north_{now}", "house_north", "pg_16392_sync_16385_74839201"])
def test_no_day_is_deleted_while_the_first_copy_may_go_on(
    admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch, slot: str
) -> None:
    """Harm: a head office subscribes for the first time, or again, and loses what lay in the box before: a slot counts
    all of that as fetched from its first moment on."""
    monkeypatch.setattr(export_database, "KEPT_DAYS", 1)
    export_database.fill()
    monkeypatch.setattr(export_database, "KEPT_DAYS", 0.5)
    make_slot(admin, LONG_AGO)
    make_slot(admin, slot.format(now=int(time.time())))
    export_database.fill()
    assert days(admin) == [1, 2]


def test_a_day_that_may_be_half_fetched_stays(admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a head office read up to the middle of a day, and its first half is gone when it comes back."""
    monkeypatch.setattr(export_database, "KEPT_DAYS", 0)
    make_slot(admin, LONG_AGO)
    export_database.fill()
    row = admin.execute("SELECT min(written) FROM office_piece WHERE number = 2").fetchone()
    admin.execute("UPDATE office_piece SET written = '0/1' WHERE number = 1")
    admin.execute("SELECT pg_replication_slot_advance(%s, %s)", [LONG_AGO, row[0] if row else ""])
    export_database.fill()
    assert days(admin) == [1, 2]


def test_a_head_office_that_stays_away_fills_no_disk(
    admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a house stops dealing because a head office does not read."""
    monkeypatch.setattr(export_database, "MOST_DAYS", 1)
    assert export_database.fill() == 1
    assert days(admin) == [1]
    assert "no head office fetches them" in Alert.objects.get(kind="not_delivered").message
    assert admin.execute("SHOW max_slot_wal_keep_size").fetchone() == ("2GB",)


def test_a_box_that_is_away_raises_an_alert_and_does_no_harm(
    admin: psycopg.Connection, settings: Any, tmp_path: Any
) -> None:
    """Harm: the house's worker fails, or nobody notices."""
    settings.LETTER_BOX_URL = f"postgresql://{WRITER}@/letter_box?host={tmp_path}"
    assert export_database.fill() == 0
    assert export_database.status().says == "The letter box does not answer."
    assert Alert.objects.get(kind="not_delivered").message == "Sealed days do not reach the letter box."


def test_a_box_that_is_ahead_of_its_house_is_reported(admin: psycopg.Connection) -> None:
    """Harm: a house that was restored to an earlier day puts nothing in, and nobody knows why."""
    admin.execute("INSERT INTO office_piece (bundle, start, number, size, content) VALUES ('b', 0, 9, 1, 'x')")
    assert export_database.fill() == 0
    assert export_database.status().says == "The letter box has day 9, but this house has sealed only 2."
