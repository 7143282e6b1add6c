"""What tables won: opener, closer, fills, credits, drop, win, hold and handle, of any span of time, from the log alone.

A table's stretch from opening to closing is a *run*; where a span cuts a run, the ledger's rack at that moment stands
for the count. So win is the sum over runs of closer + credits + drop - opener - fills, and figures of spans that join
add up. Money is whole cents, ratios are fractions. ``reading.py`` reads what they are made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from functools import partial
from itertools import groupby, pairwise
from typing import Any, Final

from django.utils import timezone

from ledger.proof.chain import Head
from tables.edge import cached_sheets, rounding
from tables.edge.cached_sheets import Worths
from tables.edge.worth import NOTHING
from tables.games.catalog import GAMES
from tables.log.game_kinds import kind_of
from tables.log.terms import game_title, usual_hold_of
from tables.models import Table
from tables.reports import cached_sums, figure_records, gaming_hours
from tables.reports.figure_records import BookSpan

COUNTED, LEDGER, EXPECTED = "counted", "ledger", "expected"
"""How a number was had: people counted; the ledger's rack at that moment; the cash dropped, its box not counted yet."""
EXACT, MIXED, FULL_SHOE, AWAITED = "exact", "partly exact", "full shoe", "being computed"


@dataclass(frozen=True, slots=True)
class Figures:
    """What one table, or several together, did in a span."""

    name: str
    game: str = ""
    opener_cents: int = 0
    opener_is: str = COUNTED
    closer_cents: int = 0
    closer_is: str = COUNTED
    between_cents: int = 0
    """What a rack gained while the table was closed within the span: fills and counts between two runs."""
    fills_cents: int = 0
    credits_cents: int = 0
    cash_cents: int = 0
    """What was dropped by the transfers."""
    box_variance_cents: int = 0
    """What the span's boxes were counted more (or less) than that."""
    drop_is: str = COUNTED
    corrections_cents: int = 0
    """Corrections of this span's rounds made elsewhere, less those made in it for rounds of another."""
    handle_cents: int = 0
    rounds: int = 0
    open_seconds: int = 0
    theoretical: Fraction | None = None
    """What the house wins of this handle on average, in cents; None where no exact edge is known."""
    rounding: Fraction = Fraction(0)
    """What the casino gains from this handle by rounding on average, in cents, if all bets between the limits are
    equally likely; below zero if the players gain. The theoretical win, which is by exact odds, does not include it."""
    audited_cents: int = 0
    """The part of the handle of which it is exact round by round; the rest counts by the edge of a full shoe."""
    pending: bool = False
    """Whether a worker is still to compute what the bets are worth."""
    by_count: bool = False
    """Whether the table is non-tracked: no bets or rounds are entered, so handle, rounds and pace are unknown."""
    usual_hold: str = ""
    """The hold that the house calls usual there, in words."""

    @property
    def drop_cents(self) -> int:
        """Cash in the boxes: as counted, as far as it was counted."""
        return self.cash_cents + self.box_variance_cents

    @property
    def win_cents(self) -> int:
        """What the house won: what is in the rack and the boxes and what went to the cage, less what was there before
        and what came from the cage."""
        gains = self.closer_cents + self.credits_cents + self.drop_cents
        return gains - self.opener_cents - self.fills_cents - self.between_cents + self.corrections_cents

    @property
    def hold(self) -> Fraction | None:
        """Win as a part of the drop; None without a drop."""
        return Fraction(self.win_cents, self.drop_cents) if self.drop_cents else None

    @property
    def hold_permille(self) -> int | None:
        """The hold in thousandths, rounded for print."""
        return None if self.hold is None else round(self.hold * 1000)

    @property
    def theoretical_cents(self) -> int | None:
        """The theoretical win, rounded for print."""
        return None if self.theoretical is None else round(self.theoretical)

    @property
    def rounding_cents(self) -> int:
        """The average gain by rounding, rounded for print."""
        return round(self.rounding)

    @property
    def theoretical_is(self) -> str:
        """How it was had: round by round, by the edge of a full shoe, or some of it so and some so; or that it is to
        come."""
        if self.theoretical is None or not self.handle_cents:
            return AWAITED if self.pending and self.handle_cents else ""
        return EXACT if self.audited_cents == self.handle_cents else MIXED if self.audited_cents else FULL_SHOE

    @property
    def rounds_per_hour(self) -> Fraction | None:
        """Rounds in an hour that the table was open; None where it was not."""
        return Fraction(self.rounds * 3600, self.open_seconds) if self.open_seconds else None

    @property
    def was_open(self) -> bool:
        """Whether the table was open in the span, or chips or cash moved there: any of its sums is not 0."""
        return any(getattr(self, column) for column in _SUM_COLUMNS)

    def row(self) -> dict[str, Any]:
        """One line of a list, as a CSV file and the log's entry of a closed day have it."""
        return {name: getattr(self, name) for name in COLUMNS}

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Figures:
        """Figures from a line written by ``row``, with the whole drop as cash. The theoretical win there is rounded: if
        all bets have one edge, the handle gives a more exact one, except for audited shoes."""
        theoretical = row["theoretical_cents"]
        return cls(
            **{name: row[name] for name in _ROW_COLUMNS if name in row},
            cash_cents=row["drop_cents"],
            theoretical=None if theoretical is None else Fraction(theoretical),
        )


