"""The house's terms in tests: held for one test without a row, or entered as an operator enters them."""

from datetime import UTC, datetime
from typing import Any, Final

from tables.log.policies import PolicyChange
from tables.setup import policies

_ALWAYS: Final = datetime(1970, 1, 1, tzinfo=UTC)

of_tests: Final = (PolicyChange(_ALWAYS, 0, {"pin_digits_min": 4}),)
"""What holds for a test's process that entered nothing: the tests' people have short PINs."""


def held(**values: Any) -> tuple[PolicyChange, ...]:
    """The same with these values, as a process keeps them."""
    return (*of_tests, PolicyChange(_ALWAYS, 0, values))


def read_again() -> None:
    """From now on this process goes by what was entered."""
    policies.forget()
