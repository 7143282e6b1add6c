"""Writes all lists as CSV and as workbooks, and neutralises formulas in their cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import chain
from tempfile import TemporaryFile
from typing import IO, Any, Final

Row = Sequence[Any]

_BYTE_ORDER_MARK: Final = "\ufeff"
"""With it at the beginning of a CSV file, Excel reads the file as UTF-8."""
ROWS_A_SHEET: Final = 1_000_000
"""A sheet of a workbook holds little more."""

_UNSEEN: Final = r"\s\x00-\x1f\x7f-\x9f\xad\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
_EDGE: Final = r"(^|[;|\t\r\n\v\f\x85\u2028\u2029])"
_FORMULA: Final = rf"[{_UNSEEN}\"']*[=+\-@＝＋－＠﹦﹢﹣﹫−]"
_GUARD: Final = re.compile(rf"{_EDGE}(?={_FORMULA})|^(?=[\t\r\n])")
"""Where a spreadsheet would begin a formula: at the start of a cell, and after whatever separates cells in some
country. There a semicolon does, and the quotes that keep a comma's cells together mean nothing."""
_GUARDED: Final = re.compile(rf"{_EDGE}'(?={_FORMULA})|^'(?=[\t\r\n])")


def cell(value: Any) -> Any:
    """A value that no spreadsheet will run. Numbers are numbers; what looks like a formula gets an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, int | float | Decimal):
        return value
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return _GUARD.sub(r"\1'", str(value))


def unguarded(text: str) -> str:
    """What a cell held before ``cell`` gave it apostrophes, where a file of ours comes back."""
    return _GUARDED.sub(lambda match: match[1] or "", text)


def csv_file(header: Row, rows: Iterable[Row] = ()) -> str:
    """A CSV file from its beginning: byte order mark, header, rows."""
    return _BYTE_ORDER_MARK + spell(chain([header], rows))


def spell(rows: Iterable[Row]) -> str:
    """Rows as CSV text, without the beginning of a file."""
    text = io.StringIO()
    csv.writer(text).writerows([cell(value) for value in row] for row in rows)
    return text.getvalue()


def workbook(header: Row, pages: Iterable[Iterable[Row]], about: Iterable[Row]) -> IO[bytes]:
    """The rows as a workbook on disk, a sheet for each million of them, and a last one that says what they are. Times
    are text with their zone."""
    from openpyxl import Workbook  # only whoever asks for one waits for it to load

    book, sheet, free = Workbook(write_only=True), None, 0
    for row in chain.from_iterable(pages):
        if sheet is None or not free:
            sheet, free = book.create_sheet(), ROWS_A_SHEET
            sheet.append(list(header))
        sheet.append([cell(_printable(value)) for value in row])
        free -= 1
    if sheet is None:
        book.create_sheet().append(list(header))
    sheet = book.create_sheet("About")
    for row in about:
        sheet.append([cell(_printable(value)) for value in row])
    file = TemporaryFile()  # noqa: SIM115 -- the response closes it
    book.save(file)
    file.seek(0)
    return file


def _printable(value: Any) -> Any:
    """What a workbook can hold: no control characters."""
    return "".join(sign for sign in value if sign >= " " or sign in "\t\n\r") if isinstance(value, str) else value
