"""Slip records for reading: all slips in progress, and a slip with each signature, its time and its hash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ledger import cage, models
from ledger.models import SlipSignature
from ledger.proof.slip_name import SlipName
from ledger.raw_rows import fetch_rows
from tables.cage import cage_desk
from tables.log.catalog import read_as
from tables.log.entries.slips import HouseSlipSigned, SlipSigned
from tables.log.slip_types import MOMENT, SLIPS, VOID, Chips, SlipField, SlipType, Stage
from tables.log.slip_workflow import GivenSignature, QuestionedNote, Slip
from tables.models import Denomination, Table
from tables.roles import Role
from tables.state import table_state

PAGE: Final = 50
STATES: Final = {
    "void": "Void",
    "to_be_void": "To be made void",
    "came_to_nothing": "Counts differ: nothing came of it",
    "complete": "Complete",
}
"""State labels of slips without a step that is due. Other slips have the label of their next step."""


@dataclass(frozen=True, slots=True)
class SlipStep:
    """One step on a printed slip, with its signature once it is signed."""

    stage: Stage
    by: GivenSignature | None
    moment: datetime | None
    hash: str = ""
    body: bytes = b""
    """The body of the step's log entry; empty until it is signed."""
    in_house: bool = False

    @property
    def signed_with(self) -> str:
        """The credentials used besides badge and PIN, as in "Cage 1 and a passkey"; empty if none.

        The entry is decoded on each read, so only pages that show it pay for it.
        """
        if not self.body:
            return ""
        attested = read_as(HouseSlipSigned if self.in_house else SlipSigned, self.body).attested
        if attested is None:
            return ""
        return " and ".join(
            [attested.terminal] * attested.is_by_terminal + ["a passkey"] * (attested.passkey is not None)
        )


@dataclass(frozen=True, slots=True)
class SlipRecord:
    """A slip with its table, its steps and their times."""

    table: Table | None
    """None: a slip of the site."""
    slip: Slip
    lines: tuple[SlipStep, ...]

    @property
    def pk(self) -> int:
        """The table's number in URLs; 0 for the site."""
        return self.table.pk if self.table else 0

    @property
    def book_id(self) -> int:
        """The log of its entries."""
        return _book(self.table)

    @property
    def where(self) -> str:
        """The place's name."""
        return self.table.name if self.table else "House"

    @property
    def state_code(self) -> str:
        """A key of ``STATES``, or the name of the step that is due."""
        if self.slip.is_void:
            return "void"
        if self.slip.is_to_be_void:
            return "to_be_void"
        if self.slip.due is not None:
            return self.slip.due.name
        return "came_to_nothing" if self.slip.came_to_nothing else "complete"

    @property
    def state(self) -> str:
        """The state as a short label."""
        due = self.slip.due
        return STATES.get(self.state_code, f"T{due.to_be[1:]}" if due else "")

    @property
    def is_open(self) -> bool:
        """Whether a signature is due."""
        return self.slip.due is not None

    @property
    def is_voidable(self) -> bool:
        """Whether a void may still be requested."""
        series = self.slip.series
        return series.is_voidable and not self.slip.is_to_be_void and (self.is_open or not series.completed_help)

    @property
    def since(self) -> datetime | None:
        """The time of the latest signature; None before the first."""
        return max((line.moment for line in self.lines if line.moment), default=None)

    @property
    def began(self) -> datetime:
        """The time of the first signature."""
        return min(line.moment for line in self.lines if line.moment)

    @property
    def counts_shown(self) -> tuple[tuple[str, Chips], ...]:
        """Each counter's name and count. Empty while the slip is open: a further count may still have to be blind."""
        if self.is_open and self.slip.counts:
            return ()
        names = [line.by.name for line in self.lines if line.by and line.stage.is_count]
        return tuple(zip(names, self.slip.counts, strict=True))

    @property
    def apart_shown(self) -> tuple[QuestionedNote, ...]:
        """The notes in question of the agreed count. Empty while the slip is open: a further count may be blind."""
        return () if self.is_open else self.slip.apart_agreed

    @property
    def counts_differ(self) -> bool:
        """Whether the slip is still being counted because no two counts agree."""
        return self.is_open and len(self.slip.counts) > 1 and self.slip.agreed is None

    @property
    def variance_cents(self) -> int | None:
        """Counted less expected, in cents; None until a count is agreed."""
        return None if self.slip.agreed is None else self.slip.variance_cents

    @property
    def says(self) -> list[tuple[str, str]]:
        """Labels and values of the slip's fields."""
        facts = [field for stage in self.slip.series.stages for field in stage.fields]
        return [
            (field.label, _plain(field, self.slip.facts[field.name]))
            for field in facts
            if field.name in self.slip.facts
        ]

    @property
    def note_shown(self) -> bool:
        """Whether the noted pieces may be shown: not while a further count may have to be blind."""
        return bool(self.slip.noted) and not self.is_open

    @property
    def is_held_against(self) -> bool:
        """Whether a difference between count and ledger is a variance."""
        return self.slip.series.count is not None and not self.slip.series.count.rest

    @property
    def denominated(self) -> list[tuple[Denomination | None, int, int]]:
        """The chips to move or agreed on: the chip (None for a note or coin), its value in cents, and the number."""
        counted = self.slip.chips or self.slip.agreed or ()
        chips = {} if self.slip.series.cash else {chip.value_cents: chip for chip in Denomination.objects.all()}
        return [(chips.get(value), value, count) for value, count in counted]


