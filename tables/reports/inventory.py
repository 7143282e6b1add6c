"""Inventory and liability by denomination: which chips lie where at a moment, and which are out with players.

What is out is what was ever received, less what was destroyed, less what the house holds: so it is known for each kind
of chip as exactly as vault, cage and racks are. Louisiana and New York ask for this list every day, Ohio, Kansas,
Michigan and West Virginia every month; here it is there for every gaming day.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from django.utils import timezone

from ledger import cage, clock_corrections
from ledger.models import Account, Book
from ledger.proof.chips import CAGE, LAYOUT, OVER_SHORT, PLAYERS, POT, SEAT, VAULT, Denomination
from tables import models
from tables.log.pieces import NOTHING, Holding
from tables.reports import cash, gaming_hours, piece_records

OUTSIDE: Final = (PLAYERS, LAYOUT, SEAT, POT, OVER_SHORT)
"""Where the ledger has the chips that lie in none of the house's stocks; what a count missed is out as well."""


_SHARED: Final = (("Vault", VAULT), ("Cage", CAGE))
BEFORE_RACKS: Final = 3
"""The stocks of an inventory begin with the vault, the cage and what is on the way; the racks follow."""


@dataclass(frozen=True, slots=True)
class Stock:
    """The chips of one place."""

    name: str
    holding: Holding

    @property
    def total_cents(self) -> int:
        return self.holding.total_cents


@dataclass(frozen=True, slots=True)
class DenominationRow:
    """One kind of chip, over all places."""

    value_cents: int
    colour: str
    issued: int
    stocks: tuple[int, ...]
    """Pieces in each of the inventory's stocks, in its order."""
    out: int
    is_certain: bool

    @property
    def elsewhere(self) -> tuple[int, ...]:
        """Pieces in each stock that is no rack."""
        return self.stocks[:BEFORE_RACKS]

    @property
    def in_racks(self) -> tuple[int, ...]:
        """Pieces in each rack."""
        return self.stocks[BEFORE_RACKS:]

    @property
    def racks(self) -> int:
        return sum(self.in_racks)

    @property
    def out_cents(self) -> int:
        """What the house may be asked to redeem of this kind."""
        return self.out * self.value_cents


@dataclass(frozen=True, slots=True)
class Inventory:
    """Every chip of the house at a moment."""

    moment: datetime
    issued: Holding
    stocks: tuple[Stock, ...]
    outside: Mapping[str, int]
    """Of what is out, in cents, what the ledger has in each place outside of the house's stocks."""
    colours: Mapping[int, str]

    @property
    def elsewhere(self) -> tuple[Stock, ...]:
        """The stocks that are no racks."""
        return self.stocks[:BEFORE_RACKS]

    @property
    def racks(self) -> tuple[Stock, ...]:
        return self.stocks[BEFORE_RACKS:]

    @property
    def racks_cents(self) -> int:
        return sum(rack.total_cents for rack in self.racks)

    @property
    def out(self) -> Holding:
        """What is with players, on layouts, or missing from counts."""
        return sum((-stock.holding for stock in self.stocks), self.issued)

    @property
    def out_cents(self) -> int:
        """The liability: what all of it is worth."""
        return self.out.total_cents

    @property
    def agrees(self) -> bool:
        """Whether the pieces come to what the ledger has outside of the stocks."""
        return self.out_cents == sum(self.outside.values())

    @property
    def lines(self) -> tuple[DenominationRow, ...]:
        """One for each kind of chip, the largest worth first."""
        issued, pieces = self.issued.pieces, [stock.holding.pieces for stock in self.stocks]
        values = sorted({*self.colours, *issued, *(value for counts in pieces for value in counts)}, reverse=True)
        return tuple(self._line(value, issued, pieces) for value in values)

    def _line(self, value: int, issued: Mapping[int, int], pieces: Sequence[Mapping[int, int]]) -> DenominationRow:
        stocks = tuple(counts.get(value, 0) for counts in pieces)
        return DenominationRow(
            value,
            self.colours.get(value, ""),
            issued.get(value, 0),
            stocks,
            out=issued.get(value, 0) - sum(stocks),
            is_certain=all(holding.is_certain_of(value) for holding in self._holdings),
        )

    @property
    def _holdings(self) -> list[Holding]:
        return [self.issued, *(stock.holding for stock in self.stocks)]

    @property
    def odd_cents(self) -> int:
        """What no chip of the house makes, in all of it."""
        return sum(abs(holding.odd_cents) for holding in self._holdings)


def on(day: date) -> Inventory:
    """At the end of a gaming day; of today, as it is now."""
    return at_moment(min(gaming_hours.span(day).end, timezone.now()))


def at_moment(moment: datetime) -> Inventory:
    """Every chip as it lay then."""
    heads = _heads(moment)
    tables = list(models.Table.objects.order_by("name").prefetch_related("denominations"))
    books = {table.book_id: heads.get(table.book_id, 0) for table in tables}
    every = kinds_of(models.Denomination.objects.all())
    racks = piece_records.racks(books, {table.book_id: kinds_of(table.denominations.all()) for table in tables})
    on_the_way = sum(piece_records.on_the_way(books).values(), NOTHING)
    stocks = [
        *(Stock(name, piece_records.shared(place, heads, every)) for name, place in _SHARED),
        Stock("On the way", on_the_way),
        *(Stock(table.name, racks[table.book_id]) for table in tables),
    ]
    colours = dict(models.Denomination.objects.values_list("value_cents", "colour"))
    return Inventory(moment, piece_records.issued(heads, every), tuple(stocks), _outside(heads), colours)


def rack(table: models.Table, moment: datetime) -> Stock:
    """The chips of one table's rack, as they lay then."""
    book = table.book_id
    heads = {book: _heads(moment).get(book, 0)}
    return Stock(table.name, piece_records.racks(heads, {book: kinds_of(table.denominations.all())})[book])


def vault_and_cage(moment: datetime) -> list[Stock]:
    """The chips of the house's two own stocks, as they lay then."""
    heads, every = _heads(moment), kinds_of(models.Denomination.objects.all())
    return [Stock(name, piece_records.shared(place, heads, every)) for name, place in _SHARED]


def last_counts(day: date) -> list[tuple[str, datetime | None]]:
    """When two people last agreed on what lies in the vault and in the cage, up to the end of a gaming day."""
    end = min(gaming_hours.span(day).end, timezone.now())
    counts = [(name, cash.last_count(place, end)) for name, place in _SHARED]
    return [(name, count.moment if count else None) for name, count in counts]


def kinds_of(chips: Iterable[models.Denomination]) -> tuple[Denomination, ...]:
    """Kinds of chips as the pure rooms know them."""
    return tuple(Denomination(chip.value_cents, chip.colour) for chip in chips)


def _outside(heads: Mapping[int, int]) -> dict[str, int]:
    """What the ledger has in each place outside of the stocks."""
    sums = dict.fromkeys(OUTSIDE, 0)
    net = cage.net_effect_at(heads)
    for account, place in Account.objects.filter(place__in=OUTSIDE).values_list("pk", "place"):
        sums[place] += net.get(account, 0)
    return sums


def _heads(moment: datetime) -> dict[int, int]:
    """How far each book had come by a moment."""
    heads = dict(Book.objects.values_list("pk", "head_seq"))
    return clock_corrections.last_before_each(heads, dict.fromkeys(heads, moment))
