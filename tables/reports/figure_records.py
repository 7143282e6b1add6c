"""Reads from the log what figures of a span are made of: each table's runs with their sums, its boxes, its corrections.

Every statement is about all tables at once, and looks up the span's own rows by the index on book and entry, so that a
report costs what happened in its span, however long the house has dealt. What the numbers come to: ``figures.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from ledger import clock_corrections
from ledger.log import CONTENT
from ledger.raw_rows import fetch_rows
from tables.edge import worth
from tables.edge.worth import NOTHING, SpanWorth
from tables.floor.voiding import VOID_ROUNDS
from tables.log.catalog import read_as
from tables.log.entries.corrections import CorrectionSigned
from tables.log.entries.slips import SlipSigned
from tables.log.entries.tables import TableClosed, TableOpened


@dataclass(frozen=True, slots=True)
class OpeningEntry:
    """An entry with which a table opened or closed, and what was counted in its rack."""

    seq: int
    moment: datetime
    opens: bool
    rack_cents: int


Sums = Mapping[str, int]
"""Of a run's transfers, by the names in ``SUM_NAMES``: cents, rounds, and entries with cash."""


@dataclass(slots=True)
class Run:
    """A stretch in which a table was open, as far as it lies in the span."""

    opening: OpeningEntry
    closing: OpeningEntry | None
    first: int
    """The entry after which it begins in the span: the table's opening, or the last entry before the span."""
    last: int
    is_cut: bool
    """Whether the table was open when the span began: then the ledger's rack stands for the opener."""
    sums: Sums = field(default_factory=dict)
    opener_cents: int = 0

    @property
    def closer_cents(self) -> int:
        """As counted; or what the transfers left there."""
        return self.closing.rack_cents if self.closing else self.opener_cents + self.sums["rack"]


Runs = Sequence[tuple[int, Run]]
"""Runs, each with its book."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A box removed or counted, or a correction signed: where it belongs, and what it is worth to the house."""

    seq: int
    moment: datetime
    what: str
    anchor: int
    """The entry to whose span it belongs: the box's removal, the table's closing before that, or the round's end."""
    cents: int
    removal: int = 0
    """The entry with which the box was taken away; 0 of a correction."""
    counts: bool = True


@dataclass(slots=True)
class BookSpan:
    """A span of one table's book: the entries after ``first``, up to ``last``, and what was read of them."""

    first: int
    last: int
    head: int
    """Up to which entry the book was read, for what came after the span."""
    rounds: int
    runs: list[Run] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    worth: SpanWorth = NOTHING
    stakes: dict[str, int] = field(default_factory=dict)
    """What was staked on each wager, where a seat's wagers lie apart."""


# --- Statements ------------------------------------------------------------------------------------------------


