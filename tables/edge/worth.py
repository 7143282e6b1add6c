"""The worth of the bets of a span: audited shoes round by round, each wager by its own edge; the rest by a full shoe's
edge.

A shoe within a span counts by its sums; of a shoe that a span cuts, the rounds within it are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from ledger.raw_rows import fetch_rows
from tables.edge.shoe_audit import SCALE


@dataclass(frozen=True, slots=True)
class SpanWorth:
    """The audited bets of a span, added up."""

    staked_cents: int = 0
    cents: Fraction = Fraction(0)
    """The casino's mean win of them, in cents."""
    spread: Fraction = Fraction(0)
    """Sum of the variances of the bets, in cents squared."""
    squares: int = 0
    """The sum of each bet's square."""
    crossed: int = 0
    """Sum of the products of two seats' bets in one round, each pair twice."""
    crossed_spread: Fraction = Fraction(0)
    """Sum of the products of two seats' bets in one round, each pair twice, times the variance of a bet in that
    round."""
    wagers: Mapping[str, SpanWorth] = field(default_factory=dict)
    """The worth of each wager by itself."""

    def plus(self, wager: str, other: SpanWorth) -> SpanWorth:
        """These sums with the bets on a further wager added."""
        return SpanWorth(
            self.staked_cents + other.staked_cents,
            self.cents + other.cents,
            self.spread + other.spread,
            self.squares + other.squares,
            self.crossed + other.crossed,
            crossed_spread=self.crossed_spread + other.crossed_spread,
            wagers={**self.wagers, wager: other},
        )


NOTHING: Final = SpanWorth()

_AUDITED_BETS: Final = """
    SELECT s.place, m.wager, coalesce(sum(m.staked), 0), coalesce(sum(m.worth), 0), coalesce(sum(m.spread), 0),
        coalesce(sum(m.squares), 0), coalesce(sum(m.crossed), 0), coalesce(sum(m.crossed_spread), 0)
    FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[])
        WITH ORDINALITY AS s (book, low, high, place)
    CROSS JOIN LATERAL (
        SELECT wager, staked_cents::numeric AS staked, worth, spread, squares, crossed, crossed_spread
        FROM tables_shoeaudit
        WHERE book_id = s.book AND begun_seq >= s.low AND begun_seq < s.high AND ended_seq <= s.high
        UNION ALL
        SELECT cut.wager, b.staked, (r ->> 'edge')::numeric * b.staked, (r ->> 'variance')::numeric * b.squares,
            b.squares, b.staked ^ 2 - b.squares, (r ->> 'variance')::numeric * (b.staked ^ 2 - b.squares)
        FROM (
            (SELECT * FROM tables_shoeaudit WHERE book_id = s.book AND begun_seq < s.low
                ORDER BY begun_seq DESC FETCH FIRST 1 ROW WITH TIES)
            UNION ALL
            (SELECT * FROM tables_shoeaudit WHERE book_id = s.book AND begun_seq >= s.low AND begun_seq < s.high
                AND ended_seq > s.high ORDER BY begun_seq DESC FETCH FIRST 1 ROW WITH TIES)
        ) AS cut
        CROSS JOIN LATERAL jsonb_array_elements(cut.rounds) AS r
        CROSS JOIN LATERAL (SELECT sum((bet ->> 1)::numeric) AS staked, sum(((bet ->> 1)::numeric) ^ 2) AS squares
            FROM jsonb_array_elements(r -> 'bets') AS bet) AS b
        WHERE (r ->> 'seq')::bigint > s.low AND (r ->> 'seq')::bigint <= s.high
    ) AS m
    GROUP BY s.place, m.wager ORDER BY s.place, m.wager
"""


def of(spans: Sequence[tuple[int, int, int]]) -> list[SpanWorth]:
    """The audited bets of each span, as (log, after this entry, up to this one): one query for all."""
    books, lows, highs = (list(column) for column in zip(*spans, strict=True)) if spans else ([], [], [])
    worths = [NOTHING] * len(spans)
    rows = fetch_rows(_AUDITED_BETS, {"books": books, "lows": lows, "highs": highs})
    for place, wager, staked, worth, spread, squares, crossed, crossed_spread in rows:
        bets = SpanWorth(
            staked_cents=int(staked),
            cents=Fraction(int(worth), SCALE),
            spread=Fraction(int(spread), SCALE),
            squares=int(squares),
            crossed=int(crossed),
            crossed_spread=Fraction(int(crossed_spread), SCALE),
        )
        worths[place - 1] = worths[place - 1].plus(wager, bets)
    return worths