COLUMNS: Final = (
    "name", "game", "opener_cents", "opener_is", "fills_cents", "credits_cents", "between_cents", "closer_cents",
    "closer_is", "drop_cents", "drop_is", "corrections_cents", "win_cents", "hold_permille", "handle_cents",
    "theoretical_cents", "audited_cents", "rounds", "open_seconds",
)  # fmt: skip

_SUM_COLUMNS: Final = (
    "opener_cents", "closer_cents", "between_cents", "fills_cents", "credits_cents", "cash_cents",
    "box_variance_cents", "corrections_cents", "handle_cents", "audited_cents", "rounds",
    "open_seconds",
)  # fmt: skip

_ROW_COLUMNS: Final = (
    "name", "game", "opener_is", "closer_is", "drop_is", *(name for name in COLUMNS if name in _SUM_COLUMNS),
)  # fmt: skip
"""What a row of a closed day gives back to ``Figures.read``; the rest follows from it."""


@dataclass(frozen=True, slots=True)
class Late:
    """Something entered for a span after it: a box counted, or a correction of one of its rounds.

    The log has it field by field (``DayClosed.adjusts``), so the fields keep their names."""

    table: str
    seq: int
    at: datetime
    what: str
    cents: int
    belongs_at: datetime
    """The moment to which it belongs: of the round, or when the box was taken away."""
    is_box: bool


@dataclass(frozen=True, slots=True)
class SpanFigures:
    """The figures of all tables, or of a few, in one span of time."""

    start: datetime
    end: datetime
    lines: tuple[Figures, ...]
    through: Mapping[str, int] = field(default_factory=dict)
    """Up to which entry each table's book was read, for what came after the span."""
    entries: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The entries of each table in the span: after the first number, up to the second."""

    @property
    def games(self) -> tuple[Figures, ...]:
        """One line for each game, of all its tables."""
        lines = sorted(self.lines, key=lambda line: line.game)
        return tuple(together(game, group) for game, group in groupby(lines, key=lambda line: line.game))

    @property
    def pit(self) -> Figures:
        """One line for all tables."""
        return together("All tables", self.lines)


def together(name: str, lines: Iterable[Figures]) -> Figures:
    """Several tables as one line; of the ways in which a number was had, the weakest."""
    tables = list(lines)
    sums = {column: sum(getattr(line, column) for line in tables) for column in _SUM_COLUMNS}
    theoreticals = [line.theoretical for line in tables if line.theoretical is not None]
    return Figures(
        name=name,
        game=tables[0].game if tables and len({line.game for line in tables}) == 1 else "",
        opener_is=_weakest(line.opener_is for line in tables),
        closer_is=_weakest(line.closer_is for line in tables),
        drop_is=_weakest(line.drop_is for line in tables),
        theoretical=sum(theoreticals, Fraction(0)) if tables and len(theoreticals) == len(tables) else None,
        rounding=sum((line.rounding for line in tables), Fraction(0)),
        pending=any(line.pending for line in tables),
        by_count=bool(tables) and all(line.by_count for line in tables),
        usual_hold=tables[0].usual_hold if len({line.usual_hold for line in tables}) == 1 else "",
        **sums,
    )


def joined(table: Table, parts: Iterable[Figures]) -> Figures:
    """One table's figures of spans that join, in order, as one."""
    spans = [part for part in parts if part.was_open]
    total = replace(together(table.name, spans), **_of_game(table))
    if not spans:
        return total
    first, last, edge = spans[0], spans[-1], edge_of(table)
    # What a rack gained between two spans in which the table was open is in neither of them.
    gaps = sum(after.opener_cents - before.closer_cents for before, after in pairwise(spans))
    return replace(
        total,
        opener_cents=first.opener_cents,
        opener_is=first.opener_is,
        closer_cents=last.closer_cents,
        closer_is=last.closer_is,
        between_cents=total.between_cents + gaps,
        theoretical=_theoretical_of(spans, edge),
    )


