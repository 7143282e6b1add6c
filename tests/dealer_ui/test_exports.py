"""A list that is taken out as a file, the whole way as a spreadsheet gets it."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.test import RequestFactory
from openpyxl import load_workbook

from dealer_ui import exports
from tests import load
from tests.tables.test_spreadsheets import ATTACKS


@pytest.mark.django_db
def test_a_download_of_attacks_has_no_formula(rf: RequestFactory) -> None:
    """Harm: an exported list is unguarded, and a typed reason runs as a formula in a spreadsheet."""
    rows = [[[number, text] for number, text in enumerate(ATTACKS)]]
    request = rf.get("/?as=xlsx")
    request.user = cast(Any, SimpleNamespace(pk=1, username="ada", has_perm=lambda permission: True))
    answer = exports.answer(request, "list", ("number", "text"), iter(rows))
    sheet = load_workbook(io.BytesIO(load.whole(answer))).active
    answer.close()
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"n", "s"}
