"""What is out of the ordinary: a win or a hold outside of the interval that 95 of 100 ordinary days stay within.

Two questions, each asked of a table and day. Is the win one that chance makes of these bets? The edges of the
game's wagers, and how they go together, answer it. Is the hold one that this table has on other days? Its own days
before answer it. One ordinary day in twenty is flagged by chance: a flag is a reason to review, not an accusation.
Floats stay within this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from math import sqrt
from statistics import NormalDist, mean, stdev
from typing import Final

from ledger.raw_rows import fetch_rows
from tables.edge import cached_sheets, worth
from tables.edge.cached_sheets import Worths
from tables.edge.worth import SpanWorth
from tables.maths.covariances import Covariances, Pair, Staked, variance
from tables.models import Table
from tables.reports import figures
from tables.reports.day_close import closed_figures

SURE: Final = 0.95
FEWEST_DAYS: Final = 10
"""A table with fewer days behind it has no habit yet."""
MOST_DAYS: Final = 60
"""How many days before are looked at: no cost grows with history."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a number was to be expected, and where it is."""

    low: float
    high: float
    value: float

    @property
    def flagged(self) -> bool:
        return not self.low <= self.value <= self.high


@dataclass(frozen=True, slots=True)
class Looked:
    """A table's gaming day, held against chance and against the table's other days."""

    table: str
    day: date
    win: Interval | None
    """In cents; None if the game has no exact edge, or there were no bets."""
    hold: Interval | None
    """As a part of the drop; None without a drop, or with too few days behind it."""

    @property
    def flagged(self) -> bool:
        """Whether win or hold lies outside its interval and needs attention."""
        return any(interval is not None and interval.flagged for interval in (self.win, self.hold))


# --- The statistics: no database ------------------------------------------------------------------------------


def of_moments(win_cents: int, expected_cents: float, variance: float) -> Interval:
    """The win that chance makes, by its mean and variance.

    The sum of many rounds is nearly normal: its mean is that of all bets, its variance what each wager has by itself,
    and what wagers of one seat and of several at the same cards have in common."""
    half = _times(None) * sqrt(max(variance, 0.0))
    return Interval(expected_cents - half, expected_cents + half, float(win_cents))


def of_habit(value: Fraction, before: Sequence[Fraction]) -> Interval | None:
    """Where the next of a row of days is to be expected, by Student's t: mean and deviation are themselves estimated
    from these days, so few of them make the interval wider. None for too few."""
    if len(before) < FEWEST_DAYS:
        return None
    days = [float(ratio) for ratio in before]
    half = _times(len(days) - 1) * stdev(days) * sqrt(1 + 1 / len(days))
    return Interval(mean(days) - half, mean(days) + half, float(value))


@cache
def _times(freedom: int | None) -> float:
    """How many deviations to each side hold 95 %; for Student's t by its Cornish-Fisher expansion, good to 0.001 from
    nine degrees of freedom on."""
    z = NormalDist().inv_cdf((1 + SURE) / 2)
    if freedom is None:
        return z
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


# --- The house's days -----------------------------------------------------------------------------------------


def day(gaming_day: date, report: figures.SpanFigures | None = None) -> list[Looked]:
    """Every table that was played at on a gaming day; with its report, where that was read already."""
    tables = {table.name: table for table in Table.objects.all()}
    report = report or figures.day(gaming_day)
    bets, habits = _bets(report, tables), _habits(gaming_day)
    worths_of = cached_sheets.of_tables([tables[line.name] for line in report.lines])
    audited = worth.of([(tables[line.name].book_id, *report.entries[line.name]) for line in report.lines])
    return [
        Looked(
            line.name,
            gaming_day,
            _win(line, worths, _named(bets.get(tables[line.name].book_id, {}), worths), exact),
            _hold(line, habits),
        )
        for line, worths, exact in zip(report.lines, worths_of, audited, strict=True)
        if line.handle_cents or line.drop_cents
    ]


