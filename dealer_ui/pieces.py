"""Chips by piece, for whoever may see them: what lies in a place, or lay there when the last day ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from ledger.proof.chips import CAGE, RACK, VAULT
from tables.day import hours, inventory
from tables.day.inventory import Stock
from tables.log.series import SLIPS
from tables.models import Denomination, Staff, Table


@dataclass(frozen=True, slots=True)
class Line:
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
    lines: Sequence[Line]
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


_COUNTED: Final = (RACK, CAGE, VAULT)


def counts_chips(viewer: Staff) -> bool:
    """Whether somebody may have to count a rack, the cage or the vault: then nothing tells them which chips are due."""
    papers = [record for record in SLIPS.values() if any(record.counts(place) for place in _COUNTED)]
    return any(viewer.role in stage.by for record in papers for stage in record.stages if stage.is_count)


def seen_at(viewer: Staff) -> datetime:
    """The moment of which somebody may see the pieces: now, or the end of the last day for whoever may count."""
    moment = timezone.now()
    return hours.span(hours.day_of(moment) - timedelta(days=1)).end if counts_chips(viewer) else moment


def in_rack(table: Table, viewer: Staff) -> Pieces:
    """What lies in a table's rack."""
    moment = seen_at(viewer)
    colours = {chip.value_cents: chip.colour for chip in table.denominations.all()}
    return _pieces(inventory.rack(table, moment), moment, colours, is_live=not counts_chips(viewer))


def in_the_house(viewer: Staff, unseen: Sequence[str]) -> list[Pieces]:
    """What lies in the vault and in the cage, but for those that are being counted."""
    moment = seen_at(viewer)
    colours = dict(Denomination.objects.values_list("value_cents", "colour"))
    stocks = [stock for stock in inventory.vault_and_cage(moment) if stock.name not in unseen]
    return [_pieces(stock, moment, colours, is_live=not counts_chips(viewer)) for stock in stocks]


def _pieces(stock: Stock, moment: datetime, colours: Mapping[int, str], *, is_live: bool) -> Pieces:
    holding = stock.holding
    whole = sum(value * max(count, 0) for value, count in holding.pieces.items()) or 1
    lines = [
        Line(
            value_cents=value,
            colour=colours.get(value, ""),
            pieces=count,
            is_certain=holding.is_certain_of(value),
            part=round(100 * value * max(count, 0) / whole, 2),
        )
        for value, count in holding.pieces.items()
    ]
    return Pieces(stock.name, lines, moment, is_live, holding.odd_cents)
