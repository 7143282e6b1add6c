"""A list that is taken out as a file, the whole way as a spreadsheet gets it."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.test import RequestFactory
from openpyxl import load_workbook

from dealer_ui import exports
from tests import load
from tests.tables.reports.test_spreadsheets import ATTACKS


def download(request: WSGIRequest, pages: list[list[list[Any]]]) -> bytes:
    request.user = cast(Any, SimpleNamespace(pk=1, username="ada", has_perm=lambda permission: True))
    answer = exports.answer(request, "list", ("number", "text"), iter(pages))
    content = load.whole(answer)
    answer.close()
    return content


@pytest.mark.django_db
def test_a_download_of_attacks_has_no_formula(rf: RequestFactory) -> None:
    """Harm: an exported list is unguarded, and a typed reason runs as a formula in a spreadsheet."""
    rows = [[[number, text] for number, text in enumerate(ATTACKS)]]
    sheet = load_workbook(io.BytesIO(download(rf.get("/?as=xlsx"), rows))).active
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"n", "s"}


@pytest.mark.django_db
def test_a_csv_file_has_its_byte_order_mark_first_and_once(rf: RequestFactory) -> None:
    """Harm: Excel reads the file in the code page of its country, and the name of dealer Zoë in it as ZoÃ«."""
    content = download(rf.get("/"), [[[1, "Zoë"]], [[2, "Ömer"]]])
    assert content == "\ufeffnumber,text\r\n1,Zoë\r\n2,Ömer\r\n".encode()
