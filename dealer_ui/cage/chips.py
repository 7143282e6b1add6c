"""The chips of the house: their series by pieces, where their value lies, what was found, and what was counterfeit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dealer_ui.guards import viewer_of
from ledger.proof.chips import CAGE, VAULT
from tables.cage import cage_desk, chip_series, chip_stock, slip_fields, slip_records
from tables.cage.chip_stock import Stock
from tables.cage.slip_records import SlipRecord
from tables.log.slip_types import SLIPS
from tables.models import ChipSeries, Denomination, Staff
from tables.reports.report import Column, Report, single_page

_REGISTER: Final = tuple(name for name, series in SLIPS.items() if series.raises_alert and series.has_chips)
_GIVEN_BACK: Final = tuple(series for series in SLIPS.values() if series.about)


@dataclass(frozen=True, slots=True)
class SeriesPieces:
    """One kind of chip in a series, by pieces."""

    value_cents: int
    received: int
    destroyed: int
    lapsed: int

    @property
    def left(self) -> int:
        """How many there are, in the house or out."""
        return self.received - self.destroyed - self.lapsed

    @property
    def left_cents(self) -> int:
        return self.left * self.value_cents


@dataclass(frozen=True, slots=True)
class Made:
    """A series with its kinds."""

    series: ChipSeries | None
    """None: chips of no series."""
    last_day: date | None
    kinds: tuple[SeriesPieces, ...]

    @property
    def left_cents(self) -> int:
        return sum(kind.left_cents for kind in self.kinds)


@require_GET
def chips(request: HttpRequest) -> HttpResponse:
    """Series, kinds, where chips lie by value, and the registers of what was found and what was counterfeit."""
    unseen = cage_desk.unseen_by(viewer_of(request))
    held = cage_desk.holdings()
    context = {
        "made": _made(),
        "kinds": Denomination.objects.all(),
        "places": [
            ("Vault", None if VAULT in unseen else held.vault),
            ("Cage", None if CAGE in unseen else held.cage),
            ("Racks and play", held.tables - held.on_the_way),
            ("On the way", held.on_the_way),
            ("Out with players", held.outstanding),
        ],
        "waiting": [row for series in _GIVEN_BACK for row in slip_fields.left_of(series)],
        "register": [sheet for _, sheet in slip_records.recent(_REGISTER)],
    }
    return render(request, "dealer_ui/cage/chips.html", context)


def _made() -> list[Made]:
    stocks = chip_stock.of_all()
    series = [
        Made(row, chip_series.last_day_of(row), _kinds(stocks.get(row.name, Stock()), row.values))
        for row in chip_series.all_of_them()
    ]
    if "" in stocks:
        series.append(Made(None, None, _kinds(stocks[""], sorted(stocks[""].destroyed, reverse=True))))
    return series


def _kinds(pieces: Stock, values: list[int]) -> tuple[SeriesPieces, ...]:
    return tuple(
        SeriesPieces(value, pieces.received[value], pieces.destroyed[value], pieces.lapsed[value]) for value in values
    )


class SeriesKind(NamedTuple):
    """One kind of chip in a series, with the series."""

    made: Made
    kind: SeriesPieces

    def about(self, name: str) -> Any:
        """A fact of the series; nothing for chips of no series."""
        return getattr(self.made.series, name, "")


CHIPS: Final = Report[Staff, SeriesKind](
    name="chips",
    permission=("tables.watch_chips",),
    columns=(
        Column("series", lambda row: row.about("name")), Column("manufacturer", lambda row: row.about("manufacturer")),
        Column("year", lambda row: row.about("year")), Column("redeemed_up_to", "made.last_day"),
        Column("value_cents", "kind.value_cents"), Column("received", "kind.received"),
        Column("destroyed", "kind.destroyed"), Column("lapsed", "kind.lapsed"), Column("left", "kind.left"),
    ),
    pages=lambda _: single_page(SeriesKind(made, kind) for made in _made() for kind in made.kinds),
)  # fmt: skip


class CounterfeitChips(NamedTuple):
    """Counterfeit chips of one kind on a slip."""

    sheet: SlipRecord
    value_cents: int
    pieces: int

    def fact(self, name: str) -> str:
        """A fact of the slip."""
        return self.sheet.slip.facts.get(name, "")

    @property
    def signed_by(self) -> str:
        return "; ".join(line.by.name for line in self.sheet.lines if line.by)


def _fact(name: str) -> Column[CounterfeitChips]:
    return Column(name, lambda row: row.fact(name))


COUNTERFEIT: Final = Report[Staff, CounterfeitChips](
    name="counterfeit",
    permission=("tables.watch_chips",),
    columns=(
        Column("slip", "sheet.slip.name"), Column("where_written", "sheet.where"),
        *map(_fact, ("place", "moment", "taken_from", "envelope")),
        Column("value_cents"), Column("pieces"), *map(_fact, ("paid", "handed_to", "report")), Column("signed_by"),
    ),
    pages=lambda _: (
        [CounterfeitChips(sheet, *chips) for sheet in page for chips in sheet.slip.chips]
        for page in slip_records.pages(_REGISTER)
    ),
)  # fmt: skip
