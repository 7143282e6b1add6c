"""Reports as files, for the screens and the API; and the reports of a table's rounds, log and steps.

CSV is streamed a page at a time, so the whole history of a table needs no more memory than one page. A slow reader
occupies no database connection: each page takes one and returns it before it is sent. The number of downloads under
way is limited for each user and for the process.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import IO, Final, NamedTuple

from asgiref.sync import sync_to_async
from django.core.exceptions import PermissionDenied
from django.http import StreamingHttpResponse
from django.utils import timezone

from ledger import replica
from ledger.connection_pools import give_back
from ledger.proof.chain import Entry
from ledger.replica import AsOf
from tables.audit import round_list
from tables.audit.round_list import RoundFilter, RoundLine
from tables.audit.round_steps import ChipMove, RoundStep, Story
from tables.models import ServiceAccount, Staff, Table
from tables.refusals import Refused
from tables.reports import entry_list, site_clock
from tables.reports.report import Column, Report
from tables.reports.spreadsheets import Row, csv_file, spell, workbook
from tables.setup.site_identity import identity

Caller = Staff | ServiceAccount
"""A staff member, or a service account with the scope read:exports."""
ROUNDS_AT_ONCE: Final = 100
ENTRIES_AT_ONCE: Final = 1_000
AS_OF: Final = "As-Of"
"""The header with the time of the data, on an answer that was read from a replica."""
CSV: Final = "text/csv"
XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ZIP: Final = "application/zip"


def answer(
    by: Caller, name: str, header: Row, pages: Iterator[Iterable[Row]], *, as_book: bool = False
) -> StreamingHttpResponse:
    """A list as a download: CSV that reads each page when the one before it was sent, or a workbook.

    Raises PermissionDenied if the caller's role may not export lists, and Refused while too many downloads are in
    progress.
    """
    refuse_role(by)
    if as_book:
        about = _about(by, name)
        return _streamed(by, _named(name, "xlsx"), XLSX, lambda: _bytes_of(workbook(header, pages, about)))
    as_of = replica.as_of()
    return _streamed(by, _named(name, "csv"), f"{CSV}; charset=utf-8", lambda: _texts(header, pages, as_of))


def file(by: Caller, path: Path, kind: str) -> StreamingHttpResponse:
    """A file as a download, streamed from disk. Raises Refused while too many downloads are in progress."""
    return _streamed(by, path.name, kind, lambda: _bytes_of(path.open("rb")))


def refuse_role(by: Caller) -> None:
    """Raise PermissionDenied if the policies do not permit the caller's role to export lists."""
    if not by.has_perm("tables.export_lists"):
        raise PermissionDenied("In this house your role takes no lists out as files: they are read on the page.")


def _streamed(
    by: Caller, filename: str, kind: str, open_parts: Callable[[], AsyncIterator[str | bytes]]
) -> StreamingHttpResponse:
    # The slot is taken before the first query, so that a rejected download costs nothing.
    place = _Place(by.username)
    try:
        parts = open_parts()
    except BaseException:
        place.leave()
        raise
    response = StreamingHttpResponse(_in_slices(parts, place), content_type=kind)
    response._resource_closers.append(place.leave)  # type: ignore[attr-defined]  # should it never begin
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["Cache-Control"] = "no-store"
    return response


# --- Who may download, and how many at once --------------------------------------------------------------------

A_PERSON: Final = 2
IN_ALL: Final = 8
"""The maximum number of downloads in progress in this process."""
WAIT: Final = 10
"""Seconds."""

under_way: Final[Counter[str]] = Counter()
"""Downloads in progress by user name. Names of service accounts differ from those of staff."""
_guard: Final = threading.Lock()


class _Place:
    """A slot for one download in progress. Raises Refused if none is free."""

    def __init__(self, person: str) -> None:
        self._person = person
        with _guard:
            self._taken = under_way[person] < A_PERSON and under_way.total() < IN_ALL
            under_way[person] += self._taken
        if not self._taken:
            says = "Other downloads are under way: let one of them finish, then ask for this one again."
            raise Refused("downloads_under_way", says, 429, retry_after=WAIT)

    def leave(self) -> None:
        """Free the slot after the download ended in any way; further calls do nothing."""
        with _guard:
            under_way[self._person] -= self._taken
            self._taken = False


# --- The two forms ---------------------------------------------------------------------------------------------

SLICE: Final = 64 * 1024
"""Bytes sent at once: a part is in memory until the client has taken the one before it."""


def _named(name: str, kind: str) -> str:
    """The file name of a list: with the site's prefix, because the columns are for other systems, and with the time of
    the data if a replica was read."""
    as_of = replica.as_of()
    age = f"-as-of-{timezone.localtime(as_of.moment):%Y-%m-%d-%H%M%S}" if as_of else ""
    return f"{identity().prefix}{name}{age}.{kind}"