def _plain(field: SlipField, text: str) -> str:
    return f"{datetime.fromisoformat(text):%-d %b %Y, %H:%M}" if field.kind == MOMENT else text


def seen_by(role: str) -> list[str]:
    """The names of the slip series visible to a role. A dealer sees only slips of their own table."""
    return sorted(name for name, series in SLIPS.items() if role in series.seen_by)


def may_see(role: str, series: SlipType, table: Table | None, own_table: Table | None) -> bool:
    """Whether a role may see slips of this series at this table (None: the site). ``own_table``: the dealer's table."""
    if (table is None) is not series.in_house or role not in series.seen_by:
        return False
    return role != Role.DEALER or own_table == table


def in_progress(role: str, own_table: Table | None = None) -> list[SlipRecord]:
    """All slips in progress that a role may see, the longest wait first."""
    tables = list(Table.objects.select_related("book"))
    standings = table_state.at_all([table_state.head_of(table) for table in tables])
    waiting: list[tuple[Table | None, Slip]] = [
        (table, slip)
        for table in tables
        for slip in standings[table.book_id].slips
        if may_see(role, slip.series, table, own_table)
    ]
    ours = cage_desk.in_progress()
    waiting += [(None, slip) for slip in ours if may_see(role, slip.series, None, own_table)]
    return sorted(_sheets(waiting), key=lambda sheet: sheet.since.timestamp() if sheet.since else 0)


def sheet_of(table: Table | None, name: SlipName) -> SlipRecord | None:
    """A slip of a table or of the site (``table`` None), in progress or complete; None if there is none."""
    rows = models.Slip.objects.filter(series=name.series, year=name.year, number=name.number)
    row = rows.filter(book_id=_book(table)).first()
    return None if row is None else _latest([(table, row)])[0]


# Of each series by itself: a series that has few slips is found without reading those of all others.
_NEWEST: Final = """
    SELECT newest.* FROM unnest(%(series)s::text[]) AS seen (series) CROSS JOIN LATERAL (
        SELECT id, series, year, number, previous, book_id, seq, total_cents FROM ledger_slip
        WHERE series = seen.series AND (%(before)s::bigint IS NULL OR id < %(before)s::bigint)
        {within}
        ORDER BY id DESC LIMIT %(count)s
    ) AS newest ORDER BY newest.id DESC LIMIT %(count)s
"""


