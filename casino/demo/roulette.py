"""The demo's roulette table, a non-tracked table. Its evening is buy-ins, a count in between, and a closer."""

from __future__ import annotations

from typing import Final

from casino.demo.demo_site import DemoSite
from casino.demo.people import balance, pieces
from tables.floor import recorder
from tables.floor.inputs import ChangeChips, SellChips
from tables.models import Table

NAME: Final = "Roulette 1"
SALES: Final = 7
HOLD_PER_CENT: Final = (4, 34)
"""The hold of half an evening in per cent, as a random range. The configured usual hold is 18 to 26 %."""
STEP_CENTS: Final = 500


def evening(house: DemoSite, username: str) -> int:
    """The table opens, sells, is counted twice, and closes; how often it sold chips. Its box waits for the count."""
    table, people = house.tables[NAME], house.people
    values = tuple(chip.value_cents for chip in table.denominations.all())
    house.clock.passes(60)
    house.opened_with.setdefault(NAME, balance("rack", table))
    people.counts(table, "opener", username, pieces(balance("rack", table), values))
    recorder.sign_in(table, people[username])
    _half(house, table, username, values, "rack")
    _leveled(house, table, username, values)
    _half(house, table, username, values, "closer")
    house.boxes.append(people.removes_box(table, f"{table.pk}-{len(house.boxes)}"))
    return 2 * SALES


def _half(house: DemoSite, table: Table, username: str, values: tuple[int, ...], count: str) -> None:
    """Players buy in and play; then the rack tells what they lost, which is more than they took away."""
    dropped = 0
    for _ in range(SALES):
        house.clock.passes(house.chance.uniform(300, 900))
        cents = 5_000 * house.chance.randint(1, 12)
        dropped += cents
        house.people.enters(table, username, SellChips(cents, as_shown=True))
    house.clock.passes(120)
    house.people.enters(table, username, ChangeChips(10_000, up=True, as_shown=True))
    kept = dropped * house.chance.randint(*HOLD_PER_CENT) // 100
    carried_away = (dropped - kept) // STEP_CENTS * STEP_CENTS
    counted = balance("rack", table) + dropped - carried_away
    house.people.counts(table, count, username, pieces(counted, values))


def _leveled(house: DemoSite, table: Table, username: str, values: tuple[int, ...]) -> None:
    """A fill brings the rack back to what it opened with."""
    lacks = (house.opened_with[NAME] - balance("rack", table)) // STEP_CENTS * STEP_CENTS
    if lacks > 0:
        house.people.carries(table, "fill", username, pieces(lacks, values))
