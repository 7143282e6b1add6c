"""Corrections for display: the floor's list, its pages, and single corrections with their signatures.

Each correction number and each signature has a database row in addition to its log entry. Queries use these rows, so
the cost of a page does not grow with the number of corrections.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from ledger.proof.slip_name import SlipName
from ledger.raw_rows import fetch_row, fetch_rows
from tables.log.catalog import read
from tables.log.corrections import Correction
from tables.log.entries.corrections import AboutCorrection, CorrectionProposed
from tables.log.slip_types import CORRECTION
from tables.log.state import UNREADABLE
from tables.models import Table
from tables.state import table_state

LOOKED_AT: Final = 1_000
"""Numbers whose state one page looks at."""

Number = tuple[int, int]
"""Year and number of a correction."""


@dataclass(frozen=True, slots=True)
class CorrectionRecord:
    """A correction with its signatures, to be read."""

    table_id: int
    table: str
    correction: Correction
    state: str
    """proposed, signed or declined."""
    proposed_at: datetime
    by: str = ""
    """Who signed or declined it."""
    decided_at: datetime | None = None
    seq: int = 0
    """The entry that signed or declined it, or else proposed it."""
    text: str = ""
    off_cents: int = 0
    """What the mispay had left in the rack beyond what the ledger said, booked with it."""

    @property
    def unbooked(self) -> str:
        """Why nothing was booked for the rack with a signed correction; empty where something was."""
        if self.off_cents:
            return ""
        if self.correction.off_cents:
            return "a count of the rack had taken it over already"
        return "what was handed over is what the ledger says, so the rack was right"

    @property
    def number(self) -> Number:
        """Its place among all corrections."""
        name = SlipName.parse(self.correction.slip)
        return name.year, name.number


# --- By pages --------------------------------------------------------------------------------------------------

_NUMBERS: Final = """
    SELECT s.year, s.number, s.id, coalesce(
        (SELECT stage FROM ledger_slipsignature WHERE slip_id = s.id AND stage <> 'proposed' LIMIT 1), 'proposed')
    FROM ledger_slip AS s WHERE s.series = %(series)s
        AND (%(year)s::int IS NULL OR (s.year, s.number) < (%(year)s::int, %(number)s::int))
    ORDER BY s.year DESC, s.number DESC LIMIT %(count)s
"""
_IDS: Final = """
    SELECT s.id FROM unnest(%s::int[], %s::int[]) AS wanted (year, number)
    JOIN ledger_slip AS s ON s.series = %s AND s.year = wanted.year AND s.number = wanted.number
"""
_SIGNED: Final = """
    SELECT t.id, t.name, e.seq, e.at, e.by, e.kind, e.body
    FROM ledger_slipsignature AS signature
    JOIN ledger_logentry AS e ON e.book_id = signature.book_id AND e.seq = signature.seq
    JOIN tables_table AS t ON t.book_id = signature.book_id
    WHERE signature.slip_id = ANY(%s) ORDER BY e.at, e.seq
