"""Reading slips back: those in progress on the whole floor, and one with every signature, its time and its hash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection

from ledger import cage, models
from ledger.models import SlipSignature
from ledger.proof.slip_name import SlipName
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
"""What a slip is called that is at no step; one that is at a step is called by it."""


@dataclass(frozen=True, slots=True)
class SlipStep:
    """One step as it stands on the paper, with its signature once it is given."""

    stage: Stage
    by: GivenSignature | None
    moment: datetime | None
    hash: str = ""
    body: bytes = b""
    """The entry that it is."""
    in_house: bool = False

    @property
    def signed_with(self) -> str:
        """What signed beside badge and PIN: "Cage 1 and a passkey"; read only for whoever asks."""
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
    """A slip with its table, its lines and when they were signed."""

    table: Table | None
    """None: a slip of the house."""
    slip: Slip
    lines: tuple[SlipStep, ...]

    @property
    def pk(self) -> int:
        """The table's row in addresses; 0 stands for the house."""
        return self.table.pk if self.table else 0

    @property
    def book_id(self) -> int:
        """In which book its entries stand."""
        return _book(self.table)

    @property
    def where(self) -> str:
        """Whose slip it is."""
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
        """The state in a word or two."""
        due = self.slip.due
        return STATES.get(self.state_code, f"T{due.to_be[1:]}" if due else "")

    @property
    def is_open(self) -> bool:
        """Whether something is left to sign."""
        return self.slip.due is not None

    @property
    def is_voidable(self) -> bool:
        """Whether somebody may still ask for it to be void."""
        series = self.slip.series
        return series.is_voidable and not self.slip.is_to_be_void and (self.is_open or not series.completed_help)

    @property
    def since(self) -> datetime | None:
        """When it was signed last."""
        return max((line.moment for line in self.lines if line.moment), default=None)

    @property
    def counts_shown(self) -> tuple[tuple[str, Chips], ...]:
        """Who counted what: only once nobody is to count unseen any more."""
        if self.is_open and self.slip.counts:
            return ()
        names = [line.by.name for line in self.lines if line.by and line.stage.is_count]
        return tuple(zip(names, self.slip.counts, strict=True))

    @property
    def apart_shown(self) -> tuple[QuestionedNote, ...]:
        """The notes that the agreed count put apart: only once nobody is to count unseen any more."""
        return () if self.is_open else self.slip.apart_agreed

    @property
    def counts_differ(self) -> bool:
        """Whether it is counted on because no two counts agree yet."""
        return self.is_open and len(self.slip.counts) > 1 and self.slip.agreed is None

    @property
    def variance_cents(self) -> int | None:
        """What was counted more or less than the transfers say; None while nothing is agreed upon."""
        return None if self.slip.agreed is None else self.slip.variance_cents

    @property
    def says(self) -> list[tuple[str, str]]:
        """What else is written on it, by what was asked."""
        facts = [field for stage in self.slip.series.stages for field in stage.fields]
        return [
            (field.label, _plain(field, self.slip.facts[field.name]))
            for field in facts
            if field.name in self.slip.facts
        ]

    @property
    def note_shown(self) -> bool:
        """Whether what it is held against by pieces may be read: once nobody is to count unseen any more."""
        return bool(self.slip.noted) and not self.is_open

    @property
    def is_held_against(self) -> bool:
        """Whether a difference counts as one."""
        return self.slip.series.count is not None and not self.slip.series.count.rest

    @property
    def denominated(self) -> list[tuple[Denomination | None, int, int]]:
        """What is to be moved or was agreed upon: the chip (None: a note or coin), its value, how many."""
        counted = self.slip.chips or self.slip.agreed or ()
        chips = {} if self.slip.series.cash else {chip.value_cents: chip for chip in Denomination.objects.all()}
        return [(chips.get(value), value, count) for value, count in counted]


def _plain(field: SlipField, text: str) -> str:
    return f"{datetime.fromisoformat(text):%-d %b %Y, %H:%M}" if field.kind == MOMENT else text


def seen_by(role: str) -> list[str]:
    """The series whose slips a role sees, by name. A dealer sees them at their own table alone."""
    return sorted(name for name, series in SLIPS.items() if role in series.seen_by)


def may_see(role: str, series: SlipType, table: Table | None, own_table: Table | None) -> bool:
    """Whether a slip of this series at this table is any business of people of a role."""
    if (table is None) is not series.in_house or role not in series.seen_by:
        return False
    return role != Role.DEALER or own_table == table


def in_progress(role: str, own_table: Table | None = None) -> list[SlipRecord]:
    """The slips in progress on the whole floor that people of a role may see, those waiting longest first."""
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
    """A slip of a table or of the house, in progress or long complete."""
    rows = models.Slip.objects.filter(series=name.series, year=name.year, number=name.number)
    row = rows.filter(book_id=_book(table)).first()
    return None if row is None else _latest([(table, row)])[0]


# Of each series by itself: a series that has few slips is found without reading those of all others.
_NEWEST: Final = """
    SELECT newest.* FROM unnest(%(series)s::text[]) AS seen (series) CROSS JOIN LATERAL (
        SELECT id, series, year, number, previous, book_id, seq, total_cents FROM ledger_slip
        WHERE series = seen.series AND (%(before)s::bigint IS NULL OR id < %(before)s::bigint)
        ORDER BY id DESC LIMIT %(count)s
    ) AS newest ORDER BY newest.id DESC LIMIT %(count)s
"""


def recent(series: Iterable[str], before: int | None = None, count: int = PAGE) -> list[tuple[int, SlipRecord]]:
    """The latest slips of these series, with the row that each has; older ones than a row of that number."""
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, {"series": sorted(set(series)), "before": before or None, "count": count})
        page = [models.Slip(*row) for row in cursor.fetchall()]
    tables = {table.book_id: table for table in Table.objects.filter(book_id__in={row.book_id for row in page})}
    placed = [(tables.get(row.book_id), row) for row in page if row.series in SLIPS]
    return list(zip([row.pk for _, row in placed], _latest(placed), strict=True))


def _book(table: Table | None) -> int:
    return table.book_id if table else cage.open_house().pk


def _latest(rows: Sequence[tuple[Table | None, models.Slip]]) -> list[SlipRecord]:
    """Slips as their last signatures left them."""
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
    """Slips on paper. What all their signatures say is read in one query, however many there are."""
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
    """Every step that was signed or is to be, in order."""
    signed = [stage for stage in map(slip.series.stage, slip.stages) if stage is not None]
    if slip.is_void:
        return signed
    if slip.is_to_be_void:
        return [*signed, VOID[1]]
    ahead = [stage for stage in slip.series.stages if stage.name not in slip.stages]
    return [*signed, *(ahead or ([slip.due] if slip.due else []))]


def _entries(keys: Iterable[tuple[int, int]]) -> dict[tuple[int, int], tuple[datetime, bytes, str]]:
    """When the entries of signatures were written, what they say, and their hashes."""
    pairs = sorted(set(keys))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT w.book, w.seq, at, body, encode(hash, 'hex')"
            " FROM unnest(%s::bigint[], %s::bigint[]) AS w (book, seq)"
            " JOIN ledger_logentry ON book_id = w.book AND ledger_logentry.seq = w.seq",
            [[book for book, _ in pairs], [seq for _, seq in pairs]],
        )
        return {(book, seq): (moment, bytes(body), digest) for book, seq, moment, body, digest in cursor.fetchall()}
