"""What tables won: opener, closer, fills, credits, drop, win, hold and handle, of any span of time, from the log alone.

A table's stretch from opening to closing is a *run*; where a span cuts a run, the ledger's rack at that moment stands
for the count. So win is the sum over runs of closer + credits + drop - opener - fills, and figures of spans that join
add up. Money is whole cents, ratios are fractions. Every query is about all tables at once, and the span's rows only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from ledger import mends
from tables import maths
from tables.day import hours as shifts
from tables.edge import worth
from tables.games.catalog import GAMES
from tables.log.catalog import read_as
from tables.log.entries.corrections import CorrectionSigned
from tables.log.entries.doors import TableClosed, TableOpened
from tables.log.entries.slips import SlipSigned
from tables.log.terms import rules_of
from tables.models import Table

COUNTED, LEDGER, EXPECTED = "counted", "ledger", "expected"
"""How a number was had: people counted; the ledger's rack at that moment; the cash dropped, its box not counted yet."""
EXACT, MIXED, FULL_SHOE = "exact", "partly exact", "full shoe"


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
    audited_cents: int = 0
    """The part of the handle of which it is exact round by round; the rest counts by the edge of a full shoe."""

    @property
    def drop_cents(self) -> int:
        """Cash in the boxes: as counted, as far as it was counted."""
        return self.cash_cents + self.box_variance_cents

    @property
    def win_cents(self) -> int:
        """What the house won."""
        held = self.closer_cents + self.credits_cents + self.drop_cents
        return held - self.opener_cents - self.fills_cents - self.between_cents + self.corrections_cents

    @property
    def hold(self) -> Fraction | None:
        """Win as a part of the drop."""
        return Fraction(self.win_cents, self.drop_cents) if self.drop_cents else None

    @property
    def hold_permille(self) -> int | None:
        """The same, rounded for print."""
        return None if self.hold is None else round(self.hold * 1000)

    @property
    def theoretical_cents(self) -> int | None:
        """Rounded for print."""
        return None if self.theoretical is None else round(self.theoretical)

    @property
    def theoretical_is(self) -> str:
        """How it was had: round by round, by the edge of a full shoe, or some of it so and some so."""
        if self.theoretical is None or not self.handle_cents:
            return ""
        return EXACT if self.audited_cents == self.handle_cents else MIXED if self.audited_cents else FULL_SHOE

    @property
    def rounds_per_hour(self) -> Fraction | None:
        """While the table was open."""
        return Fraction(self.rounds * 3600, self.open_seconds) if self.open_seconds else None

    @property
    def was_open(self) -> bool:
        """Whether anything could happen there."""
        return any(getattr(self, column) for column in _SUMMED)

    def row(self) -> dict[str, Any]:
        """One line of a list: what a CSV file or a log entry has."""
        return {name: getattr(self, name) for name in COLUMNS}

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Figures:
        """From such a line, as far as it goes: the whole drop stands for the cash. The theoretical win is rounded
        there, so it is better taken from the handle, but for the bets of audited shoes."""
        said = row["theoretical_cents"] if row.get("audited_cents") else None
        known = {name: row[name] for name in _READ if name in row}
        return cls(**known, cash_cents=row["drop_cents"], theoretical=None if said is None else Fraction(said))


COLUMNS: Final = (
    "name", "game", "opener_cents", "opener_is", "fills_cents", "credits_cents", "between_cents", "closer_cents",
    "closer_is", "drop_cents", "drop_is", "corrections_cents", "win_cents", "hold_permille", "handle_cents",
    "theoretical_cents", "audited_cents", "rounds", "open_seconds",
)  # fmt: skip

_SUMMED: Final = (
    "opener_cents", "closer_cents", "between_cents", "fills_cents", "credits_cents", "cash_cents",
    "box_variance_cents", "corrections_cents", "handle_cents", "audited_cents", "rounds",
    "open_seconds",
)  # fmt: skip


_READ: Final = ("name", "game", "opener_is", "closer_is", "drop_is", *(name for name in COLUMNS if name in _SUMMED))


@dataclass(frozen=True, slots=True)
class Late:
    """Something entered for a span after it: a box counted, or a correction of one of its rounds."""

    table: str
    seq: int
    at: datetime
    what: str
    cents: int
    belongs_at: datetime
    """The moment to which it belongs: of the round, or when the box was taken away."""
    is_box: bool


