"""The grid of limits and options as a file for spreadsheets, and the errors of an imported one.

A name that a spreadsheet would take for a formula gets an apostrophe in the file, and loses it in the import.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from django.http import HttpResponse

from dealer_ui.operator.limits.grid_forms import LONGEST
from tables.limits import cells as limit_cells
from tables.limits.cells import COLUMNS, Preview, TableRow, Timing
from tables.models import Table
from tables.reports.spreadsheets import csv_file, unguarded

TABLE: Final = "Table"
PLACE: Final = ("Pit", "Game")
"""Columns for the reader of the file, which are not imported."""
HEADER: Final = (TABLE, *PLACE, *COLUMNS.values())
MOST_ROWS: Final = 1_000


def download(name: str, content: str | bytes) -> HttpResponse:
    """A CSV file as an attachment."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type="text/csv; charset=utf-8", headers=headers)


def file_of(rows: Sequence[TableRow]) -> bytes:
    """The file, in UTF-8."""
    lines = ((row.name, row.place.pit, row.game, *(row.texts[name] for name in COLUMNS)) for row in rows)
    return csv_file(HEADER, lines).encode()


@dataclass(frozen=True, slots=True)
class WrongCell:
    """A wrong cell of a file, and the correction."""

    row: int
    """Its number in the spreadsheet: the header is row 1."""
    column: str
    value: str
    sentence: str


@dataclass(slots=True)
class Trial:
    """The changes that a file would make, and all its errors."""

    wrong: list[WrongCell] = field(default_factory=list)
    typed: dict[str, dict[str, str]] = field(default_factory=dict)
    seen: dict[str, dict[str, str]] = field(default_factory=dict)
    shown: Preview = field(default_factory=lambda: Preview((), {}))

    def note(self, row: int, column: str, value: str, sentence: str) -> None:
        self.wrong.append(WrongCell(row, column, value[:80], sentence))


def dry_run(content: bytes, timing: Timing) -> Trial:
    """A dry run: nothing is changed."""
    trial = Trial()
    lines = _lines(content, trial)
    if not lines:
        return trial
    header = [cell.strip() for cell in lines[0]]
    if not _is_header(header, trial):
        return trial
    places = _rows(lines[1:], header, trial)
    trial.shown = limit_cells.preview(trial.typed, trial.seen, timing)
    for (table, column), sentence in trial.shown.faults.items():
        value = trial.typed[table].get(column, "")
        trial.note(places[table], COLUMNS[column], value, sentence)
    trial.wrong.sort(key=lambda cell: cell.row)
    return trial


def _lines(content: bytes, trial: Trial) -> list[list[str]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        trial.note(1, "", "", "The file is not in UTF-8. In Excel save it as “CSV UTF-8 (comma delimited)”.")
        return []
    first_line = text.partition("\n")[0]
    separator = max(",;\t", key=first_line.count)
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        trial.note(1, "", "", f"The file is no list of cells ({error}): export the grid, and change that file.")
        return []
    if not lines or not any(lines[0]):
        trial.note(1, "", "", f"The file is empty. Its first row is: {', '.join(HEADER)}.")
        return []
    if len(lines) > MOST_ROWS:
        trial.note(MOST_ROWS + 1, "", "", f"The file has more than {MOST_ROWS:,} rows: leave out what does not change.")
        return []
    return lines


def _is_header(header: Sequence[str], trial: Trial) -> bool:
    right = ", ".join(HEADER)
    for number, name in enumerate(header):
        if name not in HEADER:
            trial.note(1, name, name, f"There is no column {name[:40]!r}. The columns are: {right}.")
        elif name in header[:number]:
            trial.note(1, name, name, f"The column {name} stands there twice: keep one of them.")
    if TABLE not in header:
        trial.note(1, TABLE, "", f"The column {TABLE} is missing: it names the table of each row.")
    elif not set(header) & set(COLUMNS.values()):
        trial.note(1, "", "", f"No column has limits: at least one of {', '.join(COLUMNS.values())}.")
    return not trial.wrong


def _rows(lines: Sequence[Sequence[str]], header: Sequence[str], trial: Trial) -> dict[str, int]:
    """Add every row with cells to the trial. Returns the number of each table's row."""
    places: dict[str, int] = {}
    tables = {table.name: table for table in Table.objects.in_use()}
    columns = {title: name for name, title in COLUMNS.items()}
    for number, line in enumerate(lines, start=2):
        cells = {title: unguarded(text.strip()) for title, text in zip(header, line, strict=False)}
        if not any(text.strip() for text in line):
            continue
        name = cells.get(TABLE, "")
        if sentence := _row_fault(line, header, name, places, tables):
            trial.note(number, TABLE, name, sentence)
            continue
        places[name] = number
        trial.typed[name] = {columns[title]: text[:LONGEST] for title, text in cells.items() if title in columns}
        trial.seen[name] = limit_cells.texts_of(tables[name])
    return places


def _row_fault(
    line: Sequence[str], header: Sequence[str], name: str, places: dict[str, int], tables: dict[str, Table]
) -> str:
    if len(line) != len(header):
        return f"The row has {len(line)} cells, and the header has {len(header)}: keep each amount in one cell."
    if not name:
        return "Name the table."
    if name in places:
        return f"{name} stands in row {places[name]} already: keep one row of each table."
    if name in tables:
        return ""
    near = next((candidate for candidate in tables if candidate.casefold() == " ".join(name.casefold().split())), "")
    return f"There is no table {name[:40]!r} on the floor.{f' Write {near}.' if near else ''}"
