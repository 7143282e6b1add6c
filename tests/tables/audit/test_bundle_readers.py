"""The messages of a card reader over two days, sealed, exported and forged: an outsider names what is out of order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tables.floor import recorder
from tables.roles import Role
from tests import floor
from tests.floor import Hand, staff
from tests.tables import bundles
from tests.tables.audit.sealed_days import SealedDays, refusal, verified
from tests.tables.bundles import ONE, TWO, Forger
from tests.tables.floor.test_card_readers import Device, betting

pytestmark = pytest.mark.slow("seals and exports days")

TABLE, READER = "Rocket 1", "Reader 1"


@pytest.fixture
def device(db: None, days: SealedDays, monkeypatch: pytest.MonkeyPatch) -> Device:
    """A reader and a round that is open over the end of the first day, with a card on which dealer and reader
    disagreed."""
    monkeypatch.setattr(bundles, "BOOKS", [TABLE, "house"])
    olga = staff(Role.OPERATOR, "olga")
    table = floor.table(TABLE, options={"decks": 2})
    Hand(table, staff(Role.PIT_BOSS, "bella"))("open_table")
    dora = staff(Role.DEALER, "dora")
    recorder.sign_in(table, dora)
    dealer = Hand(table, dora)
    dealer.ready_shoe()
    device = Device(table, olga, READER)
    device.starts()
    betting(dealer, seats=6)
    device.reads(10, 9, 8)
    dealer("card", rank=7)
    dealer("settle_reader", right="reader")
    device.reads(7)
    days.end(ONE)
    return device


def test_an_honest_readers_days_hold_apart_and_together(device: Device, days: SealedDays) -> None:
    """Harm: a session that goes on over the end of a day is taken for a forgery."""
    device.reads(6)
    device.starts()
    device.reads(5)
    days.end(TWO)
    for first_day, last_day in ((ONE, ONE), (TWO, TWO), (ONE, TWO)):
        lines = verified(days.bundle(first_day, last_day), key=days.public)
        assert any(line.startswith(f"holds  {TABLE}") for line in lines), (first_day, last_day)


Forgery = Callable[[Forger], None]


def by_the_dealer(forger: Forger) -> None:
    second = next(body["seq"] for body in forger.bodies(TABLE) if body["content"].get("read") == 2)
    forger.rewrite(TABLE, second, lambda body: body.update(by="dora"))


def exchanged(forger: Forger) -> None:
    bodies = forger.bodies(TABLE)
    second, third = (body for body in bodies if body["content"].get("read") in (2, 3))
    for part in ("content", "key"):
        second[part], third[part] = third[part], second[part]
    forger.chain(TABLE, bodies)


def unsettled(forger: Forger) -> None:
    settled = forger.find(TABLE, "reader", "settled")
    forger.rewrite(TABLE, settled, lambda body: body.update(kind="given_back", content={
        name: value for name, value in body["content"].items() if name in ("name", "session")
    }))  # fmt: skip


FORGERIES: dict[str, tuple[Forgery, str]] = {
    "exchanged": (exchanged, "it is message 3 of a card reader, and 2 was due"),
    "by the dealer": (by_the_dealer, "dora names no cards here"),
    "a disagreement that is not settled": (unsettled, "it is still open"),
}  # fmt: skip


def test_each_forged_message_is_named(device: Device, days: SealedDays) -> None:
    """Harm: the casino rewrites its log with a card that the reader never read, with two cards swapped, or without the
    entry that settles a disagreement, and no outside auditor can detect it."""
    path = days.bundle(ONE)
    for name, (forge, sentence) in FORGERIES.items():
        forger = Forger(path)
        forge(forger)
        forger.seal(days.key)
        assert sentence in refusal(forger.write(days.folder / "forged.zip")).what, name
