"""Options that are yes or no, wherever they are text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tables.games.casino_war import Rules
from tables.games.yes_no import flag
from tables.limits import cell_texts
from tables.log import policies
from tables.log.policies import TERMS
from tables.maths.options import rules_of

READERS: dict[str, Callable[[str], bool]] = {
    "--set": lambda text: bool(rules_of(Rules, [f"surrender={text}"]).surrender),
    "the grid of limits": lambda text: bool(
        cell_texts.parse_options("casino_war", {"surrender": None}, f"surrender: {text}")["surrender"]
    ),
    "the house's terms": lambda text: bool(policies.parsed(TERMS["two_people"], text)),
}
SPELLINGS = {"yes": True, "Yes": True, "true": True, "TRUE": True, "no": False, "No": False, "false": False}


@pytest.mark.parametrize("reader", READERS)
def test_both_spellings_are_read_everywhere(reader: str) -> None:
    """Harm: an option is copied from the documentation to a command line, or from there into the grid, and refused."""
    assert {text: READERS[reader](text) for text in SPELLINGS} == SPELLINGS
    for text in ("perhaps", "1", "", "y"):
        assert flag(text) is None
        with pytest.raises(ValueError, match="yes or no"):
            READERS[reader](text)
