"""Counts of the vault's chips, and keys that go wrong, in the carried days."""

from __future__ import annotations

from uuid import uuid4

from ledger import cage
from ledger.models import Account
from tables.cage import cage_desk, key_register
from tables.floor.inputs import BeginSlip, SignSlip, VoidSlip
from tables.log.entries.custody import HouseKeySet
from tables.models import Staff
from tests.carried.cash import Cast, _sign

MISSED = {"place": "Corridor", "moment": "2025-01-02T03:04", "reason": "Fell off the ring"}


def play(house: Cast) -> None:
    """The vault's chips counted; slips of cash and keys that are made void; a key that is lost, and the one that
    follows it."""
    chips = ((100, cage.balance(Account.objects.get(place="vault")) // 100),)
    slip = cage_desk.sign(BeginSlip("vault", chips), by=house.cashier, key=uuid4())
    cage_desk.sign(SignSlip(slip, "recounted", chips), by=house.teller, key=uuid4())
    guard, second_guard = house.guards
    for name, dual in (("L-1", False), ("L-2", True)):
        key_register.set_key(HouseKeySet(name=name, lock="vault", dual=dual, in_use=True), by=house.olga)
    for series in ("bankout", "imprestback"):
        slip = cage_desk.sign(BeginSlip(series, ((100, 1),)), by=house.cashier, key=uuid4())
        _voided(house, slip, second_guard)
    _voided(house, cage_desk.sign(BeginSlip("key", facts={"key": "L-1"}), by=guard, key=uuid4()), second_guard)
    _voided(house, cage_desk.sign(BeginSlip("dualkey", facts={"key": "L-2"}), by=guard, key=uuid4()), second_guard)
    _sign(guard, BeginSlip("key", facts={"key": "L-1"}), (house.cashier, {}))
    _voided(house, cage_desk.sign(BeginSlip("keyback", facts={"key": "L-1"}), by=guard, key=uuid4()), second_guard)
    _sign(guard, BeginSlip("keylost", facts={"key": "L-1"} | MISSED), (house.boss, {}))
    key_register.set_key(HouseKeySet(name="L-3", lock="vault", dual=False, in_use=True), by=house.olga)


def _voided(house: Cast, slip: str, security: Staff) -> None:
    cage_desk.sign(VoidSlip(slip, "By mistake"), by=house.boss, key=uuid4())
    cage_desk.sign(SignSlip(slip, "voided"), by=security, key=uuid4())
