"""What is out of the ordinary: a win or a hold outside of the interval that 95 of 100 ordinary days stay within.

Two questions, each asked of a table and day. Is the win one that chance makes of these bets? The game's exact edge and
deviation answer it. Is the hold one that this table has on other days? Its own days before answer it. Of ordinary days
one in twenty is flagged all the same: a flag asks for a look, and accuses nobody. Floats stay within this file.
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

from django.db import connection

from tables import maths
from tables.day import figures
from tables.day.closing import closed_figures
from tables.edge import worth
from tables.edge.worth import Worth
from tables.games.catalog import GAMES
from tables.log.terms import rules_of
from tables.models import Table

SURE: Final = 0.95
FEWEST_DAYS: Final = 10
"""A table with fewer days behind it has no habit yet."""
MOST_DAYS: Final = 60
"""How many days before are looked at: no cost grows with history."""

COVARIANCES: Final[Mapping[str, float]] = {"rocket": 0.1455}
"""The covariance of two bets of one unit in the same round, as ``maths.together`` computes it in some ten seconds: from
0.1454 with one deck to 0.1455 with six."""


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
    """In cents; None where the game has no exact edge, or nobody bet."""
    hold: Interval | None
    """As a part of the drop; None without a drop, or with too few days behind it."""

    @property
    def flagged(self) -> bool:
        """Whether somebody should look at it: its win or its hold lies outside."""
        return any(interval is not None and interval.flagged for interval in (self.win, self.hold))


# --- The statistics: no database ------------------------------------------------------------------------------


def of_chance(
    win_cents: int,
    handle_cents: int,
    squares: int,
    squared_rounds: int,
    edge: float,
    deviation: float,
    covariance: float,
) -> Interval:
    """The win that chance makes of these bets. ``squares``: the sum of each bet's square; ``squared_rounds``: of each
    round's bets together; ``covariance``: of two bets of one unit in the same round.

    The sum of many rounds is nearly normal: its mean is handle x edge, its variance that of each bet by itself and
    what bets on the same dealer's card have in common."""
    variance = (deviation**2 - covariance) * squares + covariance * squared_rounds
    return of_moments(win_cents, edge * handle_cents, variance)


def of_moments(win_cents: int, expected_cents: float, variance: float) -> Interval:
    """The win that chance makes, by its mean and variance."""
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


def day(gaming_day: date, report: figures.Report | None = None) -> list[Looked]:
    """Every table that was played at on a gaming day; with its report, where that was read already."""
    tables = {table.name: table for table in Table.objects.all()}
    report = report or figures.day(gaming_day)
    bets, habits = _bets(report, tables), _habits(gaming_day)
    audited = worth.of([(tables[line.name].book_id, *report.entries[line.name]) for line in report.lines])
    return [
        Looked(line.name, gaming_day, _win(line, tables[line.name], bets, exact), _hold(line, habits))
        for line, exact in zip(report.lines, audited, strict=True)
        if line.handle_cents or line.drop_cents
    ]


def _win(line: figures.Figures, table: Table, bets: Mapping[int, tuple[int, int]], exact: Worth) -> Interval | None:
    """Bets of audited shoes by the exact edge and variance of their rounds, others by those of a full shoe. The
    correlation of two seats, and not their covariance, is what hardly moves with the cards that are left."""
    edge_and_deviation, covariance = maths.house_edge(GAMES[table.game], rules_of(table)), COVARIANCES.get(table.game)
    if edge_and_deviation is None or covariance is None or table.book_id not in bets or line.theoretical is None:
        return None
    _, deviation = edge_and_deviation
    squares, squared_rounds = bets[table.book_id]
    single = float(exact.spread) + deviation**2 * max(0, squares - exact.squares)
    full_shoe = max(0, squared_rounds - squares - exact.crossed)
    pairs = covariance * (full_shoe + float(exact.crossed_spread) / deviation**2)
    return of_moments(line.win_cents, float(line.theoretical), single + pairs)


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


_BETS: Final = """
    SELECT s.book, m.squares, m.rounds FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[])
        AS s (book, low, high)
    CROSS JOIN LATERAL (SELECT sum(q) AS squares, sum(b * b) AS rounds FROM (
        SELECT sum(amount_cents) AS b, sum(amount_cents::numeric * amount_cents) AS q FROM ledger_transfer AS t
        WHERE book_id = s.book AND seq > s.low AND seq <= s.high AND kind = 'stake'
            AND NOT EXISTS (SELECT 1 FROM ledger_transfer WHERE reverses_id = t.id) GROUP BY seq) AS each) AS m
    WHERE m.squares IS NOT NULL
"""


def _bets(report: figures.Report, tables: Mapping[str, Table]) -> dict[int, tuple[int, int]]:
    """For each book: the sum of each bet's square, and of each round's bets together."""
    spans = [(tables[name].book_id, *span) for name, span in report.entries.items()]
    books, lows, highs = (list(column) for column in zip(*spans, strict=True)) if spans else ([], [], [])
    with connection.cursor() as cursor:
        cursor.execute(_BETS, {"books": books, "lows": lows, "highs": highs})
        return {book: (int(squares), int(rounds)) for book, squares, rounds in cursor.fetchall()}