# A slip begins with the entry of its first signature.
_WITHIN: Final = """AND EXISTS (
            SELECT FROM ledger_logentry AS entry
            WHERE entry.book_id = ledger_slip.book_id AND entry.seq = ledger_slip.seq
            AND entry.at >= coalesce(%(since)s::timestamptz, '-infinity')
            AND entry.at < coalesce(%(until)s::timestamptz, 'infinity'))"""


def recent(
    series: Iterable[str],
    before: int | None = None,
    count: int = PAGE,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[tuple[int, SlipRecord]]:
    """The latest slips of these series, each with its row number, newest first; with ``before``, only older rows, and
    with ``since`` and ``until``, only those that began in this span of time."""
    statement = _NEWEST.format(within=_WITHIN if since or until else "")
    facts = {"series": sorted(set(series)), "before": before or None, "count": count, "since": since, "until": until}
    page = [models.Slip(*row) for row in fetch_rows(statement, facts)]
    tables = {table.book_id: table for table in Table.objects.filter(book_id__in={row.book_id for row in page})}
    placed = [(tables.get(row.book_id), row) for row in page if row.series in SLIPS]
    return list(zip([row.pk for _, row in placed], _latest(placed), strict=True))


def pages(series: Iterable[str]) -> Iterator[list[SlipRecord]]:
    """All slips of these series, the newest first, a page at a time."""
    before: int | None = None
    while page := recent(series, before):
        yield [sheet for _, sheet in page]
        before = page[-1][0]


def _book(table: Table | None) -> int:
    return table.book_id if table else cage.open_house().pk


def _latest(rows: Sequence[tuple[Table | None, models.Slip]]) -> list[SlipRecord]:
    """The slips after their last signatures."""
    newest: dict[int, SlipSignature] = {}
    for signature in SlipSignature.objects.filter(slip__in=[row.pk for _, row in rows]).order_by("seq"):
        newest[signature.slip_id] = signature
    entries = _entries((signature.book_id, signature.seq) for signature in newest.values())
    slips: list[tuple[Table | None, Slip]] = []
    for table, row in rows:
        body = entries[row.book_id, newest[row.pk].seq][1]
        slips.append((table, read_as(SlipSigned if table else HouseSlipSigned, body).after))
    return _sheets(slips)


def _sheets(slips: Sequence[tuple[Table | None, Slip]]) -> list[SlipRecord]:
    """The slip records of these slips. All their signatures are read in one query."""
    books = {table: _book(table) for table, _ in slips}
    entries = _entries((books[table], signed.seq) for table, slip in slips for signed in slip.signed)
    sheets = []
    for table, slip in slips:
        signatures = {signed.stage: signed for signed in slip.signed}
        lines = []
        for stage in _stages(slip):
            by = signatures.get(stage.name)
            moment, body, digest = entries[books[table], by.seq] if by else (None, b"", "")
            lines.append(SlipStep(stage, by, moment, digest, body, in_house=table is None))
        sheets.append(SlipRecord(table, slip, tuple(lines)))
    return sheets


def _stages(slip: Slip) -> list[Stage]:
    """All steps that are signed or still to be signed, in order."""
    signed = [stage for stage in map(slip.series.stage, slip.stages) if stage is not None]
    if slip.is_void:
        return signed
    if slip.is_to_be_void:
        return [*signed, VOID[1]]
    ahead = [stage for stage in slip.series.stages if stage.name not in slip.stages]
    return [*signed, *(ahead or ([slip.due] if slip.due else []))]


def _entries(keys: Iterable[tuple[int, int]]) -> dict[tuple[int, int], tuple[datetime, bytes, str]]:
    """Time, body and hex hash of log entries, by log and sequence number."""
    pairs = sorted(set(keys))
    rows = fetch_rows(
        "SELECT w.book, w.seq, at, body, encode(hash, 'hex')"
        " FROM unnest(%s::bigint[], %s::bigint[]) AS w (book, seq)"
        " JOIN ledger_logentry ON book_id = w.book AND ledger_logentry.seq = w.seq",
        [[book for book, _ in pairs], [seq for _, seq in pairs]],
    )
    return {(book, seq): (moment, bytes(body), digest) for book, seq, moment, body, digest in rows}