_BOUNDS: Final = """
    SELECT s.book, coalesce(lo.seq, 0), coalesce(hi.seq, 0),
        coalesce((SELECT round FROM ledger_logentry WHERE book_id = s.book AND subject = 'round' AND seq <= hi.seq
            ORDER BY seq DESC LIMIT 1), 0)
        - coalesce((SELECT round FROM ledger_logentry WHERE book_id = s.book AND subject = 'round' AND seq <= lo.seq
            ORDER BY seq DESC LIMIT 1), 0)
        - {void_rounds}
    FROM unnest(%(books)s::bigint[], %(heads)s::bigint[]) AS s (book, head)
    LEFT JOIN LATERAL ({before_start}) AS lo ON true
    LEFT JOIN LATERAL ({before_end}) AS hi ON true
""".format(  # noqa: S608
    void_rounds=VOID_ROUNDS.format(book="s.book", after="coalesce(lo.seq, 0)", through="coalesce(hi.seq, 0)"),
    before_start=clock_corrections.LAST_BEFORE.format(book="s.book", head="s.head", moment="%(start)s"),
    before_end=clock_corrections.LAST_BEFORE.format(book="s.book", head="s.head", moment="%(end)s"),
)
_DOORS: Final = f"""
    SELECT s.book, e.seq, {clock_corrections.TRUE_TIME.format(book="s.book", entry="e")}, e.kind, e.body
    FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[]) AS s (book, low, high)
    CROSS JOIN LATERAL (
        (SELECT seq, at, kind, body FROM ledger_logentry WHERE book_id = s.book AND subject = 'table'
            AND kind IN ('opened', 'closed') AND seq <= s.low ORDER BY seq DESC LIMIT 1)
        UNION ALL
        SELECT seq, at, kind, body FROM ledger_logentry WHERE book_id = s.book AND subject = 'table'
            AND kind IN ('opened', 'closed') AND seq > s.low AND seq <= s.high) AS e
    ORDER BY s.book, e.seq
"""  # noqa: S608
# A run that began before the span: from the newest recount within it, or else from its opener.
_RACKS: Final = """
    SELECT s.book, coalesce(r.cents, s.rack) + (
        SELECT coalesce(sum(CASE WHEN source_place = 'rack' THEN -amount_cents WHEN target_place = 'rack'
            THEN amount_cents ELSE 0 END), 0)
        FROM ledger_transfer WHERE book_id = s.book AND seq > coalesce(r.seq, s.opened) AND seq <= s.low)
    FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(opened)s::bigint[], %(racks)s::bigint[])
        AS s (book, low, opened, rack)
    LEFT JOIN LATERAL (SELECT c.through_seq AS seq, c.balance_cents AS cents
        FROM ledger_recount AS c JOIN ledger_account AS a ON a.id = c.account_id AND a.place = 'rack'
        WHERE c.book_id = s.book AND c.through_seq BETWEEN s.opened AND s.low ORDER BY c.through_seq DESC LIMIT 1
    ) AS r ON true
"""
# Cash of a sale that was undone in the same stretch lies in no box.
_STAYED: Final = """kind = 'drop' AND NOT EXISTS (
    SELECT FROM ledger_transfer AS r WHERE r.reverses_id = ledger_transfer.id AND r.seq <= s.high)"""
