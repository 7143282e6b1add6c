"""The chips of the house: their series by pieces, where their value lies, what was found, and what was counterfeit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from django.contrib.auth.decorators import login_required, permission_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dealer_ui import exports
from dealer_ui.replica_pages import reads_replica
from ledger.proof.chips import CAGE, VAULT
from tables.cage import cage_desk, chip_series, chip_stock, slip_fields, slip_records
from tables.cage.chip_stock import Stock
from tables.cage.slip_records import SlipRecord
from tables.log.slip_types import SLIPS
from tables.models import ChipSeries, Denomination, Staff

_REGISTER: Final = tuple(name for name, series in SLIPS.items() if series.is_alarming and series.has_chips)
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


@login_required
@permission_required("tables.watch_chips", raise_exception=True)
@require_GET
def chips(request: HttpRequest) -> HttpResponse:
    """Series, kinds, where chips lie by value, and the registers of what was found and what was counterfeit."""
    assert isinstance(request.user, Staff)  # noqa: S101 -- the view is behind sign-in
    unseen = cage_desk.unseen_by(request.user)
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


_CHIPS_HEADER: Final = (
    "series", "manufacturer", "year", "redeemed_up_to", "value_cents", "received", "destroyed", "lapsed", "left",
)  # fmt: skip


@login_required
@permission_required("tables.watch_chips", raise_exception=True)
@reads_replica
@require_GET
def chips_csv(request: HttpRequest) -> HttpResponseBase:
    """Every series by pieces: a row for each kind."""
    return exports.answer(request, "chips", _CHIPS_HEADER, iter([_chips_rows()]))


def _chips_rows() -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for stocked in _made():
        series = stocked.series
        about = (series.name, series.manufacturer, series.year) if series else ("", "", "")
        for kind in stocked.kinds:
            pieces = (kind.received, kind.destroyed, kind.lapsed, kind.left)
            rows.append((*about, stocked.last_day, kind.value_cents, *pieces))
    return rows


_REGISTER_HEADER: Final = (
    "slip", "where_written", "place", "moment", "taken_from", "envelope", "value_cents", "pieces", "paid", "handed_to",
    "report", "signed_by",
)  # fmt: skip


@login_required
@permission_required("tables.watch_chips", raise_exception=True)
@reads_replica
@require_GET
def counterfeit_csv(request: HttpRequest) -> HttpResponseBase:
    """The register of counterfeit chips: a row for each kind on each slip."""
    return exports.answer(request, "counterfeit", _REGISTER_HEADER, _register_pages())


def _register_pages() -> Iterator[list[tuple[Any, ...]]]:
    before = None
    while page := slip_records.recent(_REGISTER, before):
        yield [row for _, sheet in page for row in _register_rows(sheet)]
        before = page[-1][0]


def _register_rows(sheet: SlipRecord) -> list[tuple[Any, ...]]:
    slip = sheet.slip
    taken = [slip.facts.get(name, "") for name in ("place", "moment", "taken_from", "envelope")]
    handed = [slip.facts.get(name, "") for name in ("paid", "handed_to", "report")]
    signed = "; ".join(line.by.name for line in sheet.lines if line.by)
    return [(slip.name, sheet.where, *taken, value, count, *handed, signed) for value, count in slip.chips]