def _of_game(table: Table) -> dict[str, Any]:
    """What a table's game says of its figures."""
    is_by_count = kind_of(GAMES[table.game]).is_by_count
    return {"game": game_title(table), "by_count": is_by_count, "usual_hold": usual_hold_of(table)}


def _theoretical_of(spans: Sequence[Figures], edge: Fraction | None) -> Fraction | None:
    """Of spans that join: by the edge that all bets have in common, or as each span has it."""
    if edge is not None:
        return sum((_theoretical(part, edge) for part in spans), Fraction(0))
    worths = [part.theoretical for part in spans if part.theoretical is not None]
    return sum(worths, Fraction(0)) if len(worths) == len(spans) else None


def _theoretical(part: Figures, edge: Fraction) -> Fraction:
    return part.theoretical if part.audited_cents and part.theoretical is not None else edge * part.handle_cents


def _weakest(ways: Iterable[str]) -> str:
    return next((way for way in ways if way != COUNTED), COUNTED)


def edge_of(table: Table) -> Fraction | None:
    """What the house wins of a bet on average, as a part of it, to nine digits; None where it is not known exactly, or
    a seat has several wagers."""
    return _only_edge(table, cached_sheets.of_table(table))


def _only_edge(table: Table, worths: Worths) -> Fraction | None:
    return None if GAMES[table.game].spots else _edge(worths, None)


def _edge(worths: Worths, wager: str | None) -> Fraction | None:
    edge = worths.edge(wager)
    return None if edge is None else Fraction(round(edge * 10**9), 10**9)


def _expected(table: Table, worths: Worths, span: BookSpan, handle_cents: int) -> Fraction | None:
    """The casino's expected win from the bets of a span, in cents. If a seat has several wagers, each counts by its own
    edge per first stake, which includes later raises. None if it is unknown for some of these stakes."""
    edge = _only_edge(table, worths)
    if edge is not None and not span.stakes:
        return span.worth.cents + edge * (handle_cents - span.worth.staked_cents)
    edges = {wager: _edge(worths, wager) for wager in span.stakes}
    stakes = _first_stakes(table, span)
    valued = [*stakes, *(wager for wager, edge in edges.items() if wager not in stakes and edge is not None)]
    expected = [_expected_of(span, wager, edges[wager]) for wager in valued]
    worths_cents = [cents for cents in expected if cents is not None]
    return sum(worths_cents, Fraction(0)) if worths_cents and len(worths_cents) == len(expected) else None


def _first_stakes(table: Table, span: BookSpan) -> dict[str, int]:
    """What was staked on each wager before the cards."""
    game = GAMES[table.game]
    return {wager: cents for wager, cents in span.stakes.items() if wager in {*game.spots} - game.further}


