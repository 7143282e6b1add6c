"""Reading slips back: those in progress on the whole floor, and one with every signature, its time and its hash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection
from django.db.models import QuerySet

from ledger import cage, models
from ledger.models import SlipSignature
from tables import standing
from tables.log import paper
from tables.log.catalog import read_as
from tables.log.entries.slips import HouseSlipSigned, SlipSigned
from tables.log.paper import Chips, Signed, Slip, Stage
from tables.models import Denomination, Staff, Table
from tables.roles import Role
from tables.slips import cage_desk

PAGE: Final = 50

SEEN_BY: Final = {
    Role.PIT_BOSS: frozenset(paper.STAGES) - {"drop", "cage"},
    Role.CASHIER: frozenset({*paper.VOIDABLE, *paper.IN_THE_HOUSE}),
    Role.SECURITY: frozenset({*paper.VOIDABLE, "drop"}),
    Role.COUNTER: frozenset({"drop"}),
    Role.OPERATOR: frozenset(paper.STAGES),
    Role.AUDITOR: frozenset(paper.STAGES),
    Role.DEALER: frozenset(paper.STAGES) - {"drop", *paper.IN_THE_HOUSE},
}
"""The series that each role sees. A dealer sees them at their own table alone."""


@dataclass(frozen=True, slots=True)
class Line:
    """One signature as it stands on the paper."""

    stage: Stage
    by: Signed | None
    at: datetime | None
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A slip with its table, its lines and when they were signed."""

    table: Table | None
    """None: a slip of the house."""
    slip: Slip
    lines: tuple[Line, ...]

    @property
    def pk(self) -> int:
        """The table's row in addresses; 0 stands for the house."""
        return self.table.pk if self.table else 0

    @property
    def where(self) -> str:
        """Whose slip it is."""
        return self.table.name if self.table else "Cage"

    @property
    def state(self) -> str:
        """Where it stands, in a word or two."""
        if "voided" in self.slip.stages:
            return "Void"
        if "void_asked" in self.slip.stages:
            return "To be made void"
        if self.slip.due is not None:
            return f"T{self.slip.due.to_be[1:]}"
        if self.slip.series in paper.COUNTS and self.slip.agreed is None:
            return "Counts differ: nothing came of it"
        return "Complete"

    @property
    def is_open(self) -> bool:
        """Whether something is left to sign."""
        return self.slip.due is not None

    @property
    def since(self) -> datetime | None:
        """When it was signed last."""
        return max((line.at for line in self.lines if line.at), default=None)

    @property
    def counts_shown(self) -> tuple[tuple[str, Chips], ...]:
        """Who counted what: only once nobody is to count unseen any more."""
        if self.slip.due is not None and self.slip.counts:
            return ()
        names = [one.name for one in self.slip.signed if one.stage.startswith(("counted", "recounted"))]
        return tuple(zip(names, self.slip.counts, strict=True))

    @property
    def counts_differ(self) -> bool:
        """Whether a box is counted on because no two counts agree yet."""
        return self.slip.series == "drop" and len(self.slip.counts) > 1 and self.slip.agreed is None

    @property
    def variance_cents(self) -> int | None:
        """What was counted more or less than the transfers say; None while nothing is agreed upon."""
        return None if self.slip.agreed is None else self.slip.total_cents - self.slip.expected_cents

    @property
    def denominated(self) -> list[tuple[Denomination | None, int, int]]:
        """What is to be moved or was agreed upon: the chip (None: a note or coin), its value, how many."""
        chips = self.slip.chips or self.slip.agreed or ()
        known = {one.value_cents: one for one in Denomination.objects.all()} if self.slip.series != "drop" else {}
        return [(known.get(value), value, count) for value, count in chips]


def may_see(viewer: Staff, series: str, table: Table | None, here: Table | None) -> bool:
    """Whether a slip of this series at this table is any of their business."""
    if (table is None) is not (series in paper.IN_THE_HOUSE):
        return False
    if series not in SEEN_BY.get(Role(viewer.role), ()):
        return False
    return viewer.role != Role.DEALER or here == table


