"""The staff of the demo by user name, and the slips that they sign."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from ledger import cage
from ledger.models import Account
from tables.cage import cage_desk
from tables.floor import recorder
from tables.floor.inputs import BeginSlip, Input, SignSlip
from tables.models import Staff, Table
from tables.state import table_state

Chips = tuple[tuple[int, int], ...]

FILL: Final = {"issued": "cara", "carried": "sam", "received": "", "confirmed": "boris"}
CREDIT: Final = {"issued": "", "confirmed": "boris", "carried": "sam", "received": "cara"}
"""The signatory of each step; empty for the table's dealer."""
NOTES: Final = (10_000, 5_000, 2_000, 1_000, 500, 100)


@dataclass(frozen=True)
class Box:
    """A drop box on its way to the count room."""

    table: Table
    slip: str
    cents: int


@dataclass
class People:
    """Everybody who works here."""

    chance: random.Random
    by_username: Mapping[str, Staff] = field(default_factory=lambda: {who.username: who for who in Staff.objects.all()})

    def __getitem__(self, username: str) -> Staff:
        return self.by_username[username]

    def key(self) -> UUID:
        """An idempotency key from the seeded generator, so that one seed always makes one history."""
        return UUID(int=self.chance.getrandbits(128), version=4)

    # --- at a table

    def enters(self, table: Table, username: str, entered: Input) -> None:
        recorder.record(table, entered, by=self[username], key=self.key(), expected_seq=None)

    def counts(self, table: Table, series: str, dealer: str, chips: Chips) -> None:
        """A rack is counted twice, and both find the same."""
        self.enters(table, dealer, BeginSlip(series, chips))
        self.enters(table, "bella", SignSlip(self.newest_slip(table), "recounted", chips))

    def carries(self, table: Table, series: str, dealer: str, chips: Chips) -> None:
        """A fill or a credit, signed by all who have to."""
        self.enters(table, "bella", BeginSlip(series, chips))
        slip = self.newest_slip(table)
        for stage, username in (FILL if series == "fill" else CREDIT).items():
            self.enters(table, username or dealer, SignSlip(slip, stage))

    def removes_box(self, table: Table, box: str) -> Box:
        """Take a drop box to the count room."""
        cents = balance("drop_box", table)
        self.enters(table, "sue", BeginSlip("drop", (), box))
        slip = self.newest_slip(table)
        self.enters(table, "sol", SignSlip(slip, "witnessed"))
        return Box(table, slip, cents)

    def counts_box(self, box: Box) -> None:
        cash = pieces(box.cents, NOTES)
        for stage, username in (("counted", "cole"), ("recounted", "cleo")):
            self.enters(box.table, username, SignSlip(box.slip, stage, cash))

    @staticmethod
    def newest_slip(table: Table) -> str:
        return table_state.of(table).slips[-1].name

    # --- in the cage

    def counts_cash(self, series: str, place: str) -> None:
        """The cage's cash or the vault's, counted twice as it is."""
        notes = pieces(balance(place), NOTES)
        slip = cage_desk.sign(BeginSlip(series, notes), by=self["cara"], key=self.key())
        cage_desk.sign(SignSlip(slip, "recounted", notes), by=self["carla"], key=self.key())


def balance(place: str, table: Table | None = None) -> int:
    """The balance of a place of the site or of a table, in cents."""
    accounts = Account.objects.filter(place=place, **({"book_id": table.book_id} if table else {}))
    return sum(cage.balance(account) for account in accounts)


def pieces(cents: int, values: tuple[int, ...]) -> Chips:
    """An amount in few pieces, the largest first, with something in each kind: no rack is all one colour."""
    rest, counts = cents, {}
    for value in sorted(values, reverse=True):
        share = rest if value == min(values) else rest * 6 // 10
        counts[value] = share // value
        rest -= counts[value] * value
    smallest = min(values)
    counts[smallest] += rest // smallest
    return tuple((value, count) for value, count in counts.items() if count)
