"""Back-entry in the site's log, for cage, vault and their cash. Back-entry of a table is in the table's log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from ledger import alerts, cage, site_log
from ledger.log import LAST_SEQ
from ledger.models import Book, LogEntry
from ledger.proof.chain import Head
from tables.floor import back_entry, writer
from tables.floor.command_context import Decision, PendingEntry, author_of
from tables.floor.inputs import BeginBackEntry, ComparePaper, EndBackEntry
from tables.floor.writer import Request
from tables.log import back_entry as rules
from tables.log.back_entry import Mode
from tables.log.catalog import read
from tables.log.entries.back_entry import (
    SUBJECT,
    AboutBackEntry,
    BackEntryBegun,
    EnteredFromPaper,
    HouseBackEntryBegun,
    HouseBackEntryEnded,
    HousePaperCompared,
    PaperCompared,
    RoundFromPaper,
)
from tables.log.slip_workflow import Wrong
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.setup import policies
from tables.state import table_state

CAGE: Final = "The cage"
"""The name of the site's log in messages."""


def enter(entered: BeginBackEntry | EndBackEntry | ComparePaper, *, by: Staff, key: UUID) -> None:
    """Begin or end back-entry in the site's log, or record a comparison with paper. Raises Refused."""
    if not by.is_active:
        raise Refused("not_permitted", f"{by.name} is no longer active here.", 403)
    request = Request.of(entered, by.username, key)
    with transaction.atomic():
        # The mode is read under the lock: two managers must not both begin back-entry.
        head = site_log.lock()
        if writer.recorded(head, request, house=True):
            return
        event = _event(entered, by, head)
        list(writer.write(head, Decision([PendingEntry(event)]), request, by.signature))
        if isinstance(event, BackEntryBegun):
            message = f"{CAGE}: {back_entry.begun_in_words(event)}"
            alerts.raise_alert(cage.open_house(), event.kind, message, {"seq": head.seq + 1})


def _event(entered: BeginBackEntry | EndBackEntry | ComparePaper, by: Staff, head: Head) -> AboutBackEntry:
    mode = back_entry.in_house(head.book_id)
    if isinstance(entered, BeginBackEntry):
        return back_entry.begun(HouseBackEntryBegun, entered, by, mode, head.seq + 1, head.moment)
    if isinstance(entered, EndBackEntry):
        return back_entry.ended(HouseBackEntryEnded, entered, by, mode)
    number = entered.number.strip()
    try:
        after = rules.compared(mode, number, by.signatory, round_open=False, next_round=0)
    except Wrong as wrong:
        raise back_entry.refused(wrong) from None
    return HousePaperCompared(**author_of(by), number=number, mode=after)


# --- Reading ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BackEntryBook:
    """A log that is in back-entry, or could be."""

    name: str
    table: Table | None
    """None: the cage, with entries in the site's log."""
    book: Book
    mode: Mode | None
    begun_by: str = ""
    begun: datetime | None = None

    @property
    def number(self) -> int:
        """The table's number; 0 for the cage."""
        return self.table.pk if self.table else 0


def places() -> list[BackEntryBook]:
    """All logs of the site: the cage first, then the tables in use."""
    tables = list(Table.objects.in_use().select_related("book"))
    modes = table_state.at_all([table_state.head_of(table) for table in tables])
    book = Book.objects.site()
    rows: list[tuple[str, Table | None, Book, Mode | None]] = [(CAGE, None, book, back_entry.in_house(book.pk))]
    rows += [(table.name, table, table.book, modes[table.book_id].back_entry) for table in tables]
    return [_place(*row) for row in rows]


def _place(name: str, table: Table | None, book: Book, mode: Mode | None) -> BackEntryBook:
    if mode is None:
        return BackEntryBook(name, table, book, None)
    by, moment = LogEntry.objects.values_list("by", "at").get(book=book, seq=mode.begun)
    return BackEntryBook(name, table, book, mode, by, moment)


def mode_at(table: Table | None) -> Mode | None:
    """The back-entry mode of a table's log, or of the site's log if ``table`` is None."""
    if table is not None:
        return table_state.of(table).back_entry
    return back_entry.in_house(cage.open_house().pk)


@dataclass(frozen=True, slots=True)
class PaperEntry:
    """An event entered from paper: its time, its entry's time and author, and who compared it with the paper."""

    of: int
    """The sequence number of the entry from paper; 0 for a round."""
    number: str
    happened: datetime
    entered: datetime
    by: str
    compared_by: str = ""
    compared: datetime | None = None


def about(book_id: int, name: str, *, is_house: bool = False) -> list[PaperEntry]:
    """The entries from paper about a slip."""
    return _lines(book_id, lambda event: isinstance(event, EnteredFromPaper) and event.about == name, is_house)


def of_round(book_id: int, number: int) -> PaperEntry | None:
    """The paper that a round was entered from; None for a round dealt live."""
    announced = back_entry.announcement(book_id, number, LAST_SEQ)
    if announced is None:
        return None
    return _lines(book_id, lambda event: event == announced.event, is_house=False, since=announced.seq)[0]


def in_record(record: Mapping[str, Any], line: PaperEntry | None) -> Mapping[str, Any]:
    """A round record with the paper of its round; unchanged for a round dealt live."""
    if line is None:
        return record
    paper = {"number": line.number, "happened": rules.spelled(line.happened), "entered": line.entered.isoformat()}
    return {**record, "paper": paper}


def _lines(
    book_id: int, condition: Callable[[AboutBackEntry], bool], is_house: bool, since: int = 1
) -> list[PaperEntry]:
    rows = LogEntry.objects.filter(book_id=book_id, subject=SUBJECT, seq__gte=since).order_by("seq")
    lines: list[PaperEntry] = []
    for kind, body, by, moment in rows.values_list("kind", "body", "by", "at"):
        event = read(SUBJECT, kind, body, house=is_house)
        if isinstance(event, PaperCompared):
            lines = [_compared(line, event.number, by, moment) for line in lines]
        elif isinstance(event, EnteredFromPaper | RoundFromPaper) and condition(event):
            of = event.of if isinstance(event, EnteredFromPaper) else 0
            lines.append(PaperEntry(of, event.number, rules.moment_of(event.happened), moment, by))
    return lines


def _compared(line: PaperEntry, number: str, by: str, moment: datetime) -> PaperEntry:
    if line.number != number or line.compared_by:
        return line
    return PaperEntry(line.of, line.number, line.happened, line.entered, line.by, by, moment)


# --- The watch -------------------------------------------------------------------------------------------------


def check_overdue(moment: datetime) -> int:
    """Raise an alert for each log in back-entry longer than the policy allows. Returns their number."""
    longest = timedelta(minutes=policies.number("back_entry_minutes"))
    late: Sequence[BackEntryBook] = [place for place in places() if place.begun and place.begun + longest < moment]
    for place in late:
        assert place.begun is not None and place.mode is not None  # noqa: S101, PT018 -- it has begun
        waits = f", and {len(place.mode.papers)} papers wait to be compared" if place.mode.papers else ""
        message = (
            f"{place.name} is in back-entry since {place.begun:%Y-%m-%d %H:%M} UTC, begun by {place.begun_by}{waits}"
        )
        begun = str(place.mode.begun)
        alerts.raise_lasting(place.book, "back_entry_stands", begun, message, {"begun": place.mode.begun})
    return len(late)
