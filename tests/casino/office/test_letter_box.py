"""A house's letter box, a real server of its own: sealed days go in as they are and stay until they were fetched."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from casino.embedded import SUPERUSER
from ledger.models import Alert
from tables.audit import letter_box
from tests.letter_boxes import WRITER, LetterBox
from tests.tables.bundles import Evidence

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LetterBox]:
    box = LetterBox(tmp_path_factory.mktemp("box"))
    box.make()
    yield box
    box.stop()


@pytest.fixture
def admin(evidence: Evidence, server: LetterBox, settings: Any) -> Iterator[psycopg.Connection]:
    """The superuser of a box that is empty, and the house's."""
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
    """Harm: what the head office reads is no bundle; or a box that was lost stays empty."""
    monkeypatch.setattr(letter_box, "A_PIECE", 5_000)
    assert letter_box.fill() == 2
    assert letter_box.fill() == 0
    pieces = admin.execute("SELECT number, start, content FROM office_piece ORDER BY number, start").fetchall()
    for number, bundle in ((1, evidence.first), (2, evidence.second)):
        assert b"".join(content for day, _, content in pieces if day == number) == bundle.read_bytes()
        assert [start for day, start, _ in pieces if day == number] == list(range(0, bundle.stat().st_size, 5_000))
    assert letter_box.standing().says == "The letter box answers, and no head office reads it."
    admin.execute("TRUNCATE office_piece")
    assert letter_box.fill() == 2
    assert days(admin) == [1, 2]


def test_nothing_goes_before_it_was_fetched(admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a day goes from the box while the head office is away, and nobody has it any more."""
    monkeypatch.setattr(letter_box, "KEPT_DAYS", 1)
    letter_box.fill()
    letter_box.fill()
    assert days(admin) == [1, 2], "nobody fetches, so nothing was fetched"
    admin.execute("TRUNCATE office_piece")
    admin.execute("SELECT pg_create_logical_replication_slot('house_north', 'pgoutput')")
    letter_box.fill()
    letter_box.fill()
    assert days(admin) == [1, 2], "the head office has not got so far"
    admin.execute("SELECT pg_replication_slot_advance('house_north', pg_current_wal_lsn())")
    letter_box.fill()
    assert days(admin) == [2], "and the newest stays: it says how far the box is"
    assert letter_box.fill() == 0


def test_a_head_office_that_stays_away_fills_no_disk(
    admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a house stops dealing because a head office does not read."""
    monkeypatch.setattr(letter_box, "MOST_DAYS", 1)
    assert letter_box.fill() == 1
    assert days(admin) == [1]
    assert "no head office fetches them" in Alert.objects.get(kind="not_delivered").message
    assert admin.execute("SHOW max_slot_wal_keep_size").fetchone() == ("2GB",)


def test_a_box_that_is_away_is_said_and_harms_nothing(admin: psycopg.Connection, settings: Any, tmp_path: Any) -> None:
    """Harm: the house's worker dies of it, or nobody hears."""
    settings.LETTER_BOX_URL = f"postgresql://{WRITER}@/letter_box?host={tmp_path}"
    assert letter_box.fill() == 0
    assert letter_box.standing().says == "The letter box does not answer."
    assert Alert.objects.get(kind="not_delivered").message == "Sealed days do not reach the letter box."


def test_a_box_that_is_ahead_of_its_house_is_said(admin: psycopg.Connection) -> None:
    """Harm: a house that was put back to an earlier day fills nothing in, and nobody knows why."""
    admin.execute("INSERT INTO office_piece (bundle, start, number, size, content) VALUES ('b', 0, 9, 1, 'x')")
    assert letter_box.fill() == 0
    assert letter_box.standing().says == "The letter box has day 9, this house 2."