def _expected_of(span: BookSpan, wager: str, edge: Fraction | None) -> Fraction | None:
    """Of one wager: by the edge of the rounds dealt in audited shoes, else by a full shoe's, where that is known."""
    audited = span.worth.wagers.get(wager, NOTHING)
    rest_cents = span.stakes[wager] - audited.staked_cents
    if edge is None:
        return None if rest_cents else audited.cents
    return audited.cents + edge * rest_cents


def _rounding(table: Table, worths: Worths, span: BookSpan) -> Fraction:
    """What the casino gains by rounding from a span's first stakes on average."""
    costs = rounding.costs(table, worths)
    return sum((Fraction(cost.over_all) * span.stakes.get(wager, 0) for wager, cost in costs.items()), Fraction(0))


def _audited_cents(table: Table, span: BookSpan, handle_cents: int) -> int:
    """The bets whose edge is that of the rounds dealt; with all of them all that was raised on them, too."""
    stakes = _first_stakes(table, span)
    if stakes and all(span.worth.wagers.get(name, NOTHING).staked_cents == cents for name, cents in stakes.items()):
        return handle_cents
    return span.worth.staked_cents


# --- Reports ---------------------------------------------------------------------------------------------------


def day(gaming_day: date, tables: Sequence[Table] | None = None) -> SpanFigures:
    """The report of a gaming day, of all tables or of a few."""
    return between(*gaming_hours.span(gaming_day), tables)


def by_shift(gaming_day: date, tables: Sequence[Table] | None = None) -> dict[str, SpanFigures]:
    """A report for each shift of a gaming day, by its name, in order."""
    return {shift.name: between(shift.start, shift.end, tables) for shift in gaming_hours.shifts_of(gaming_day)}


def between(start: datetime, end: datetime, tables: Sequence[Table] | None = None) -> SpanFigures:
    """Any span of time. One that is not over yet ends with the newest entries."""
    rows = Table.objects.order_by("name").select_related("book")
    if tables is not None:
        rows = rows.filter(pk__in=[table.pk for table in tables])
    return _report(start, end, [(table, table.book.head_seq) for table in rows])


def as_of(start: datetime, end: datetime, through: Mapping[str, int]) -> SpanFigures:
    """A span's report as it was when the tables' books had been written through these entries."""
    tables = Table.objects.filter(name__in=list(through)).order_by("name")
    return _report(start, end, [(table, through[table.name]) for table in tables])


def money_of(gaming_day: date, heads: Sequence[Head]) -> dict[int, Figures]:
    """What each table won on a gaming day and what its win is made of, by its book, read through these heads: as the
    day's report has it, and nothing of the rest. What a run moved up to the last time is not read again."""
    seqs, by_book = {head.book_id: head.seq for head in heads}, {head.book_id: head for head in heads}
    spans = figure_records.money_of(
        seqs, *gaming_hours.span(gaming_day), sums=partial(cached_sums.sums_of, heads=by_book)
    )
    return {book: _money(Figures(""), span) for book, span in spans.items()}


def _report(start: datetime, end: datetime, heads: Sequence[tuple[Table, int]]) -> SpanFigures:
    """Of these tables, each with the entry through which its book is read."""
    spans = figure_records.spans_of({table.book_id: head for table, head in heads}, start, end)
    worths_of, end_of_reading = cached_sheets.of_tables([table for table, _ in heads]), min(end, timezone.now())
    lines = tuple(
        _figures(table, worths, spans[table.book_id], start, end_of_reading)
        for (table, _), worths in zip(heads, worths_of, strict=True)
    )
    through = {table.name: head for table, head in heads}
    entries = {table.name: (spans[table.book_id].first, spans[table.book_id].last) for table, _ in heads}
    return SpanFigures(start, end, lines, through, entries)