@dataclass(frozen=True, slots=True)
class Report:
    """All tables in one span."""

    start: datetime
    end: datetime
    lines: tuple[Figures, ...]
    through: Mapping[str, int] = field(default_factory=dict)
    """Up to which entry each table's book was read, for what came after the span."""
    entries: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The entries of each table in the span: after the first number, up to the second."""

    @property
    def games(self) -> tuple[Figures, ...]:
        """The same by game."""
        sort = sorted(self.lines, key=lambda line: line.game)
        return tuple(together(game, group) for game, group in groupby(sort, key=lambda line: line.game))

    @property
    def pit(self) -> Figures:
        """All tables together."""
        return together("All tables", self.lines)


def together(name: str, lines: Iterable[Figures]) -> Figures:
    """Several tables as one line; of the ways in which a number was had, the weakest."""
    found = list(lines)
    sums = {column: sum(getattr(line, column) for line in found) for column in _SUMMED}
    known = [line.theoretical for line in found if line.theoretical is not None]
    return Figures(
        name=name,
        game=found[0].game if found and len({line.game for line in found}) == 1 else "",
        opener_is=_weakest(line.opener_is for line in found),
        closer_is=_weakest(line.closer_is for line in found),
        drop_is=_weakest(line.drop_is for line in found),
        theoretical=sum(known, Fraction(0)) if found and len(known) == len(found) else None,
        **sums,
    )


def joined(table: Table, parts: Iterable[Figures]) -> Figures:
    """One table's figures of spans that join, in order, as one."""
    found = [part for part in parts if part.was_open]
    made = together(table.name, found)
    if not found:
        return replace(made, game=GAMES[table.game].title)
    first, last, edge = found[0], found[-1], edge_of(table)
    gaps = sum(after.opener_cents - before.closer_cents for before, after in pairwise(found))
    return replace(
        made,
        game=GAMES[table.game].title,
        opener_cents=first.opener_cents,
        opener_is=first.opener_is,
        closer_cents=last.closer_cents,
        closer_is=last.closer_is,
        between_cents=made.between_cents + gaps,
        theoretical=None if edge is None else sum((_theoretical(part, edge) for part in found), Fraction(0)),
    )


def _theoretical(part: Figures, edge: Fraction) -> Fraction:
    return part.theoretical if part.audited_cents and part.theoretical is not None else edge * part.handle_cents


def _weakest(ways: Iterable[str]) -> str:
    return next((way for way in ways if way != COUNTED), COUNTED)


def edge_of(table: Table) -> Fraction | None:
    """What the house wins of a bet on average, as a part of it, to nine digits; None where it is not known exactly."""
    known = maths.house_edge(GAMES[table.game], rules_of(table))
    return None if known is None else Fraction(round(known[0] * 10**9), 10**9)


# --- Reports ---------------------------------------------------------------------------------------------------


def day(on: date, tables: Sequence[Table] | None = None) -> Report:
    """A gaming day, of all tables or of some."""
    return between(*shifts.span(on), tables)


def by_shift(on: date, tables: Sequence[Table] | None = None) -> dict[str, Report]:
    """The shifts of a gaming day, in order."""
    return {one.name: between(one.start, one.end, tables) for one in shifts.shifts_of(on)}


def between(start: datetime, end: datetime, tables: Sequence[Table] | None = None) -> Report:
    """Any span of time. One that is not over yet ends with the newest entries."""
    chosen = Table.objects.order_by("name").select_related("book")
    if tables is not None:
        chosen = chosen.filter(pk__in=[table.pk for table in tables])
    return _report(start, end, [(table, table.book.head_seq) for table in chosen])


def as_of(start: datetime, end: datetime, through: Mapping[str, int]) -> Report:
    """The same as it was when the tables' books had been written through these entries."""
    tables = Table.objects.filter(name__in=list(through)).order_by("name")
    return _report(start, end, [(table, through[table.name]) for table in tables])


def _report(start: datetime, end: datetime, chosen: Sequence[tuple[Table, int]]) -> Report:
    read = _read(start, end, {table.book_id: head for table, head in chosen})
    lines = tuple(_figures(table, read[table.book_id], start, min(end, timezone.now())) for table, _ in chosen)
    through = {table.name: head for table, head in chosen}
    entries = {table.name: (read[table.book_id].first, read[table.book_id].last) for table, _ in chosen}
    return Report(start, end, lines, through, entries)


