"""Chips into the house and out of it: every paper about them, and what is retired."""

from __future__ import annotations

from typing import Any, Final, Protocol
from uuid import uuid4

from django.utils import timezone

from ledger import cage
from tables.cage import cage_desk, chip_series, denominations, retirement
from tables.floor.inputs import BeginSlip, SignSlip, VoidSlip
from tables.models import Staff, Table
from tables.state import table_state
from tests import floor
from tests.floor import signs

BROWN: Final = 30_000
"""What the chips of the series are worth that comes and goes."""


class House(Protocol):
    """Those of the house's people who sign here."""

    olga: Staff
    boss: Staff
    second: Staff
    cashier: Staff
    ada: Staff
    dora: Staff
    guards: tuple[Staff, Staff]


def first_day(house: House) -> None:
    """A series is received, partly destroyed, and retired; chips are found, given back, and taken as counterfeit."""
    carla = house.carla
    guard = house.guards[0]
    brown = denominations.add_denomination(value_cents=BROWN, colour="brown", face="#784212", by=house.olga)
    chip_series.add("First", "Chips & Co", 2025, [BROWN], by=house.olga)
    delivery = {"series": "First", "note_number": "4711"}
    slip = _sign(carla, BeginSlip("receipt", ((BROWN, 3),), facts=delivery, noted=((BROWN, 4),)))
    _sign(guard, SignSlip(slip, "recounted", ((BROWN, 3),)))
    slip = _sign(carla, BeginSlip("destruction", ((BROWN, 1),), facts={"series": "First", "reason": "Chipped"}))
    _sign(guard, SignSlip(slip, "destroyed"))
    _sign(house.ada, SignSlip(slip, "witnessed"))
    _voids(house, carla)
    last_day = timezone.localdate().isoformat()
    slip = _sign(carla, BeginSlip("retirement", facts={"series": "First", "last_day": last_day, "reason": "Copied"}))
    _sign(house.ada, SignSlip(slip, "confirmed"))
    retirement.retire_denomination(brown, "Its only series is retired", by=house.olga)
    happened = {"place": "Under a table", "moment": timezone.now().isoformat()}
    slip = _sign(guard, BeginSlip("found", ((500, 2),), facts=happened))
    _sign(house.cashier, SignSlip(slip, "received"))
    claimed = {"slip": slip, "claimed_by": "Mr Jones, by passport"}
    slip = _sign(carla, BeginSlip("claim", ((500, 1),), facts=claimed))
    _sign(guard, SignSlip(slip, "witnessed"))
    _voided(house, _sign(carla, BeginSlip("claim", ((500, 1),), facts=claimed)), house.guards[1])
    _counterfeit(house, carla, happened | {"taken_from": "A player", "envelope": "E 1", "paid": "yes"})
    _retired_table(house)


def second_day(house: House) -> None:
    """The last day of the series is over: what is out lapses."""
    carla = Staff.objects.get(username="carla")
    slip = _sign(carla, BeginSlip("lapse", ((BROWN, 1),), facts={"series": "First"}))
    _sign(house.cashier, SignSlip(slip, "recounted", ((BROWN, 1),)))


def _counterfeit(house: House, carla: Staff, facts: dict[str, str]) -> None:
    """At the cage, which had paid for them, and in a rack; both are handed over."""
    guard, handed = house.guards[0], {"handed_to": "The police", "report": "77/25"}
    slip = _sign(carla, BeginSlip("counterfeit", ((500, 1),), facts=facts))
    _sign(guard, SignSlip(slip, "sealed"))
    _sign(house.cashier, SignSlip(slip, "handed", facts=handed))
    table = Table.objects.order_by("pk")[0]
    signs(table, house.boss, BeginSlip("forgery", ((500, 1),), facts=facts))
    name = table_state.of(table).slips[-1].name
    signs(table, guard, SignSlip(name, "sealed"))
    signs(table, house.cashier, SignSlip(name, "handed", facts=handed))


def _voids(house: House, carla: Staff) -> None:
    """Slips about chips of the house that were begun by mistake."""
    happened = {"place": "Under a table", "moment": timezone.now().isoformat()}
    for mistake in (
        BeginSlip("deposit", ((500, 1),)),
        BeginSlip("destruction", ((BROWN, 1),), facts={"series": "First", "reason": "Chipped"}),
        BeginSlip("found", ((500, 1),), facts=happened),
    ):
        _voided(house, _sign(carla, mistake), house.guards[1])


def _voided(house: House, slip: str, security: Staff) -> None:
    _sign(house.boss, VoidSlip(slip, "By mistake"))
    _sign(security, SignSlip(slip, "voided"))


def _retired_table(house: House) -> None:
    """A table that was never opened gives back its chips, and is retired."""
    table = floor.table("Old 1")
    rack = next(cents for account, cents in cage.balances(table.book_id).items() if account.place == "rack")
    least = min(table.denominations.values_list("value_cents", flat=True))
    signs(table, house.boss, BeginSlip("credit", ((least, rack // least),)))
    name = table_state.of(table).slips[-1].name
    signs(table, house.dora, SignSlip(name, "issued"))
    signs(table, house.second, SignSlip(name, "confirmed"))
    signs(table, house.guards[0], SignSlip(name, "carried"))
    signs(table, house.cashier, SignSlip(name, "received"))
    retirement.retire_table(table, "Sold", by=house.olga)


def _sign(by: Staff, entered: Any) -> str:
    return cage_desk.sign(entered, by=by, key=uuid4())
