"""The page on which people read of the API."""

from __future__ import annotations

import re

import pytest

from tables.api.operations import OPERATIONS
from tests.api.conftest import Floor

pytestmark = pytest.mark.django_db


def test_every_operation_stands_on_the_page_with_an_example(house: Floor) -> None:
    """Harm: whoever connects a program guesses what is sent, and finds out on the floor."""
    answer = house.as_(house.operator).get("reference/", accept="text/html")
    assert answer.status_code == 200
    page = answer.content.decode()
    for name, declared in OPERATIONS.items():
        [part] = re.findall(rf'<details class="reference" id="{name}">.*?</details>', page, re.DOTALL)
        assert declared.summary in part.replace("&#x27;", "'"), name
        assert ("<h3>Sent</h3>" in part) is (declared.body is not None), name
        assert ("<h3>Answered</h3>" in part) is (declared.answers is not bytes), name
        assert '<pre class="reference__example" tabindex="0" role="region" aria-label="Example of' in part or (
            declared.answers is bytes
        )
        assert ">null<" not in part, name
    assert "https://" not in re.sub(r"<pre.*?</pre>", "", page, flags=re.DOTALL), "nothing is fetched from elsewhere"