def arrived(since: Mapping[str, int], through: Mapping[str, int]) -> list[Late]:
    """The boxes counted and corrections signed at each table after one entry, through another."""
    tables = {table.book_id: table.name for table in Table.objects.filter(name__in=list(through))}
    spans = {
        "books": list(tables),
        "lows": [since.get(name, 0) for name in tables.values()],
        "heads": [through[name] for name in tables.values()],
    }
    boxes = [(book, _box(*row)) for book, *row in _rows(_BOXES.replace("{removed}", _COUNTED), spans)]
    signed = [(book, _correction(*row)) for book, *row in _rows(_CORRECTIONS, spans)]
    news = [(book, one) for book, one in boxes + signed if one.counts and one.seq > since.get(tables[book], 0)]
    anchors = {"books": [book for book, _ in news], "seqs": [one.anchor for _, one in news]}
    moments = {(book, seq): at for book, seq, at in _rows(_MOMENTS, anchors)} if news else {}
    return sorted(
        (
            Late(tables[book], one.seq, one.at, one.what, one.cents, moments[book, one.anchor], one.removal > 0)
            for book, one in news
            if (book, one.anchor) in moments
        ),
        key=lambda one: (one.at, one.table, one.seq),
    )


# --- Reading ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Door:
    """A table opened or closed."""

    seq: int
    at: datetime
    opens: bool
    rack_cents: int


@dataclass(slots=True)
class _Run:
    """A stretch in which a table was open, as far as it lies in the span."""

    opened: _Door
    closed: _Door | None
    first: int
    last: int
    opener_is: str
    sums: Mapping[str, int] = field(default_factory=dict)
    opener_cents: int = 0

    @property
    def closer_cents(self) -> int:
        """As counted; or what the transfers left there."""
        return self.closed.rack_cents if self.closed else self.opener_cents + self.sums["rack"]


@dataclass(frozen=True, slots=True)
class _After:
    """A box removed or counted, or a correction signed: where it belongs, and what it is worth to the house."""

    seq: int
    at: datetime
    what: str
    anchor: int
    cents: int
    removal: int = 0
    counts: bool = True


@dataclass(slots=True)
class _Read:
    """What was read of one table's book."""

    first: int
    last: int
    head: int
    rounds: int
    runs: list[_Run] = field(default_factory=list)
    afterwards: list[_After] = field(default_factory=list)
    worth: worth.Worth = worth.NOTHING


_BOUNDS: Final = """
    SELECT s.book, coalesce(lo.seq, 0), coalesce(hi.seq, 0),
        coalesce((SELECT round FROM ledger_logentry WHERE book_id = s.book AND subject = 'round' AND seq <= hi.seq
            ORDER BY seq DESC LIMIT 1), 0)
        - coalesce((SELECT round FROM ledger_logentry WHERE book_id = s.book AND subject = 'round' AND seq <= lo.seq
            ORDER BY seq DESC LIMIT 1), 0)
    FROM unnest(%(books)s::bigint[], %(heads)s::bigint[]) AS s (book, head)
    LEFT JOIN LATERAL ({before_start}) AS lo ON true
    LEFT JOIN LATERAL ({before_end}) AS hi ON true
""".format(  # noqa: S608
    before_start=mends.LAST_BEFORE.format(book="s.book", head="s.head", moment="%(start)s"),
    before_end=mends.LAST_BEFORE.format(book="s.book", head="s.head", moment="%(end)s"),
)
_DOORS: Final = f"""
    SELECT s.book, e.seq, {mends.TRUE_TIME.format(book="s.book", entry="e")}, e.kind, e.body
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
# The aggregate inside makes the planner look up each run by its numbers, and never read the whole table.
_SUMS: Final = """
    SELECT s.at, m.* FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[])
        WITH ORDINALITY AS s (book, low, high, at)
    CROSS JOIN LATERAL (SELECT
        coalesce(sum(CASE WHEN source_place = 'rack' THEN -amount_cents WHEN target_place = 'rack' THEN amount_cents
            END), 0) AS rack,
        coalesce(sum(CASE WHEN kind = 'fill' THEN amount_cents WHEN kind = 'reversal' AND source_place = 'rack'
            AND target_place = 'transit' THEN -amount_cents END), 0) AS fills,
        coalesce(sum(CASE WHEN kind = 'credit_out' THEN amount_cents WHEN kind = 'reversal' AND target_place = 'rack'
            AND source_place = 'transit' THEN -amount_cents END), 0) AS credits,
        coalesce(sum(CASE WHEN kind = 'drop' THEN amount_cents WHEN kind = 'reversal' AND source_place = 'drop_box'
            AND target_place = 'cash' THEN -amount_cents END), 0) AS cash,
        coalesce(sum(CASE WHEN kind IN ('stake', 'pay_pot', 'pay_seat') THEN amount_cents
            WHEN kind = 'reversal' AND ((source_place = 'layout' AND target_place = 'players')
            OR (target_place = 'seat' AND source_place IN ('pot', 'seat'))) THEN -amount_cents END), 0) AS handle,
        count(DISTINCT seq) FILTER (WHERE kind = 'stake') - count(DISTINCT seq) FILTER (WHERE kind = 'reversal'
            AND source_place = 'layout' AND target_place = 'players') AS rounds,
        coalesce(min(seq) FILTER (WHERE kind = 'drop'), 0) AS first_cash,
        coalesce(max(seq) FILTER (WHERE kind = 'drop'), 0) AS last_cash
        FROM ledger_transfer WHERE book_id = s.book AND seq > s.low AND seq <= s.high) AS m