_SUM_COLUMNS: Final[Mapping[str, str]] = {
    "rack": """coalesce(sum(CASE WHEN source_place = 'rack' THEN -amount_cents WHEN target_place = 'rack'
        THEN amount_cents END), 0)""",
    "fills": """coalesce(sum(CASE WHEN kind = 'fill' THEN amount_cents WHEN kind = 'reversal' AND source_place = 'rack'
        AND target_place = 'transit' THEN -amount_cents END), 0)""",
    "credits": """coalesce(sum(CASE WHEN kind = 'credit_out' THEN amount_cents WHEN kind = 'reversal'
        AND target_place = 'rack' AND source_place = 'transit' THEN -amount_cents END), 0)""",
    "cash": """coalesce(sum(CASE WHEN kind = 'drop' THEN amount_cents WHEN kind = 'reversal'
        AND source_place = 'drop_box' AND target_place = 'cash' THEN -amount_cents END), 0)""",
    "handle": """coalesce(sum(CASE WHEN kind IN ('stake', 'pay_pot', 'pay_seat') THEN amount_cents
        WHEN kind = 'reversal' AND ((source_place = 'layout' AND target_place = 'players')
        OR (target_place = 'seat' AND source_place IN ('pot', 'seat'))) THEN -amount_cents END), 0)""",
    "rounds": """count(DISTINCT seq) FILTER (WHERE kind = 'stake') - count(DISTINCT seq) FILTER (WHERE kind = 'reversal'
        AND source_place = 'layout' AND target_place = 'players')""",
    "first_cash": f"coalesce(min(seq) FILTER (WHERE {_STAYED}), 0)",
    "last_cash": f"coalesce(max(seq) FILTER (WHERE {_STAYED}), 0)",
}
"""What is added up of a stretch's transfers, by its name."""
SUM_NAMES: Final = tuple(_SUM_COLUMNS)
MONEY_NAMES: Final = ("rack", "fills", "credits", "cash")
"""What a win is made of."""
# The aggregate inside makes the planner look up each stretch by its numbers, and never read the whole table.
_SUMS: Final = """
    SELECT s.place, m.* FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[])
        WITH ORDINALITY AS s (book, low, high, place)
    CROSS JOIN LATERAL (SELECT {columns}
        FROM ledger_transfer WHERE book_id = s.book AND seq > s.low AND seq <= s.high) AS m
    ORDER BY s.place
"""
_STAKES: Final = """
    SELECT s.book, m.wager, m.cents FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[])
        AS s (book, low, high)
    CROSS JOIN LATERAL (
        SELECT a.wager, sum(CASE WHEN t.kind = 'stake' THEN amount_cents ELSE -amount_cents END) AS cents
        FROM ledger_transfer AS t
        JOIN ledger_account AS a ON a.id = CASE WHEN t.kind = 'stake' THEN t.target_id ELSE t.source_id END
        WHERE t.book_id = s.book AND t.seq > s.low AND t.seq <= s.high AND a.wager IS NOT NULL AND (t.kind = 'stake'
            OR t.kind = 'reversal' AND t.source_place = 'layout' AND t.target_place = 'players')
        GROUP BY a.wager) AS m
"""
# A box that was taken from a closed table belongs to where the table was open last. What signs it is found by its slip,
# so that a day long past costs no more than yesterday.
_REMOVALS: Final = """
    SELECT s.book, s.head, w.slip_id, w.seq
    FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[], %(heads)s::bigint[], %(shut)s::boolean[])
        AS s (book, low, high, head, shut)
    CROSS JOIN LATERAL (
        SELECT slip_id, seq FROM ledger_slipsignature WHERE book_id = s.book AND stage = 'witnessed' AND seq > s.low
            AND seq <= CASE WHEN s.shut THEN coalesce((SELECT min(seq) FROM ledger_logentry WHERE book_id = s.book
                AND subject = 'table' AND kind = 'opened' AND seq > s.high), s.head) ELSE s.high END
        UNION
        (SELECT slip_id, seq FROM ledger_slipsignature WHERE book_id = s.book AND stage = 'witnessed'
            AND seq > s.high ORDER BY seq LIMIT 1)) AS w
"""
_RECOUNTS: Final = """
    SELECT DISTINCT s.book, s.head, w.slip_id, w.seq
    FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(heads)s::bigint[]) AS s (book, low, head)
    JOIN ledger_slipsignature AS g ON g.book_id = s.book AND g.seq > s.low AND g.seq <= s.head
        AND g.stage LIKE 'recounted%%'
    JOIN ledger_slipsignature AS w ON w.slip_id = g.slip_id AND w.stage = 'witnessed'
"""
_BOXES: Final = """
    SELECT w.book, e.seq, e.at, e.body, w.seq, door.kind, door.seq
    FROM ({removed}) AS w (book, head, slip_id, seq)
    JOIN ledger_slipsignature AS g ON g.slip_id = w.slip_id AND (g.stage = 'witnessed' OR g.stage LIKE 'recounted%%')
    JOIN ledger_logentry AS e ON e.book_id = w.book AND e.seq = g.seq AND e.seq <= w.head
    LEFT JOIN LATERAL (SELECT kind, seq FROM ledger_logentry WHERE book_id = w.book AND subject = 'table'
        AND kind IN ('opened', 'closed') AND seq < w.seq ORDER BY seq DESC LIMIT 1) AS door ON true
    ORDER BY w.book, e.seq
"""
_MOMENTS: Final = f"""
    SELECT e.book_id, e.seq, {clock_corrections.TRUE_TIME.format(book="e.book_id", entry="e")}
    FROM unnest(%(books)s::bigint[], %(seqs)s::bigint[]) AS s (book, seq)
    JOIN ledger_logentry AS e ON e.book_id = s.book AND e.seq = s.seq
"""  # noqa: S608
_CORRECTIONS: Final = f"""
    SELECT s.book, e.seq, e.at, e.body, (
        SELECT max(r.seq) FROM ledger_logentry AS r WHERE r.book_id = s.book AND r.subject = 'round' AND r.legs > 0
            AND r.round = ({CONTENT.format(body="e.body")} #>> '{{correction,round}}')::int)
    FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(heads)s::bigint[]) AS s (book, low, head)
    JOIN ledger_logentry AS e ON e.book_id = s.book AND e.seq > s.low AND e.seq <= s.head
        AND e.subject = 'correction' AND e.kind = 'signed'
    ORDER BY s.book, e.seq
"""  # noqa: S608


