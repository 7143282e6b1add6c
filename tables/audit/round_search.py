"""Search of the rounds of several tables in a span of time, by seat, dealer and amount.

The cost of a page depends on the number of rounds that it reads, which is limited, and not on the length of the log:
rounds are read in slices of time from the newest back. A search by amount also reads all corrections after the slice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from ledger.log import COLUMNS
from ledger.proof.chain import Entry
from ledger.raw_rows import fetch_rows
from tables.audit import round_list
from tables.audit.round_list import RoundFilter, RoundLine
from tables.games.protocol import Payout, SeatView, Settled
from tables.log.catalog import read
from tables.log.corrections import Correction
from tables.log.entries.corrections import AboutCorrection
from tables.log.slip_types import CORRECTION
from tables.log.state import UNREADABLE
from tables.models import Table

PAGE: Final = 25
NEAR: Final = 5
"""Rounds that differ in one criterion; listed if no round matches."""
AT_ONCE: Final = 100
"""Rounds of a slice, if it is longer than SHORTEST."""
MOST: Final = 400
"""Rounds that one page reads, up to the end of a slice. Replaying a round takes 2 to 3 ms."""
FIRST: Final = timedelta(hours=1)
SHORTEST: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Sought:
    """The criteria of a search. Empty: no criterion."""

    since: datetime
    until: datetime
    tables: tuple[Table, ...]
    seat: int | None = None
    dealer: str = ""
    """Badge number or a part of the name."""
    amounts: tuple[int, ...] = ()
    """In cents: a round matches if a seat bet, was due or was paid one of them."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A round, with the criteria that it does not match."""

    table: Table
    line: RoundLine
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultPage:
    """A page of results: the matching rounds, the newest first."""

    hits: tuple[Hit, ...]
    near: tuple[Hit, ...]
    """The newest rounds that differ in one criterion."""
    seats: frozenset[int]
    """The seats that played in any round of the page's span."""
    looked_at: int
    reached: datetime
    """All rounds from this time on were read."""
    older: datetime | None
    """The end of the next page's span; None on the last page."""


def search(sought: Sought, before: datetime | None = None) -> ResultPage:
    """A page of the rounds that began in the span, before ``before`` if that is given."""
    tables = {table.book_id: table for table in sought.tables}
    latest = _latest(list(tables))
    end = min(before or sought.until, sought.until)
    ends, width, looked_at = round_list.first_since(latest, end), FIRST, 0
    hits: list[Hit] = []
    near: list[Hit] = []
    seats: set[int] = set()
    while end > sought.since and looked_at < MOST and len(hits) < PAGE:
        start = max(end - width, sought.since)
        starts = round_list.first_since(latest, start)
        spans = {book: range(starts[book], ends[book]) for book in ends if starts[book] < ends[book]}
        count = sum(map(len, spans.values()))
        # A full slice is halved before its rounds are replayed: replaying is the costly part.
        if count > AT_ONCE and width > SHORTEST:
            width = max(width / 2, SHORTEST)
            continue
        judged = _judged(sought, tables, _lines(spans))
        seats.update(view.seat for hit in judged for view in hit.line.seats)
        # The whole slice is listed, even above PAGE: the next page starts at its begin.
        hits += [hit for hit in judged if not hit.differs]
        near += [hit for hit in judged if len(hit.differs) == 1][: NEAR - len(near)]
        looked_at, end, ends = looked_at + count, start, starts
        width = width * 2 if count < AT_ONCE / 2 else width
    return ResultPage(tuple(hits), tuple(near), frozenset(seats), looked_at, end, end if end > sought.since else None)


def around(sought: Sought, table: Table) -> list[RoundLine]:
    """The last round of a table before the span, of the seat if one is given, and the first round after the span."""
    latest = _latest([table.book_id])
    first, end = (round_list.first_since(latest, moment)[table.book_id] for moment in (sought.since, sought.until))
    before = (
        round_list.search(table, RoundFilter(seat=sought.seat), through=first - 1, count=1) if sought.seat else None
    )
    numbers = [number for number in (first - 1, end) if 1 <= number <= latest[table.book_id]]
    lines = [line for number in numbers for _, line in _lines({table.book_id: range(number, number + 1)})]
    return [*before.lines, *(line for line in lines if line.number == end)] if before else lines


# --- Comparison of a round with the criteria -------------------------------------------------------------------