"""
_SUM_NAMES: Final = ("rack", "fills", "credits", "cash", "handle", "rounds", "first_cash", "last_cash")
# A box that was taken from a closed table belongs to where the table was open last. What signs it is found by its slip,
# so that a day long past costs no more than yesterday.
_REMOVED: Final = """
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
_COUNTED: Final = """
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
    SELECT e.book_id, e.seq, {mends.TRUE_TIME.format(book="e.book_id", entry="e")}
    FROM unnest(%(books)s::bigint[], %(seqs)s::bigint[]) AS s (book, seq)
    JOIN ledger_logentry AS e ON e.book_id = s.book AND e.seq = s.seq
"""  # noqa: S608
_CORRECTIONS: Final = """
    SELECT s.book, e.seq, e.at, e.body, (
        SELECT max(r.seq) FROM ledger_logentry AS r WHERE r.book_id = s.book AND r.subject = 'round' AND r.legs > 0
            AND r.round = (convert_from(e.body, 'UTF8')::jsonb #>> '{content,correction,round}')::int)
    FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(heads)s::bigint[]) AS s (book, low, head)
    JOIN ledger_logentry AS e ON e.book_id = s.book AND e.seq > s.low AND e.seq <= s.head
        AND e.subject = 'correction' AND e.kind = 'signed'
    ORDER BY s.book, e.seq
"""


def _rows(sql: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())


def _read(start: datetime, end: datetime, heads: Mapping[int, int]) -> dict[int, _Read]:
    """Everything about a span of these books, each through an entry, in eight statements."""
    found = _bounds(start, end, heads)
    spans = _spans(found)
    for book, group in groupby(_rows(_DOORS, spans), key=itemgetter(0)):
        doors = [
            _Door(seq, at, kind == "opened", read_as(TableOpened if kind == "opened" else TableClosed, body).rack_cents)
            for _, seq, at, kind, body in group
        ]
        found[book].runs = list(_runs(doors, found[book]))
    _begin(found)
    _sum_up(found)
    audited = worth.of([(book, one.first, one.last) for book, one in found.items()])
    for one, exact in zip(found.values(), audited, strict=True):
        one.worth = exact
    _look_after(found, spans)
    return found


def _bounds(start: datetime, end: datetime, heads: Mapping[int, int]) -> dict[int, _Read]:
    asked = {"books": list(heads), "heads": list(heads.values()), "start": start, "end": end}
    return {book: _Read(low, high, heads[book], rounds) for book, low, high, rounds in _rows(_BOUNDS, asked)}


def _spans(found: Mapping[int, _Read]) -> dict[str, list[int]]:
    return {
        "books": list(found),
        "lows": [one.first for one in found.values()],
        "highs": [one.last for one in found.values()],
        "heads": [one.head for one in found.values()],
    }


def _look_after(found: Mapping[int, _Read], spans: Mapping[str, list[int]]) -> None:
    """The boxes and corrections of a span, whenever they were counted and signed."""
    shut = [bool(one.runs) and one.runs[-1].closed is not None for one in found.values()]
    for book, *row in _rows(_BOXES.replace("{removed}", _REMOVED), {**spans, "shut": shut}):
        found[book].afterwards.append(_box(*row))
    for book, *row in _rows(_CORRECTIONS, spans):
        found[book].afterwards.append(_correction(*row))


def _runs(doors: Sequence[_Door], read: _Read) -> Iterable[_Run]:
    for number, door in enumerate(doors):
        if not door.opens:
            continue
        closed = doors[number + 1] if number + 1 < len(doors) else None
        last = closed.seq if closed else read.last
        yield _Run(door, closed, max(door.seq, read.first), last, COUNTED if door.seq > read.first else LEDGER)