def _about(by: Caller, name: str) -> list[tuple[str, str]]:
    """The last sheet of a workbook: the site, the exporting user and the time."""
    house, as_of = identity(), replica.as_of()
    age = [("As of", as_of.moment.isoformat(timespec="seconds"))] if as_of else []
    return [
        ("House", house.house_name),
        ("Property", house.property_name),
        ("Currency", house.currency),
        ("List", name),
        ("Gaming day", site_clock.day().isoformat()),
        ("Taken out by", by.name if isinstance(by, Staff) else by.username),
        ("Taken out at", timezone.now().isoformat(timespec="seconds")),
        *age,
    ]


async def _in_slices(parts: AsyncIterator[str | bytes], place: _Place) -> AsyncIterator[str | bytes]:
    try:
        async for part in parts:
            for start in range(0, len(part), SLICE):
                yield part[start : start + SLICE]
    finally:
        place.leave()


async def _texts(header: Row, pages: Iterator[Iterable[Row]], as_of: AsOf | None) -> AsyncIterator[str]:
    text: str | None = csv_file(header)
    while text is not None:
        yield text
        text = await sync_to_async(_following)(pages, as_of)


def _following(pages: Iterator[Iterable[Row]], as_of: AsOf | None) -> str | None:
    """The next page, read from the server where the first was read. Its connection is returned before the page is
    sent."""
    with replica.again(as_of):
        try:
            return next((spell(page) for page in pages), None)
        finally:
            give_back()


async def _bytes_of(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while part := file.read(SLICE):
            yield part


# --- The lists -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableQuery:
    """Rounds or entries of a table."""

    table: Table
    slug: str
    """The table's name in the name of the file."""
    through: int = 0
    """The newest round."""
    wanted: RoundFilter = field(default_factory=RoundFilter)
    subject: str = ""
    """Of entries; all of them, if empty."""


def _round_pages(query: TableQuery) -> Iterator[Sequence[RoundLine]]:
    number: int | None = query.through
    while number:
        if query.wanted:
            page = round_list.search(query.table, query.wanted, through=number, count=ROUNDS_AT_ONCE)
        else:
            page = round_list.rounds(query.table.book_id, through=number, count=ROUNDS_AT_ONCE)
        yield page.lines
        number = page.older


ROUNDS: Final = Report[TableQuery, RoundLine](
    name=lambda query: f"{query.slug}-rounds",
    columns=(
        Column("round", "number"), Column("began"), Column("ended"),
        Column("dealers", lambda line: "; ".join(line.dealers)), Column("shoe"),
        Column("seats", lambda line: " ".join(str(seat.seat) for seat in line.seats)),
        Column("staked_cents"), Column("house_net_cents"),
        Column("outcomes", lambda line: " ".join(f"{seat.seat}:{seat.payout.outcome}"
                                                 for seat in line.seats if seat.payout)),
        Column("taken_back"), Column("cards_refused", "refused"), Column("first_entry", "first_seq"),
        Column("last_entry", "last_seq"), Column("fault"),
    ),
    pages=_round_pages,
)  # fmt: skip


class ListedEntry(NamedTuple):
    """An entry with its description."""

    entry: Entry
    words: str


def _log_pages(query: TableQuery) -> Iterator[Iterable[ListedEntry]]:
    before, book_id = None, query.table.book_id
    while page := entry_list.entries(book_id, before=before, subject=query.subject, count=ENTRIES_AT_ONCE):
        yield map(ListedEntry, page, entry_list.in_words(book_id, page))
        before = page[-1].seq


LOG: Final = Report[TableQuery, ListedEntry](
    name=lambda query: f"{query.slug}-log",
    columns=(
        Column("entry", "entry.seq"), Column("at", "entry.at"), Column("by", "entry.by"),
        Column("subject", "entry.subject"), Column("kind", "entry.kind"), Column("round", "entry.round"),
        Column("says", "words"), Column("transfers", "entry.legs"), Column("hash", "entry.hash"),
        Column("previous_hash", "entry.prev_hash"),
        Column("line", lambda listed: listed.entry.line.decode(errors="replace")),
    ),
    pages=_log_pages,
)  # fmt: skip


class StepMove(NamedTuple):
    """An input of a round, and one of the transfers that it made, if any."""

    step: RoundStep
    move: ChipMove | None


def _step_moves(query: tuple[str, Story]) -> Iterator[Iterable[StepMove]]:
    for step in query[1].steps:
        yield [StepMove(step, move) for move in step.moved or [None]]


ROUND_STEPS: Final = Report[tuple[str, Story], StepMove](
    name=itemgetter(0),
    columns=(
        Column("entry", "step.entry.seq"), Column("at", "step.entry.at"), Column("by", "step.entry.by"),
        Column("says", "step.words"), Column("taken_back_by", "step.corrected_by"),
        Column("transfer", lambda row: row.move and row.move.kind),
        Column("from", lambda row: row.move and row.move.source),
        Column("to", lambda row: row.move and row.move.target),
        Column("amount_cents", lambda row: row.move and row.move.amount_cents),
        Column("hash", "step.entry.hash"),
    ),
    pages=_step_moves,
)  # fmt: skip
"""One round: a row for each input, and one for each transfer that it made."""
