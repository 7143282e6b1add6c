"""How much the tests that deal by chance deal: `TEST_PACE` is quick, usual or thorough.

``./run test`` deals at the quick pace, ``./run trials`` repeats the same tests at the usual pace, which goes on for as
long as new rounds still reach something new in the code, with room to spare. The thorough pace is for the night, and
for the author of a game. docs/testing.md says what was measured.

Hypothesis has a profile for each pace: fifty examples, three hundred, or a thousand that differ in each run.
"""

import os
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

PACES: Final = ("quick", "usual", "thorough")
PACE: Final = os.environ.get("TEST_PACE", "quick")
if PACE not in PACES:
    raise SystemExit(f"TEST_PACE is {PACE!r}: it may be {', '.join(PACES)}")


def load_hypothesis_profile() -> None:
    """Load the profile of this pace. It has no deadline: how long an example takes is a matter of the machine."""
    settings.register_profile(
        PACE,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
        max_examples=by_pace(50, 300, 1_000),
        derandomize=PACE != "thorough",
        database=None,
        print_blob=True,
    )
    settings.load_profile(PACE)


def percent(share: int) -> int:
    """Examples of a test whose examples are costly, in per cent of the profile's."""
    return settings.default.max_examples * share // 100


def by_pace(quick: int, usual: int, thorough: int) -> int:
    """How many rounds, examples or repetitions a test deals at the pace of this run."""
    return {"quick": quick, "usual": usual, "thorough": thorough}[PACE]


def deals_by_chance(item: pytest.Item) -> bool:
    """Whether the test belongs to a module that deals by pace, or is a property that Hypothesis tries to refute."""
    function = getattr(item, "function", None)
    module = getattr(item, "module", None)
    return getattr(function, "is_hypothesis_test", False) or by_pace in vars(module).values()
