"""How much the tests that deal by chance deal: `TEST_PACE` is quick, usual or thorough.

The usual pace goes on for as long as new rounds still reach something new in the code, with room to spare; a thorough
run is for the night, and for whoever writes a game. Nothing is left out at the usual pace but repetition.
docs/testing.md says what was measured.
"""

import os

import pytest

PACES = ("quick", "usual", "thorough")
PACE = os.environ.get("TEST_PACE", "usual")
if PACE not in PACES:
    raise SystemExit(f"TEST_PACE is {PACE!r}: it may be {', '.join(PACES)}")


def by_pace(quick: int, usual: int, thorough: int) -> int:
    """So many rounds, examples or whatever a test repeats."""
    return {"quick": quick, "usual": usual, "thorough": thorough}[PACE]


def unless_quick(reason: str) -> pytest.MarkDecorator:
    """For the few tests that take as long as hundreds of others."""
    return pytest.mark.skipif(PACE == "quick", reason=reason)