"""


def page(before: Number | None, count: int, state: str = "") -> tuple[list[CorrectionRecord], Number | None]:
    """Up to ``count`` corrections, those that were proposed last first, those before a number; and the number before
    which the next page begins, None at the end. Of a state, it may hold fewer although more follow."""
    if state == "proposed":
        papers = [paper for paper in _papers(_ids(_waiting())) if before is None or paper.number < before]
        return papers[:count], papers[count - 1].number if len(papers) > count else None
    looked_at = LOOKED_AT if state else count
    rows = _numbers(before, looked_at + 1)
    matches = [row for row in rows[:looked_at] if state in ("", row[3])]
    last_row = None
    if len(matches) > count:
        last_row = matches[count - 1]
    elif len(rows) > looked_at:
        last_row = rows[looked_at - 1]
    return _papers([row[2] for row in matches[:count]]), (last_row[0], last_row[1]) if last_row else None


def listed(count: int) -> tuple[list[CorrectionRecord], int]:
    """Up to ``count`` corrections: those that wait for a signature, then the newest; and how many there ever were."""
    waiting, newest = page(None, count, "proposed")[0], page(None, count)[0]
    settled = [paper for paper in newest if paper.state != "proposed"]
    every = int(fetch_row("SELECT count(*) FROM ledger_slip WHERE series = %s", [CORRECTION.name])[0])
    return (waiting + settled)[:count], every


def of_slip(book_id: int, name: SlipName) -> CorrectionRecord | None:
    """One correction of a table."""
    rows = fetch_rows(
        "SELECT id FROM ledger_slip WHERE series = %s AND year = %s AND number = %s AND book_id = %s",
        [CORRECTION.name, min(name.year, 32_767), min(name.number, 2**31 - 1), book_id],
    )
    papers = _papers([pk for (pk,) in rows])
    return papers[0] if papers else None


def _numbers(before: Number | None, count: int) -> list[tuple[int, int, int, str]]:
    year, number = before or (None, None)
    facts = {"series": CORRECTION.name, "year": year, "number": number, "count": count}
    return fetch_rows(_NUMBERS, facts)


def _waiting() -> list[Number]:
    """The corrections of all tables that wait for a signature."""
    states = table_state.at_all([table_state.head_of(table) for table in Table.objects.select_related("book")])
    numbers: list[Number] = []
    for state in states.values():
        with suppress(*UNREADABLE):
            names = [SlipName.parse(waiting.slip) for waiting in state.corrections]
            numbers += [(name.year, name.number) for name in names]
    return numbers


def _ids(numbers: Sequence[Number]) -> list[int]:
    columns = [[year for year, _ in numbers], [number for _, number in numbers], CORRECTION.name]
    return [pk for (pk,) in fetch_rows(_IDS, columns)] if numbers else []


def _papers(ids: Collection[int]) -> list[CorrectionRecord]:
    """The newest number first."""
    return (
        sorted(_made_of(fetch_rows(_SIGNED, [list(ids)])), key=lambda paper: paper.number, reverse=True) if ids else []
    )


# --- By table and round ----------------------------------------------------------------------------------------

_ALL: Final = """
    SELECT t.id, t.name, e.seq, e.at, e.by, e.kind, e.body
    FROM tables_table AS t JOIN ledger_logentry AS e ON e.book_id = t.book_id AND e.subject = 'correction'
    WHERE (%(book)s::bigint IS NULL OR e.book_id = %(book)s) AND (%(round)s::bytea IS NULL
        OR position(%(round)s::bytea IN e.body) > 0)
    ORDER BY e.at, e.seq
"""


def of(book_id: int | None = None, round_: int | None = None) -> list[CorrectionRecord]:
    """Corrections of the floor, of a table, or of one of its rounds; the newest first."""
    piece = None if round_ is None else f'"round":{round_},'.encode()
    papers = _made_of(fetch_rows(_ALL, {"book": book_id, "round": piece}))
    return [paper for paper in papers if round_ is None or paper.correction.round == round_][::-1]


def _made_of(rows: Iterable[tuple[Any, ...]]) -> list[CorrectionRecord]:
    """Papers of their entries, in the order in which they were proposed."""
    papers: dict[tuple[int, str], CorrectionRecord] = {}
    for pk, name, seq, moment, by, kind, body in rows:
        with suppress(*UNREADABLE):
            event = read(CORRECTION.name, kind, body)
            assert isinstance(event, AboutCorrection)  # noqa: S101 -- the catalog has no other of this subject
            slip = event.correction.slip
            if isinstance(event, CorrectionProposed):
                papers[pk, slip] = CorrectionRecord(pk, name, event.correction, kind, moment, seq=seq)
            elif (pk, slip) in papers:
                papers[pk, slip] = replace(
                    papers[pk, slip],
                    state=kind,
                    by=by,
                    decided_at=moment,
                    seq=seq,
                    text=getattr(event, "text", ""),
                    off_cents=getattr(event, "off_cents", 0),
                )
    return list(papers.values())
