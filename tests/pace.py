"""How much the tests that deal by chance deal: `TEST_PACE` is quick, usual or thorough.

``./run test`` deals at the quick pace, ``./run trials`` repeats the same tests at the usual pace, which goes on for as
long as new rounds still reach something new in the code, with room to spare. The thorough pace is for the night, and
for the author of a game. docs/testing.md says what was measured.
"""

import os
from typing import Final

import pytest

PACES: Final = ("quick", "usual", "thorough")
PACE: Final = os.environ.get("TEST_PACE", "quick")
if PACE not in PACES:
    raise SystemExit(f"TEST_PACE is {PACE!r}: it may be {', '.join(PACES)}")


def by_pace(quick: int, usual: int, thorough: int) -> int:
    """How many rounds, examples or repetitions a test deals at the pace of this run."""
    return {"quick": quick, "usual": usual, "thorough": thorough}[PACE]


def deals_by_chance(item: pytest.Item) -> bool:
    """Whether the test belongs to a module that deals by pace, or is a property that Hypothesis tries to refute."""
    function = getattr(item, "function", None)
    module = getattr(item, "module", None)
    return getattr(function, "is_hypothesis_test", False) or by_pace in vars(module).values()
