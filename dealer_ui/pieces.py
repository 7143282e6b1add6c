"""Chips of a place by piece, at present or at the end of the last gaming day, with blind counts in mind."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from tables.models import Denomination, Table
from tables.reports import gaming_hours, inventory
from tables.reports.inventory import Stock


@dataclass(frozen=True, slots=True)
class PieceCount:
    """One kind of chip in a place."""

    value_cents: int
    colour: str
    pieces: int
    is_certain: bool
    part: float
    """Of all that lies there, in per cent."""

    @property
    def count(self) -> str:
        """As it is read: 11,994."""
        return f"{self.pieces:,}"

    @property
    def cents(self) -> int:
        return self.pieces * self.value_cents


@dataclass(frozen=True, slots=True)
class Pieces:
    """The chips of one place, the largest worth first."""

    place: str
    lines: Sequence[PieceCount]
    moment: datetime
    is_live: bool
    odd_cents: int
    """What no chip of the house makes."""

    @property
    def is_certain(self) -> bool:
        """Whether counts and papers say all of it."""
        return all(line.is_certain for line in self.lines)

    @property
    def total_cents(self) -> int:
        return sum(line.cents for line in self.lines) + self.odd_cents


def in_rack(table: Table, *, is_live: bool) -> Pieces:
    """What lies in a table's rack, or lay there when the last day ended."""
    moment = _moment(is_live=is_live)
    colours = {chip.value_cents: chip.colour for chip in table.denominations.all()}
    return _pieces(inventory.rack(table, moment), moment, colours, is_live=is_live)


def in_the_house(unseen: Collection[str], *, is_live: bool) -> list[Pieces]:
    """The chips in vault and cage, at present or at the end of the last gaming day, without the ``unseen`` places."""
    moment = _moment(is_live=is_live)
    colours = dict(Denomination.objects.values_list("value_cents", "colour"))
    stocks = [stock for stock in inventory.vault_and_cage(moment) if stock.name not in unseen]
    return [_pieces(stock, moment, colours, is_live=is_live) for stock in stocks]


def _moment(*, is_live: bool) -> datetime:
    moment = timezone.now()
    return moment if is_live else gaming_hours.span(gaming_hours.day_of(moment) - timedelta(days=1)).end


def _pieces(stock: Stock, moment: datetime, colours: Mapping[int, str], *, is_live: bool) -> Pieces:
    holding = stock.holding
    whole = sum(value * max(count, 0) for value, count in holding.pieces.items()) or 1
    lines = [
        PieceCount(
            value_cents=value,
            colour=colours.get(value, ""),
            pieces=count,
            is_certain=holding.is_certain_of(value),
            part=round(100 * value * max(count, 0) / whole, 2),
        )
        for value, count in holding.pieces.items()
    ]
    return Pieces(stock.name, lines, moment, is_live, holding.odd_cents)