# --- What they read --------------------------------------------------------------------------------------------


def spans_of(heads: Mapping[int, int], start: datetime, end: datetime) -> dict[int, BookSpan]:
    """Everything about a span of these books, each read through an entry (its head), in nine statements."""
    spans = money_of(heads, start, end)
    audited = worth.of([(book, span.first, span.last) for book, span in spans.items()])
    for span, bets in zip(spans.values(), audited, strict=True):
        span.worth = bets
    for book, wager, cents in fetch_rows(_STAKES, bounds_by_column(spans)):
        spans[book].stakes[wager] = int(cents)
    return spans


def money_of(
    heads: Mapping[int, int], start: datetime, end: datetime, sums: Callable[[Runs], Iterable[Sums]] | None = None
) -> dict[int, BookSpan]:
    """The data of a span that the win needs, by log, in seven statements. ``sums``: returns the sums of (log, run)
    pairs; by default they are read from the log."""
    spans = bounds(heads, start, end)
    parameters = bounds_by_column(spans)
    for book, rows in groupby(fetch_rows(_DOORS, parameters), key=itemgetter(0)):
        doors = [_door(*row) for _, *row in rows]
        spans[book].runs = list(_runs(doors, spans[book]))
    _fill_openers(spans)
    runs = [(book, run) for book, span in spans.items() for run in span.runs]
    totals = sums(runs) if sums else sums_of([(book, run.first, run.last) for book, run in runs])
    for (_, run), total in zip(runs, totals, strict=True):
        run.sums = total
    _fill_arrivals(spans, parameters)
    return spans


def arrivals(lows: Mapping[int, int], heads: Mapping[int, int]) -> list[tuple[int, Arrival]]:
    """The boxes counted, and the corrections signed, in each book after its low entry and up to its head."""
    parameters = {"books": list(heads), "lows": [lows[book] for book in heads], "heads": list(heads.values())}
    boxes = [(book, _box(*row)) for book, *row in fetch_rows(_BOXES.replace("{removed}", _RECOUNTS), parameters)]
    return boxes + [(book, _correction(*row)) for book, *row in fetch_rows(_CORRECTIONS, parameters)]


def moments(entries: Sequence[tuple[int, int]]) -> dict[tuple[int, int], datetime]:
    """When these entries, as (book, seq), were truly written: a poisoned clock's times are mended."""
    if not entries:
        return {}
    parameters = {"books": [book for book, _ in entries], "seqs": [seq for _, seq in entries]}
    return {(book, seq): moment for book, seq, moment in fetch_rows(_MOMENTS, parameters)}


def bounds(heads: Mapping[int, int], start: datetime, end: datetime) -> dict[int, BookSpan]:
    """Where a span lies in each of these books, and how many rounds it has there."""
    parameters = {"books": list(heads), "heads": list(heads.values()), "start": start, "end": end}
    return {
        book: BookSpan(low, high, heads[book], rounds) for book, low, high, rounds in fetch_rows(_BOUNDS, parameters)
    }


