"""The messages of a card reader over two days, sealed, exported and forged: an outsider names what is out of order."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings

from ledger.proof import seals
from tables import dealing
from tables.audit import sealing
from tables.audit.outside import verifier
from tables.audit.outside.bundle import Wrong
from tables.day import hours
from tables.log.reader_messages import key_of
from tables.roles import Role
from tests import floor
from tests.clock import travelling
from tests.floor import Hand, staff
from tests.tables import bundles
from tests.tables.bundles import ONE, TWO, Forger, exported
from tests.tables.play.test_readers import Device, betting

TABLE, READER = "Rocket 1", "Reader 1"


@pytest.fixture
def days(transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two days: a round is open between them, dealer and reader disagree, and the device starts again."""
    monkeypatch.setattr(bundles, "BOOKS", [TABLE, "house"])
    key_file = tmp_path / "audit.pem"
    seals.make_key(key_file)
    with override_settings(AUDIT_KEY_FILE=str(key_file)), travelling() as clock:
        olga = staff(Role.OPERATOR, "olga")
        table = floor.table(TABLE, options={"decks": 2})
        Hand(table, staff(Role.PIT_BOSS, "bella"))("open_table")
        dora = staff(Role.DEALER, "dora")
        dealing.sign_in(table, dora)
        dealer = Hand(table, dora)
        dealer.ready_shoe()
        device = Device(table, olga, READER)
        device.starts()
        betting(dealer, seats=6)
        device.reads(10, 9, 8)
        dealer("card", rank=7)
        dealer("settle_reader", right="reader")
        device.reads(7)
        clock.pass_until(hours.span(ONE)[1] + timedelta(hours=1))
        sealing.seal_finished()
        device.reads(6)
        device.starts()
        device.reads(5)
        clock.pass_until(hours.span(TWO)[1] + timedelta(hours=1))
        sealing.seal_finished()
        for name, first_day, last_day in (("first", ONE, ONE), ("second", TWO, TWO), ("both", ONE, TWO)):
            (tmp_path / f"{name}.zip").write_bytes(exported(first_day, last_day))
    return tmp_path


def test_an_honest_readers_days_hold_apart_and_together(days: Path) -> None:
    """Harm: a session that goes on over the end of a day is taken for a forgery."""
    public = seals.public_of(seals.load_key(days / "audit.pem"))
    for name in ("first", "second", "both"):
        lines: list[str] = []
        verifier.verify(days / f"{name}.zip", key=public, say=lines.append)
        assert any(line.startswith(f"holds  {TABLE}") for line in lines), name


def repeated(body: dict[str, Any]) -> None:
    body["content"]["read"] = 1


def left_out(body: dict[str, Any]) -> None:
    body["content"]["read"] = 3


def of_another_message(body: dict[str, Any]) -> None:
    body["key"] = str(key_of(READER, "another session", 2))


def by_the_dealer(body: dict[str, Any]) -> None:
    body["by"] = "dora"


def keyed(body: dict[str, Any]) -> None:
    del body["content"]["read"]


@pytest.mark.parametrize(
    ("forge", "sentence"),
    [
        (repeated, "message 1 of a card reader, and 2 was due"),
        (left_out, "message 3 of a card reader, and 2 was due"),
        (of_another_message, "under the key of another"),
        (by_the_dealer, "dora names no cards here"),
        (keyed, "message 3 of a card reader, and 2 was due"),
    ],
)
def test_a_forged_message_is_named(days: Path, forge: Callable[[dict[str, Any]], None], sentence: str) -> None:
    """Harm: whoever holds the house's key writes the log anew with a card that the reader never read, and no auditor
    outside of the house can tell."""
    forger = Forger(days / "first.zip")
    second = next(body["seq"] for body in forger.bodies(TABLE) if body["content"].get("read") == 2)
    forger.rewrite(TABLE, second, forge)
    forger.seal(seals.load_key(days / "audit.pem"))
    with pytest.raises(Wrong) as wrong:
        verifier.verify(forger.write(days / "forged.zip"), say=lambda line: None)
    assert sentence in str(wrong.value)


def test_two_messages_that_change_places_are_named(days: Path) -> None:
    """Harm: two cards go to each other's seats after the fact."""
    forger = Forger(days / "first.zip")
    bodies = forger.bodies(TABLE)
    message, neighbour = (body for body in bodies if body["content"].get("read") in (2, 3))
    for part in ("content", "key"):
        message[part], neighbour[part] = neighbour[part], message[part]
    forger.chain(TABLE, bodies)
    forger.seal(seals.load_key(days / "audit.pem"))
    with pytest.raises(Wrong) as wrong:
        verifier.verify(forger.write(days / "forged.zip"), say=lambda line: None)
    assert f"entry {message['seq']}: it is message 3 of a card reader, and 2 was due" in str(wrong.value)


def test_a_disagreement_that_nobody_settled_is_named(days: Path) -> None:
    """Harm: the word about who was right is taken out of the log."""
    forger = Forger(days / "first.zip")
    settled = forger.find(TABLE, "reader", "settled")
    forger.rewrite(TABLE, settled, lambda body: body.update(kind="given_back", content={
        name: value for name, value in body["content"].items() if name in ("name", "session")
    }))  # fmt: skip
    forger.seal(seals.load_key(days / "audit.pem"))
    with pytest.raises(Wrong) as wrong:
        verifier.verify(forger.write(days / "forged.zip"), say=lambda line: None)
    assert "it is still open" in str(wrong.value)