def arrived(since: Mapping[str, int], through: Mapping[str, int]) -> list[Late]:
    """The boxes counted and corrections signed at each table after one entry, through another."""
    tables = {table.book_id: table.name for table in Table.objects.filter(name__in=list(through))}
    lows = {book: since.get(name, 0) for book, name in tables.items()}
    arrivals = figure_records.arrivals(lows, {book: through[name] for book, name in tables.items()})
    news = [(book, arrival) for book, arrival in arrivals if arrival.counts and arrival.seq > lows[book]]
    moments = figure_records.moments([(book, arrival.anchor) for book, arrival in news])
    return sorted(
        (
            Late(
                table=tables[book],
                seq=arrival.seq,
                at=arrival.moment,
                what=arrival.what,
                cents=arrival.cents,
                belongs_at=moments[book, arrival.anchor],
                is_box=arrival.removal > 0,
            )
            for book, arrival in news
            if (book, arrival.anchor) in moments
        ),
        key=lambda late: (late.at, late.table, late.seq),
    )


# --- Figures ---------------------------------------------------------------------------------------------------


def _figures(table: Table, worths: Worths, span: BookSpan, start: datetime, end: datetime) -> Figures:
    blank = Figures(table.name, **_of_game(table))
    if not span.runs:
        return blank
    sums = {name: sum(run.sums[name] for run in span.runs) for name in ("handle", "rounds")}
    seconds = [
        _seconds(max(run.opening.moment, start), run.closing.moment if run.closing else end) for run in span.runs
    ]
    return replace(
        _money(blank, span),
        drop_is=_drop_is(span),
        handle_cents=sums["handle"],
        rounds={"banked": sums["rounds"], "pot": span.rounds, "counted": 0}[GAMES[table.game].kind],
        open_seconds=sum(seconds),
        theoretical=_expected(table, worths, span, sums["handle"]),
        rounding=_rounding(table, worths, span),
        pending=worths.pending,
        audited_cents=_audited_cents(table, span, sums["handle"]),
    )


def _money(blank: Figures, span: BookSpan) -> Figures:
    """What the win is made of."""
    if not span.runs:
        return blank
    sums = {name: sum(run.sums[name] for run in span.runs) for name in ("fills", "credits", "cash")}
    first, last = span.runs[0], span.runs[-1]
    gaps = sum(after.opener_cents - before.closer_cents for before, after in pairwise(span.runs))
    boxes = [arrival for arrival in span.arrivals if arrival.removal and span.first < arrival.anchor <= span.last]
    return replace(
        blank,
        opener_cents=first.opener_cents,
        opener_is=LEDGER if first.is_cut else COUNTED,
        closer_cents=last.closer_cents,
        closer_is=COUNTED if last.closing else LEDGER,
        between_cents=gaps,
        fills_cents=sums["fills"],
        credits_cents=sums["credits"],
        cash_cents=sums["cash"],
        box_variance_cents=sum(box.cents for box in boxes),
        corrections_cents=_corrections(span),
    )


def _seconds(since: datetime, until: datetime) -> int:
    """Whole seconds of the clock, so that stretches that join add up."""
    return int(until.timestamp()) - int(since.timestamp())


def _corrections(span: BookSpan) -> int:
    """Those of this span's rounds, less those that moved this span's chips."""
    corrections = [arrival for arrival in span.arrivals if not arrival.removal]
    for_rounds = sum(correction.cents for correction in corrections if span.first < correction.anchor <= span.last)
    in_chips = sum(correction.cents for correction in corrections if span.first < correction.seq <= span.last)
    return for_rounds - in_chips


def _drop_is(span: BookSpan) -> str:
    """Whether every box with cash of this span was counted.

    Cash lies in the box that is taken away after it: so the boxes that matter are those removed after the span's first
    cash, up to the first one that was removed after its last."""
    sums = [run.sums for run in span.runs if run.sums["last_cash"]]
    if not sums:
        return COUNTED
    first, last = sums[0]["first_cash"], sums[-1]["last_cash"]
    removals = sorted({arrival.removal for arrival in span.arrivals if arrival.removal > first})
    counted_removals = {arrival.removal for arrival in span.arrivals if arrival.removal and arrival.counts}
    boxes = [removal for number, removal in enumerate(removals) if number == 0 or removals[number - 1] < last]
    return COUNTED if boxes and boxes[-1] > last and counted_removals.issuperset(boxes) else EXPECTED