def in_progress(viewer: Staff, here: Table | None = None) -> list[Told]:
    """The slips in progress on the whole floor that somebody may see, those waiting longest first."""
    tables = list(Table.objects.select_related("book"))
    standings = standing.at_all([standing.head_of(one) for one in tables])
    found: list[tuple[Table | None, Slip]] = [
        (table, slip)
        for table in tables
        for slip in standings[table.book_id].slips
        if may_see(viewer, slip.series, table, here)
    ]
    ours = cage_desk.in_progress(cage.open_house().pk)
    found += [(None, slip) for slip in ours if may_see(viewer, slip.series, None, here)]
    return sorted(_told(found), key=lambda told: told.since.timestamp() if told.since else 0)


def one(table: Table | None, name: str) -> Told | None:
    """A slip of a table or of the house, in progress or long complete."""
    series, year, number = name.split("/")
    found = models.Slip.objects.filter(book_id=_book(table), series=series, year=year, number=number).first()
    return None if found is None else _latest([(table, found)])[0]


def recent(series: Iterable[str], before: int | None = None, count: int = PAGE) -> list[tuple[int, Told]]:
    """The latest slips of these series, with the row that each has; older ones than a row of that number."""
    rows: QuerySet[models.Slip] = models.Slip.objects.filter(series__in=list(series)).order_by("-pk")
    page = list(rows.filter(pk__lt=before)[:count] if before else rows[:count])
    tables = {one.book_id: one for one in Table.objects.filter(book_id__in={row.book_id for row in page})}
    known = [(tables.get(row.book_id), row) for row in page if row.series in paper.STAGES]
    return list(zip([row.pk for _, row in known], _latest(known), strict=True))


def _book(table: Table | None) -> int:
    return table.book_id if table else cage.open_house().pk


def _latest(rows: Sequence[tuple[Table | None, models.Slip]]) -> list[Told]:
    """Slips as their last signatures left them."""
    last: dict[int, SlipSignature] = {}
    signed = SlipSignature.objects.filter(slip__in=[row.pk for _, row in rows]).order_by("seq")
    for signature in signed:
        last[signature.slip_id] = signature
    bodies = _entries((signature.book_id, signature.seq) for signature in last.values())
    found: list[tuple[Table | None, Slip]] = []
    for table, row in rows:
        body = bodies[row.book_id, last[row.pk].seq][1]
        found.append((table, read_as(SlipSigned if table else HouseSlipSigned, body).now))
    return _told(found)


def _told(found: Sequence[tuple[Table | None, Slip]]) -> list[Told]:
    books = {table: _book(table) for table, _ in found}
    entries = _entries((books[table], one.seq) for table, slip in found for one in slip.signed)
    told = []
    for table, slip in found:
        lines = []
        for stage in _stages(slip):
            by = next((one for one in slip.signed if one.stage == stage.name), None)
            at, _, digest = entries[books[table], by.seq] if by else (None, b"", "")
            lines.append(Line(stage, by, at, digest))
        told.append(Told(table, slip, tuple(lines)))
    return told


def _stages(slip: Slip) -> list[Stage]:
    """Every step that was signed or is to be, in order."""
    own = {stage.name: stage for stage in (*paper.STAGES[slip.series], *paper.VOID)}
    stages = [own.get(name) or own[paper.kind_of(name)]._replace(name=name) for name in slip.stages]
    if "voided" in slip.stages:
        return stages
    if "void_asked" in slip.stages:
        return [*stages, paper.VOID[1]]
    ahead = [stage for stage in paper.STAGES[slip.series] if stage.name not in slip.stages]
    if not ahead and slip.due is not None:
        ahead = [slip.due]
    return [*stages, *ahead]


def _entries(which: Iterable[tuple[int, int]]) -> dict[tuple[int, int], tuple[datetime, bytes, str]]:
    """When the entries of signatures were written, what they say, and their hashes."""
    pairs = sorted(set(which))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT w.book, w.seq, at, body, encode(hash, 'hex')"
            " FROM unnest(%s::bigint[], %s::bigint[]) AS w (book, seq)"
            " JOIN ledger_logentry ON book_id = w.book AND ledger_logentry.seq = w.seq",
            [[book for book, _ in pairs], [seq for _, seq in pairs]],
        )
        return {(book, seq): (at, bytes(body), digest) for book, seq, at, body, digest in cursor.fetchall()}
