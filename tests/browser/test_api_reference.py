"""The page of the API in a real browser: read on a laptop and on a phone, opened by keyboard."""

from typing import Any

import pytest

from tables.roles import Role
from tests import floor
from tests.accessibility import EVERY_RULE, serious
from tests.fixtures.browser import PHONE, Looking
from tests.layout import fits_width, small

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_operation_is_opened_by_keyboard_and_its_example_read(looking: Looking) -> None:
    """Harm: whoever connects a program reads a page that runs out of the screen, or needs a mouse."""
    page: Any = looking(floor.staff(Role.OPERATOR, "olga"), "/api/reference/", PHONE)
    page.locator("#begin_slip > summary").focus()
    page.keyboard.press("Enter")
    assert '"series": "fill"' in page.locator("#begin_slip pre").first.inner_text()
    assert serious(page, EVERY_RULE) == []
    assert fits_width(page)
    assert small(page, "#begin_slip > summary") == []