def _judged(sought: Sought, tables: Mapping[int, Table], lines: Sequence[tuple[int, RoundLine]]) -> list[Hit]:
    corrections = _corrections(lines) if sought.amounts else {}
    hits = [
        Hit(tables[book], line, _differs(sought, line, corrections.get((book, line.number), ())))
        for book, line in lines
    ]
    return sorted(hits, key=lambda hit: (hit.line.began or sought.since, hit.line.number), reverse=True)


def _differs(sought: Sought, line: RoundLine, corrections: Sequence[Correction]) -> tuple[str, ...]:
    """The criteria that a round does not match. A round that cannot be replayed matches: it is never left out."""
    if line.fault:
        return ()
    played = [view for view in line.seats if view.seat == sought.seat]
    views = played or line.seats
    amounts = {cents for view in views for cents in _amounts(view, corrections)}
    dealer = sought.dealer.casefold()
    fits = {
        "seat": bool(played) or sought.seat is None,
        "dealer": any(dealer in name.casefold() for name in line.dealers) or not dealer,
        "amount": not sought.amounts or not amounts.isdisjoint(sought.amounts),
    }
    return tuple(name for name, is_fit in fits.items() if not is_fit)


def _amounts(view: SeatView, corrections: Iterable[Correction]) -> Iterable[int]:
    """The amounts that a patron may name: bets, returns, wins and losses of each, and the recorded, due and paid
    amounts of corrections."""
    yield view.bet_cents
    yield from (wager.cents for wager in view.wagers or ())
    if view.payout:
        settled: list[Payout | Settled] = [view.payout, *view.payout.wagers]
        for part in settled:
            yield from (part.staked_cents, part.returned_cents, abs(part.returned_cents - part.staked_cents))
        for correction in corrections:
            if correction.seat == view.seat:
                for cents in (correction.recorded_cents, correction.due_cents, correction.handed_cents):
                    yield from (abs(cents), cents + view.payout.staked_cents)


# --- Queries ---------------------------------------------------------------------------------------------------


def _latest(books: Sequence[int]) -> dict[int, int]:
    """The number of the latest round of each book; 0 before the first."""
    rows = fetch_rows(
        "SELECT b.book, coalesce((SELECT max(round) FROM ledger_logentry WHERE book_id = b.book), 0)"
        " FROM unnest(%s::bigint[]) AS b (book)",
        [list(books)],
    )
    return dict(rows)


def _lines(spans: Mapping[int, range]) -> list[tuple[int, RoundLine]]:
    """Rounds with their logs. Corrected times replace false ones."""
    rows = fetch_rows(
        f"SELECT e.* FROM unnest(%s::bigint[], %s::int[], %s::int[]) AS s (book, low, high) CROSS JOIN LATERAL ("  # noqa: S608
        f"SELECT {COLUMNS} FROM ledger_logentry WHERE book_id = s.book AND round >= s.low AND round < s.high) AS e"
        " ORDER BY e.book_id, e.round, e.seq",
        [list(spans), [span.start for span in spans.values()], [span.stop for span in spans.values()]],
    )
    entries = [Entry(*row) for row in rows]
    lines: list[tuple[int, RoundLine]] = []
    for book, stretch in groupby(entries, key=lambda entry: entry.book_id):
        rounds = groupby(stretch, key=lambda entry: entry.round or 0)
        own = [round_list.line_of(number, list(part)) for number, part in rounds]
        lines += [(book, line) for line in round_list.truly_timed(book, own)]
    return lines


def _corrections(lines: Sequence[tuple[int, RoundLine]]) -> dict[tuple[int, int], list[Correction]]:
    """Corrections by log and round, of all that were entered since the first of these rounds."""
    first: dict[int, int] = {}
    for book, line in lines:
        first[book] = min(first.get(book, line.first_seq), line.first_seq)
    rows = fetch_rows(
        "SELECT e.book_id, e.kind, e.body FROM unnest(%s::bigint[], %s::bigint[]) AS s (book, seq)"
        " JOIN ledger_logentry AS e ON e.book_id = s.book AND e.subject = %s AND e.seq > s.seq",
        [list(first), list(first.values()), CORRECTION.name],
    )
    corrections: dict[tuple[int, int], list[Correction]] = {}
    for book, kind, body in rows:
        # A malformed entry is reported by verification; the search must still find the other rounds.
        with suppress(*UNREADABLE):
            event = read(CORRECTION.name, kind, body)
            assert isinstance(event, AboutCorrection)  # noqa: S101 -- the catalog has no other of this subject
            corrections.setdefault((book, event.correction.round), []).append(event.correction)
    return corrections