def bounds_by_column(spans: Mapping[int, BookSpan]) -> dict[str, Any]:
    """The bounds of spans as parameters of a statement, which unnests them."""
    return {
        "books": list(spans),
        "lows": [span.first for span in spans.values()],
        "highs": [span.last for span in spans.values()],
        "heads": [span.head for span in spans.values()],
    }


def _door(seq: int, moment: datetime, kind: str, body: bytes) -> OpeningEntry:
    opens = kind == "opened"
    return OpeningEntry(seq, moment, opens, read_as(TableOpened if opens else TableClosed, body).rack_cents)


def _runs(doors: Sequence[OpeningEntry], span: BookSpan) -> Iterable[Run]:
    for number, door in enumerate(doors):
        if not door.opens:
            continue
        closing = doors[number + 1] if number + 1 < len(doors) else None
        last = closing.seq if closing else span.last
        yield Run(door, closing, max(door.seq, span.first), last, is_cut=door.seq <= span.first)


def _fill_openers(spans: Mapping[int, BookSpan]) -> None:
    """What lay in each rack when its run began, or when the span did."""
    cut = {book: span.runs[0] for book, span in spans.items() if span.runs and span.runs[0].is_cut}
    parameters = {
        "books": list(cut),
        "lows": [run.first for run in cut.values()],
        "opened": [run.opening.seq for run in cut.values()],
        "racks": [run.opening.rack_cents for run in cut.values()],
    }
    racks = dict(fetch_rows(_RACKS, parameters)) if cut else {}
    for book, span in spans.items():
        for run in span.runs:
            run.opener_cents = int(racks[book]) if run.is_cut else run.opening.rack_cents


def sums_of(stretches: Sequence[tuple[int, int, int]], names: Sequence[str] = SUM_NAMES) -> list[Sums]:
    """The sums of stretches of books: of the entries after the first number, up to the second."""
    books, lows, highs = zip(*stretches, strict=True) if stretches else ((), (), ())
    parameters = {"books": list(books), "lows": list(lows), "highs": list(highs)}
    sql = _SUMS.format(columns=", ".join(f"{_SUM_COLUMNS[name]} AS {name}" for name in names))
    rows = fetch_rows(sql, parameters) if stretches else []
    return [dict(zip(names, map(int, sums), strict=True)) for _, *sums in rows]


def _fill_arrivals(spans: Mapping[int, BookSpan], parameters: Mapping[str, list[int]]) -> None:
    """The boxes and corrections of each span, whenever they were counted and signed."""
    shut = [bool(span.runs) and span.runs[-1].closing is not None for span in spans.values()]
    for book, *row in fetch_rows(_BOXES.replace("{removed}", _REMOVALS), {**parameters, "shut": shut}):
        spans[book].arrivals.append(_box(*row))
    for book, *row in fetch_rows(_CORRECTIONS, parameters):
        spans[book].arrivals.append(_correction(*row))


def _box(seq: int, moment: datetime, body: bytes, removal: int, door: str | None, door_seq: int | None) -> Arrival:
    """An entry of a box's slip. ``door``, ``door_seq``: the table's last opening or closing before the removal."""
    slip = read_as(SlipSigned, body).after
    is_recount = seq != removal and slip.agreed is not None
    return Arrival(
        seq,
        moment,
        what=f"box {slip.box} counted",
        anchor=door_seq if door == "closed" and door_seq else removal,
        cents=slip.total_cents - slip.expected_cents if is_recount else 0,
        removal=removal,
        counts=is_recount,
    )


def _correction(seq: int, moment: datetime, body: bytes, last_seq: int | None) -> Arrival:
    """A correction belongs to the round that it corrects, by the last entry of that which moved chips."""
    event = read_as(CorrectionSigned, body)
    cents = event.off_cents - event.difference_cents
    return Arrival(seq, moment, f"correction of round {event.correction.round}", last_seq or 0, cents)
