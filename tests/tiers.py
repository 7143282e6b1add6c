"""Tiers of the tests: what a test starts decides which command runs it.

``./run test quick`` runs what needs at most PostgreSQL and rolls back what it wrote. ``./run test`` adds what commits,
and what asks for the shared web process, worker or browser. ``./run trials`` runs what starts, kills or overloads
processes of its own. A fixture that starts something declares the tier of its tests by `belongs_to`; no list of tests
exists. Where fixtures cannot tell, a marker with its reason moves one test: ``slow`` to ``./run test``, ``trial`` to
``./run trials``.
"""

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any, Final, TypeVar

import pytest

from tests import pace

Function = TypeVar("Function", bound=Callable[..., Any])


class Tier(IntEnum):
    """The commands, the cheapest first. Each of the first two contains those before it."""

    QUICK = 0
    TEST = 1
    TRIALS = 2

    @property
    def label(self) -> str:
        return self.name.lower()


TIERS: Final = {tier.label: tier for tier in Tier}
COMMITTING: Final = "transactional_db"
"""The fixture of pytest-django in whose closure each test is that commits."""


def belongs_to(tier: Tier) -> Callable[[Function], Function]:
    """Decorator below ``@pytest.fixture``: a test that uses the fixture belongs to this tier or a later one."""

    def declare(function: Function) -> Function:
        function.tier = tier  # type: ignore[attr-defined]
        return function

    return declare


def starts_processes(item: pytest.Item) -> bool:
    """Whether a fixture starts processes for this test alone."""
    return _by_fixtures(item) is Tier.TRIALS


def tier_of(item: pytest.Item) -> Tier:
    """The earliest tier that may run the test."""
    if item.get_closest_marker("trial"):
        return Tier.TRIALS
    if item.get_closest_marker("slow"):
        return max(Tier.TEST, _by_fixtures(item))
    return _by_fixtures(item)


def _by_fixtures(item: pytest.Item) -> Tier:
    definitions = item._fixtureinfo.name2fixturedefs  # type: ignore[attr-defined]
    declared = [getattr(each.func, "tier", Tier.QUICK) for used in definitions.values() for each in used]
    return max([Tier.TEST if _commits(item) else Tier.QUICK, *declared])


def needs_database(item: pytest.Item) -> bool:
    return item.get_closest_marker("django_db") is not None or "django_db_setup" in getattr(item, "fixturenames", ())


def _commits(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    return COMMITTING in getattr(item, "fixturenames", ()) or bool(marker and marker.kwargs.get("transaction"))


def runs_in(tier: Tier, item: pytest.Item) -> bool:
    """Whether a command runs the test. The trials repeat, at their own pace, what deals by chance."""
    if tier is Tier.TRIALS:
        return tier_of(item) is tier or pace.deals_by_chance(item)
    return tier_of(item) <= tier


def sampled(values: Iterable[Any], reason: str, *, test: int = 1) -> list[Any]:
    """Parameters of a test that takes long: the first ``test`` of them run in ``./run test``, the others in the trials.
    A value that is a tuple stands for several parameters, as for pytest."""
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=pytest.mark.slow(reason) if number < test else pytest.mark.trial(reason),
        )
        for number, value in enumerate(values)
    ]


def select(tier: Tier, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of other tiers, and begin with what takes longest: the last tests then fill both workers."""
    chosen = [item for item in items if runs_in(tier, item)]
    config.hook.pytest_deselected(items=[item for item in items if not runs_in(tier, item)])
    items[:] = sorted(chosen, key=tier_of, reverse=True)


def labels(items: Iterable[pytest.Item]) -> str:
    """The tiers of these tests, for people: ``quick, test``."""
    return ", ".join(tier.label for tier in sorted({tier_of(item) for item in items}))