def _win(line: figures.Figures, worths: Worths, squares: Mapping[Pair, Staked], exact: SpanWorth) -> Interval | None:
    """By the theoretical win, and the variance of a full shoe; but of audited shoes by that of their rounds."""
    together = worths.covariances
    if line.theoretical is None or not together or not squares:
        return None
    has_one_bet = len(together) == len(squares) == 1
    spread = _of_audited(together, squares, exact) if has_one_bet else variance(together, squares)
    return of_moments(line.win_cents, float(line.theoretical), spread)


def _of_audited(together: Covariances, squares: Mapping[Pair, Staked], exact: SpanWorth) -> float:
    """Where a seat has one bet. The correlation of two seats, and not their covariance, is what hardly moves with the
    cards that are left."""
    [joint], [bets] = together.values(), squares.values()
    single = float(exact.spread) + joint.seat * max(0, bets.seat - exact.squares)
    return single + joint.seats * (max(0, bets.seats - exact.crossed) + float(exact.crossed_spread) / joint.seat)


def _hold(line: figures.Figures, habits: Mapping[str, Sequence[Fraction]]) -> Interval | None:
    return None if line.hold is None else of_habit(line.hold, habits.get(line.name, ()))


def _habits(gaming_day: date) -> dict[str, list[Fraction]]:
    """The holds of each table on the closed days before."""
    holds: dict[str, list[Fraction]] = {}
    for rows in closed_figures(before=gaming_day, count=MOST_DAYS):
        for row in rows:
            if row["drop_cents"]:
                holds.setdefault(row["name"], []).append(Fraction(row["win_cents"], row["drop_cents"]))
    return holds


# What a seat put up on a wager in a round, then each two of a round multiplied: by seat, and of the whole table. What
# was raised in mid-round lies on spots of its own, of which nobody asks.
_UNNAMED: Final = ("", "")
_BETS: Final = """
    SELECT s.book, m.* FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[])
        AS s (book, low, high)
    CROSS JOIN LATERAL (
        WITH bet AS MATERIALIZED (
            SELECT t.seq, a.seat, coalesce(a.wager, '') AS wager, sum(t.amount_cents) AS cents
            FROM ledger_transfer AS t JOIN ledger_account AS a ON a.id = t.target_id
            WHERE t.book_id = s.book AND t.seq > s.low AND t.seq <= s.high AND t.kind = 'stake'
                AND NOT EXISTS (SELECT 1 FROM ledger_transfer WHERE reverses_id = t.id)
            GROUP BY t.seq, a.seat, a.wager),
        round AS (SELECT seq, wager, sum(cents) AS cents FROM bet GROUP BY seq, wager)
        SELECT wager, second, sum(seat), sum(whole) FROM (
            SELECT b.wager, o.wager AS second, b.cents * o.cents AS seat, 0 AS whole
            FROM bet AS b JOIN bet AS o ON o.seq = b.seq AND o.seat = b.seat AND o.wager >= b.wager
            UNION ALL
            SELECT b.wager, o.wager, 0, b.cents * o.cents
            FROM round AS b JOIN round AS o ON o.seq = b.seq AND o.wager >= b.wager) AS each
        GROUP BY wager, second) AS m
"""


def _bets(report: figures.SpanFigures, tables: Mapping[str, Table]) -> dict[int, dict[Pair, Staked]]:
    """For each book and each two wagers: what lay on them, multiplied round by round."""
    spans = [(tables[name].book_id, *span) for name, span in report.entries.items()]
    books, lows, highs = (list(column) for column in zip(*spans, strict=True)) if spans else ([], [], [])
    bets: dict[int, dict[Pair, Staked]] = {}
    for book, first, second, seat, whole in fetch_rows(_BETS, {"books": books, "lows": lows, "highs": highs}):
        bets.setdefault(book, {})[first, second] = Staked(int(seat), int(whole) - int(seat))
    return bets


def _named(bets: Mapping[Pair, Staked], worths: Worths) -> Mapping[Pair, Staked]:
    """Where a seat has one bet it lies on a spot without a name."""
    if _UNNAMED not in bets:
        return bets
    return {(wager, wager): bets[_UNNAMED] for wager in worths.edges}