def _begin(found: Mapping[int, _Read]) -> None:
    """What lay in each rack when its run began, or when the span did."""
    cut = {book: one.runs[0] for book, one in found.items() if one.runs and one.runs[0].opener_is == LEDGER}
    parameters = {
        "books": list(cut),
        "lows": [run.first for run in cut.values()],
        "opened": [run.opened.seq for run in cut.values()],
        "racks": [run.opened.rack_cents for run in cut.values()],
    }
    racks = dict(_rows(_RACKS, parameters)) if cut else {}
    for book, one in found.items():
        for run in one.runs:
            run.opener_cents = int(racks[book]) if run.opener_is == LEDGER else run.opened.rack_cents


def _sum_up(found: Mapping[int, _Read]) -> None:
    runs = [(book, run) for book, one in found.items() for run in one.runs]
    parameters = {
        "books": [book for book, _ in runs],
        "lows": [run.first for _, run in runs],
        "highs": [run.last for _, run in runs],
    }
    for at, *sums in _rows(_SUMS, parameters) if runs else []:
        runs[at - 1][1].sums = dict(zip(_SUM_NAMES, map(int, sums), strict=True))


def _box(seq: int, at: datetime, body: bytes, removal: int, door: str | None, closed: int | None) -> _After:
    slip = read_as(SlipSigned, body).after
    anchor = closed if door == "closed" and closed else removal
    counted = seq != removal and slip.agreed is not None
    cents = slip.total_cents - slip.expected_cents if counted else 0
    return _After(seq, at, f"box {slip.box} counted", anchor, cents, removal, counts=counted)


def _correction(seq: int, at: datetime, body: bytes, settled: int | None) -> _After:
    event = read_as(CorrectionSigned, body)
    cents = event.off_cents - event.difference_cents
    return _After(seq, at, f"correction of round {event.correction.round}", settled or 0, cents)


# --- Figures ---------------------------------------------------------------------------------------------------


def _figures(table: Table, read: _Read, start: datetime, end: datetime) -> Figures:
    made = Figures(table.name, GAMES[table.game].title)
    if not read.runs:
        return made
    sums = {name: sum(run.sums[name] for run in read.runs) for name in _SUM_NAMES}
    first, last = read.runs[0], read.runs[-1]
    edge = edge_of(table)
    gaps = sum(after.opener_cents - before.closer_cents for before, after in pairwise(read.runs))
    hours = [_seconds(max(run.opened.at, start), run.closed.at if run.closed else end) for run in read.runs]
    return replace(
        made,
        opener_cents=first.opener_cents,
        opener_is=first.opener_is,
        closer_cents=last.closer_cents,
        closer_is=COUNTED if last.closed else LEDGER,
        between_cents=gaps,
        fills_cents=sums["fills"],
        credits_cents=sums["credits"],
        cash_cents=sums["cash"],
        box_variance_cents=sum(
            one.cents for one in read.afterwards if one.removal and read.first < one.anchor <= read.last
        ),
        drop_is=_drop_is(read),
        corrections_cents=_corrections(read),
        handle_cents=sums["handle"],
        rounds=sums["rounds"] if table.is_banked else read.rounds,
        open_seconds=sum(hours),
        theoretical=None if edge is None else read.worth.cents + edge * (sums["handle"] - read.worth.staked_cents),
        audited_cents=read.worth.staked_cents,
    )


def _seconds(since: datetime, until: datetime) -> int:
    """Whole seconds of the clock, so that stretches that join add up."""
    return int(until.timestamp()) - int(since.timestamp())


def _corrections(read: _Read) -> int:
    """Those of this span's rounds, less those that moved this span's chips."""
    signed = [one for one in read.afterwards if not one.removal]
    named = sum(one.cents for one in signed if read.first < one.anchor <= read.last)
    moved = sum(one.cents for one in signed if read.first < one.seq <= read.last)
    return named - moved


def _drop_is(read: _Read) -> str:
    """Whether every box with cash of this span was counted."""
    dropped = [run.sums for run in read.runs if run.sums["last_cash"]]
    if not dropped:
        return COUNTED
    first, last = dropped[0]["first_cash"], dropped[-1]["last_cash"]
    removed = sorted({one.removal for one in read.afterwards if one.removal > first})
    counted = {one.removal for one in read.afterwards if one.removal and one.counts}
    needed = [one for number, one in enumerate(removed) if number == 0 or removed[number - 1] < last]
    return COUNTED if needed and needed[-1] > last and counted.issuperset(needed) else EXPECTED
