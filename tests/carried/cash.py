"""The house's cash in the carried days: everything that its log has a word for, done once."""

from __future__ import annotations

from datetime import time
from typing import Any, Final, Protocol
from uuid import uuid4

from django.utils import timezone

from ledger import cage
from ledger.models import Account
from tables.cage import cage_desk, custody_items, key_register
from tables.cage.key_register import Schedule
from tables.floor.inputs import BeginSlip, SignSlip
from tables.log.entries.custody import HouseKeySet
from tables.models import Staff, Table
from tables.reports import gaming_hours
from tables.roles import Role
from tables.state import table_state
from tests.floor import signs

FIFTIES: Final = ((5_000, 200),)


class Cast(Protocol):
    """The people of a house, as far as cash goes by them."""

    boss: Staff
    olga: Staff
    cashier: Staff
    teller: Staff
    runner: Staff
    guards: tuple[Staff, Staff]
    counters: tuple[Staff, Staff]


def play(house: Cast) -> None:
    """Cash from the bank and back, the cashiers' float, counts over and short, notes put apart, keys and drops."""
    _sign(house.cashier, BeginSlip("bankin", FIFTIES), (house.boss, {}), (house.runner, {"receipt": "A-1"}))
    _sign(house.cashier, BeginSlip("bankout", ((5_000, 20),)), (house.boss, {}), (house.runner, {"receipt": "A-2"}))
    _sign(house.cashier, BeginSlip("imprest", ((5_000, 40),)), (house.boss, {}))
    _sign(house.teller, BeginSlip("imprestback", ((5_000, 2),)), (house.boss, {}))
    for series, place in (("cagecash", "bank"), ("vaultcash", "vault_cash")):
        for off in (300, -300, 0):
            _counted(house, series, place, off)
    _counted(house, "cagecash", "bank", -2_000, (("torn", 2_000, "E-1"),))
    [envelope] = custody_items.envelopes()
    facts = {"envelope": envelope, "reason": "The bank changed it"}
    _sign(house.cashier, BeginSlip("note", ((2_000, 1),), facts=facts), (house.boss, {}))
    _keys(house)
    today = gaming_hours.day_of(timezone.now())
    key_register.set_schedule(Schedule("Night", today, (), (), time(5), "Security"), by=house.olga, today=today)


def counted(house: Cast) -> None:
    """The cage's cash and the vault's, as they are."""
    for series, place in (("cagecash", "bank"), ("vaultcash", "vault_cash")):
        _counted(house, series, place, 0)


def emergency(house: Cast, table: Table) -> None:
    """A full box is taken before its hour, and counted."""
    cents = cage.balance(Account.objects.get(book_id=table.book_id, place="drop_box"))
    notes = ((100, cents // 100),)
    facts = {"reason": "It is full", "box_after": "N-1"}
    signs(table, house.guards[0], BeginSlip("emergency", box="F-1", facts=facts))
    [name] = [slip.name for slip in table_state.of(table).slips if slip.box == "F-1"]
    signs(table, house.guards[1], SignSlip(name, "witnessed"))
    for person, stage in zip(house.counters, ("counted", "recounted"), strict=True):
        signs(table, person, SignSlip(name, stage, notes))


def _sign(begins: Staff, entered: BeginSlip, *countersigners: tuple[Staff, dict[str, str]]) -> None:
    slip = cage_desk.sign(entered, by=begins, key=uuid4())
    for person, facts in countersigners:
        waiting = {paper.name: paper for paper in cage_desk.in_progress(cage.open_house().pk)}
        due = waiting[slip].due
        assert due is not None
        cage_desk.sign(SignSlip(slip, due.name, facts=facts), by=person, key=uuid4())


def _counted(house: Cast, series: str, place: str, off: int, apart: Any = ()) -> None:
    cents = cage.balance(Account.objects.get(place=place)) + off
    chips = ((100, cents // 100),)
    slip = cage_desk.sign(BeginSlip(series, chips, apart=apart), by=house.cashier, key=uuid4())
    cage_desk.sign(SignSlip(slip, "recounted", chips, apart=apart), by=house.teller, key=uuid4())


def _keys(house: Cast) -> None:
    for name, dual in (("B-1", False), ("V-1", True)):
        key_register.set_key(HouseKeySet(name=name, lock="box_release", dual=dual, in_use=True), by=house.olga)
    guard, counter = house.guards[0], house.counters[0]
    assert guard.role == Role.SECURITY
    _sign(guard, BeginSlip("key", facts={"key": "B-1"}), (house.cashier, {}))
    _sign(guard, BeginSlip("dualkey", facts={"key": "V-1"}), (counter, {}), (house.cashier, {}))
    for name in ("B-1", "V-1"):
        _sign(guard, BeginSlip("keyback", facts={"key": name}), (house.cashier, {}))
