"""Shoes that were audited after the fact: which seats' bets followed the edge. For auditors; every look is logged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from dealer_ui import dates, exports
from dealer_ui.charts import shoes as shoe_plots
from dealer_ui.guards import permitted, viewer_of
from dealer_ui.replica_pages import reads_replica
from ledger import replica
from tables.edge import shoe_audit
from tables.edge.shoe_audit import SCALE, NotFinished, ShoeAudit
from tables.games.cards import PAIRS, Pack, pack_of
from tables.maths.advantage.significance import LEVEL, together
from tables.models import Table
from tables.reports import gaming_hours
from tables.reports.report import Column, Report, single_page

MOST: Final = 500
"""The most shoes on one page."""


# --- The list --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tested:
    """A seat's bets on a wager, with their probability for a player who does not bet by the cards."""

    seat: int
    rounds: int
    staked_cents: int
    chance: float | None
    correlation: float | None = None
    wager: str = ""
    """In words; nothing where a seat has one bet."""

    @property
    def flagged(self) -> bool:
        """Whether the bets are improbable enough for a review."""
        return self.chance is not None and self.chance <= LEVEL


@dataclass(frozen=True, slots=True)
class ShoeRow:
    """A finished shoe in the list, with one audit for each wager."""

    audits: tuple[ShoeAudit, ...]

    @property
    def audit(self) -> ShoeAudit:
        """Any of them, for what they have in common."""
        return self.audits[0]

    @property
    def seats(self) -> list[Tested]:
        """Those that bet, wager by wager."""
        return [_tested(audit, seat) for audit in self.audits for seat in audit.seats]

    @property
    def staked_cents(self) -> int:
        """What was bet before the cards."""
        return sum(audit.staked_cents for audit in self.audits)

    @property
    def worth_cents(self) -> int:
        """What the house wins of these bets on average."""
        return round(sum(audit.worth for audit in self.audits) / SCALE)


@dataclass(frozen=True, slots=True)
class Evening:
    """A seat's bets on a wager over the shoes of a day."""

    table: str
    shoes: int
    tested: Tested


def _tested(audit: ShoeAudit, seat: dict[str, Any]) -> Tested:
    correlation = seat["correlation"] / SCALE if "of" in seat else None
    chance = shoe_audit.chance_of(seat)
    return Tested(
        seat["seat"], seat["rounds"], seat["staked_cents"], chance, correlation, wager=shoe_audit.title_of(audit)
    )


def _lines(audits: Iterable[ShoeAudit]) -> list[ShoeRow]:
    """The wagers of each shoe together."""
    shoes: dict[tuple[int, int], list[ShoeAudit]] = {}
    for audit in audits:
        shoes.setdefault((audit.book_id, audit.begun_seq), []).append(audit)
    return [ShoeRow(tuple(wagers)) for wagers in shoes.values()]


@reads_replica
@require_GET
def shoes(request: HttpRequest) -> HttpResponse:
    """The finished shoes of a gaming day, and each seat over all of them."""
    on = dates.gaming_day(request)
    with replica.on_primary():
        shoe_audit.listed(viewer_of(request), on)
    audits = _of_day(on)
    lines = _lines(audits)
    seats = [seat for audit in audits for seat in audit.seats if "of" in seat]
    context = {
        **dates.with_neighbours(on, gaming_hours.day_of(timezone.now())),
        "lines": lines[:MOST],
        "more": len(lines[MOST:]),
        "tests": len(seats),
        "flagged": sum(map(shoe_audit.flagged, seats)),
        "by_chance": round(len(seats) * LEVEL, 1),
        "evenings": _evenings(audits),
    }
    return render(request, "dealer_ui/pit/shoes.html", context)


def _of_day(on: date) -> list[ShoeAudit]:
    """The shoes that ended on a day, the newest first, wager by wager."""
    start, end = gaming_hours.span(on)
    audits = ShoeAudit.objects.filter(ended_at__gte=start, ended_at__lt=end, staked_cents__gt=0)
    return list(audits.select_related("book__table").defer("rounds").order_by("-ended_at", "-book_id", "pk"))


def _evenings(audits: Sequence[ShoeAudit]) -> list[Evening]:
    """Each seat and wager over the shoes of a day, the least likely first."""
    by_seat: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
    for audit in audits:
        for seat in audit.seats:
            key = (audit.table.name, seat["seat"], shoe_audit.title_of(audit))
            by_seat.setdefault(key, []).append(seat)
    evenings = [_evening(*key, shoes) for key, shoes in by_seat.items()]
    return sorted(
        evenings, key=lambda evening: (2 if evening.tested.chance is None else evening.tested.chance, evening.table)
    )


def _evening(name: str, seat: int, wager: str, shoes: Sequence[dict[str, Any]]) -> Evening:
    chance = together([(shoe["as_much"], shoe["of"]) for shoe in shoes if "of" in shoe])
    rounds, staked = sum(shoe["rounds"] for shoe in shoes), sum(shoe["staked_cents"] for shoe in shoes)
    return Evening(name, len(shoes), Tested(seat, rounds, staked, chance, wager=wager))


