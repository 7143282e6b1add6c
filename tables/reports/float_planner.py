"""The float planner: with which chips a rack should open, from the pieces that it used in its own runs before.

What a run needed of a kind of chip is the deepest that its winnings and sales drew that kind down before chips of it
came back from losing bets: fills and credits are left out, for they are what a good float saves. A float that covers
what ninety-five of a hundred runs needed runs out in one of twenty. Bets and winnings are known by amount, so the
pieces of a run are estimated by the fewest chips, as the dealer's screen tells them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, comb
from typing import Final

from ledger.proof.chips import Denomination
from ledger.raw_rows import fetch_rows
from tables.log.catalog import read_as
from tables.log.entries.slips import SlipSigned
from tables.log.pieces import fewest
from tables.models import Table
from tables.reports.inventory import kinds_of

RUNS: Final = 60
"""The number of past openings used: two months of daily openings show a season, but not the year before."""
STACK: Final = 20
"""Chips per stack in a rack. A float consists of whole stacks."""
CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Used:
    """One run of a table, from opening to closing, by kind of chip."""

    opened: datetime
    opener: Mapping[int, int]
    """Pieces in the opener."""
    needed: Mapping[int, int]
    """The deepest that each kind was drawn down, in pieces."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What a rack should open with of one kind of chip."""

    value_cents: int
    colour: str
    pieces: int
    """Whole stacks."""
    opened_with: int
    """In the latest opener."""
    most: int
    """The most that any of these runs needed."""
    ran_out: int
    """In how many of these runs the latest opener would have run out of it."""
    runs: int

    @property
    def cents(self) -> int:
        return self.pieces * self.value_cents

    @property
    def change(self) -> int:
        """Pieces more, or below zero fewer, than in the latest opener."""
        return self.pieces - self.opened_with

    @property
    def chance_at_most(self) -> float:
        """The chance that a run uses it up, at most, with 95 % confidence (Clopper and Pearson)."""
        return upper_bound(self.ran_out, self.runs)


@dataclass(frozen=True, slots=True)
class TableFloat:
    """The float of one table."""

    runs: int
    service: int
    """Of a hundred runs, how many the float is to last without a fill."""
    lines: tuple[Advice, ...]

    @property
    def total_cents(self) -> int:
        return sum(line.cents for line in self.lines)

    @property
    def is_bold(self) -> bool:
        """Whether there are too few runs for so rare a shortage ever to have shown: then the most of them counts."""
        return self.runs * (100 - self.service) < 100


def plan(table: Table, service: int = 95) -> TableFloat | None:
    """What a table's rack should open with; None before its first whole run. ``service``: of a hundred runs."""
    runs = used(table)
    if not runs:
        return None
    kinds = sorted(kinds_of(table.denominations.all()), reverse=True)
    return TableFloat(len(runs), service, tuple(_advice(kind, runs, service) for kind in kinds))


def _advice(kind: Denomination, runs: Sequence[Used], service: int) -> Advice:
    needs = sorted(run.needed.get(kind.value_cents, 0) for run in runs)
    opener = runs[-1].opener.get(kind.value_cents, 0)
    enough = needs[min(ceil(len(needs) * service / 100), len(needs)) - 1]
    return Advice(
        kind.value_cents,
        kind.name,
        pieces=-(-enough // STACK) * STACK,
        opened_with=opener,
        most=needs[-1],
        ran_out=sum(need > opener for need in needs),
        runs=len(runs),
    )


def upper_bound(times: int, of: int, confidence: float = CONFIDENCE) -> float:
    """The upper limit of a probability after ``times`` events in ``of`` trials (Clopper-Pearson, one-sided)."""
    if times >= of:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(40):
        chance = (low + high) / 2
        if _at_most(times, of, chance) > 1 - confidence:
            low = chance
        else:
            high = chance
    return high


def _at_most(times: int, of: int, chance: float) -> float:
    return sum(comb(of, count) * chance**count * (1 - chance) ** (of - count) for count in range(times + 1))


# --- What runs used --------------------------------------------------------------------------------------------


_RUNS: Final = """
    SELECT closed.seq, opened.seq, opened.at, counted.body FROM (
        SELECT seq FROM ledger_logentry WHERE book_id = %(book)s AND subject = 'table' AND kind = 'closed'
        ORDER BY seq DESC LIMIT %(runs)s) AS closed
    CROSS JOIN LATERAL (
        SELECT seq, at FROM ledger_logentry WHERE book_id = %(book)s AND subject = 'table' AND kind = 'opened'
            AND seq < closed.seq ORDER BY seq DESC LIMIT 1) AS opened
    JOIN ledger_logentry AS counted ON counted.book_id = %(book)s AND counted.seq = opened.seq - 1
    ORDER BY closed.seq
"""
# What slips move is left out: a float is to make them needless.
_FLOWS: Final = """
    SELECT s.run, t.target_place = 'rack', t.amount_cents
    FROM unnest(%(lows)s::bigint[], %(highs)s::bigint[]) WITH ORDINALITY AS s (low, high, run)
    JOIN ledger_transfer AS t ON t.book_id = %(book)s AND t.seq > s.low AND t.seq < s.high
        AND (t.source_place = 'rack' AND t.target_place NOT IN ('transit', 'over_short')
            OR t.target_place = 'rack' AND t.source_place NOT IN ('transit', 'over_short'))
    ORDER BY s.run, t.seq, t.leg
"""


def used(table: Table) -> list[Used]:
    """What the latest whole runs of a table used, the oldest first."""
    runs = fetch_rows(_RUNS, {"book": table.book_id, "runs": RUNS})
    kinds = kinds_of(table.denominations.all())
    low = {number: _Tide(kinds) for number in range(1, len(runs) + 1)}
    spans = {"book": table.book_id, "lows": [row[1] for row in runs], "highs": [row[0] for row in runs]}
    for run, arrives, cents in fetch_rows(_FLOWS, spans) if runs else ():
        low[run].flow(cents if arrives else -cents)
    return [
        Used(opened, dict(_opener(body)), low[number].needed)
        for number, (_, _, opened, body) in enumerate(runs, start=1)
    ]


class _Tide:
    """How deep each kind of chip was drawn down in one run."""

    def __init__(self, kinds: tuple[Denomination, ...]) -> None:
        self._kinds = kinds
        self._level: dict[int, int] = {}
        self._lowest: dict[int, int] = {}

    def flow(self, cents: int) -> None:
        sign = 1 if cents > 0 else -1
        for value, count in fewest(abs(cents), self._kinds)[0].items():
            level = self._level[value] = self._level.get(value, 0) + sign * count
            self._lowest[value] = min(self._lowest.get(value, 0), level)

    @property
    def needed(self) -> dict[int, int]:
        return {value: -level for value, level in self._lowest.items() if level < 0}


def _opener(body: bytes) -> Iterable[tuple[int, int]]:
    """What the count said with which the table opened: its entry is the one before the opening."""
    return read_as(SlipSigned, body).after.agreed or ()