def read_shoes(request: HttpRequest) -> date:
    """The day that is asked for. The log records that the viewer takes out its list."""
    on = dates.gaming_day(request)
    with replica.on_primary():
        shoe_audit.listed(viewer_of(request), on)
    return on


class SeatOfShoe(NamedTuple):
    """A seat of a finished shoe."""

    audit: ShoeAudit
    seat: Tested


SHOES: Final = Report[date, SeatOfShoe](
    name=lambda on: f"shoes-{on}",
    permission=("tables.watch_shoes",),
    columns=(
        Column("table", "audit.table.name"), Column("shoe", "audit.shoe"), Column("begun_seq", "audit.begun_seq"),
        Column("begun_at", "audit.begun_at"), Column("ended_at", "audit.ended_at"), Column("seat", "seat.seat"),
        Column("rounds", "seat.rounds"), Column("staked_cents", "seat.staked_cents"),
        Column("correlation", "seat.correlation"), Column("chance_of_as_much", "seat.chance"),
        Column("flagged", "seat.flagged"), Column("wager", "audit.wager"),
    ),
    pages=lambda on: single_page(
        SeatOfShoe(audit, _tested(audit, seat)) for audit in _of_day(on) for seat in audit.seats
    ),
)  # fmt: skip
"""The finished shoes of a gaming day: a row for each seat of each shoe."""


# --- One shoe --------------------------------------------------------------------------------------------------


def _asked(request: HttpRequest, pk: int, seq: int, *, as_copy: bool = False) -> ShoeRow | HttpResponse:
    """The audit of a shoe, once it is in the log who looks; or the sentence that says why there is none yet."""
    table = get_object_or_404(Table, pk=pk)
    try:
        wagers = shoe_audit.of(table, seq)
    except NotFinished as refused:
        return render(request, "dealer_ui/pit/shoe_live.html", {"says": str(refused), "table": table}, status=409)
    if not wagers:
        raise Http404("No shoe was shuffled with that entry.")
    with replica.on_primary():
        shoe_audit.viewed(viewer_of(request), wagers[0], as_copy=as_copy)
    return ShoeRow(tuple(wagers))


@permitted("tables.watch_shoes")
@reads_replica
@require_GET
def shoe(request: HttpRequest, pk: int, seq: int) -> HttpResponse:
    """One shoe: the edge of a wager before each round, and what each seat bet on it."""
    line = _asked(request, pk, seq)
    if isinstance(line, HttpResponse):
        return line
    audit = next((audit for audit in line.audits if audit.wager == request.GET.get("wager")), line.audit)
    numbers = [seat["seat"] for seat in audit.seats]
    context = {
        "line": line,
        "audit": audit,
        "wager": shoe_audit.title_of(audit),
        "wagers": [(other.wager, shoe_audit.title_of(other)) for other in line.audits if len(line.audits) > 1],
        "table": audit.table,
        "chart": shoe_plots.edges(audit.rounds),
        "rows": [_round(row, numbers) for row in audit.rounds],
        "numbers": numbers,
    }
    return render(request, "dealer_ui/pit/shoe.html", context)


def _round(row: dict[str, Any], numbers: Sequence[int]) -> dict[str, Any]:
    bets = {seat: bet for seat, bet, _ in row["bets"]}
    return {
        "round": row["round"],
        "unseen": row["unseen"],
        "edge": row["edge"] / SCALE * 100,
        "deviation": (row["variance"] / SCALE) ** 0.5,
        "net_cents": -sum(net for _, _, net in row["bets"]),
        "bets": [bets.get(number, 0) for number in numbers],
    }


def _header(pack: Pack) -> tuple[str, ...]:
    """The column names of the CSV file, with an ``unseen_`` column for each card of the pack."""
    return (
        "round", "entry", "unseen", *(f"unseen_{sign}" for sign in pack.spellings), "edge_e15", "variance_e15", "seat",
        "bet_cents", "net_cents", "worth_e15_cents", "wager",
    )  # fmt: skip


@permitted("tables.watch_shoes")
@reads_replica
@require_GET
def shoe_csv(request: HttpRequest, pk: int, seq: int) -> HttpResponseBase:
    """Export a shoe audit as CSV: a row for each bet, with the number of unseen cards before the round."""
    line = _asked(request, pk, seq, as_copy=True)
    if isinstance(line, HttpResponse):
        return line
    packs = [pack_of(row["gone"]) for audit in line.audits for row in audit.rounds[:1]] or [PAIRS]
    rows = (row for audit in line.audits for row in _rows(audit, packs[0]))
    return exports.answer(request, f"shoe-{pk}-{seq}", _header(packs[0]), iter([rows]))


def _rows(audit: ShoeAudit, pack: Pack) -> Iterator[tuple[Any, ...]]:
    for row in audit.rounds:
        unseen = [full - out for full, out in zip(pack.shoes[row["decks"]], row["gone"], strict=True)]
        for seat, bet, net in row["bets"]:
            yield (
                row["round"], row["seq"], row["unseen"], *unseen, str(row["edge"]), str(row["variance"]), seat, bet,
                net, str(row["edge"] * bet), audit.wager,
            )  # fmt: skip
