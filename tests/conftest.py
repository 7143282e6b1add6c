"""What holds for every test. The fixtures that tests ask for by name are in tests/fixtures, by what they give."""

import math
from collections.abc import Iterator

import pytest
from django.utils import timezone

from casino.web.static_files import collect_if_changed
from dealer_ui.templatetags import snapshots
from tables.audit import downloads, watch
from tables.floor import stages
from tables.floor.command_context import CommandContext, Decision
from tables.floor.inputs import Input
from tables.log.kind_record import ByStage
from tables.reports import gaming_hours, site_clock
from tables.setup import policies
from tests import pace, ready, servers, terms, tiers
from tests.clock import Clock, travelling

pytest_plugins = [
    "tests.harms",
    "tests.fixtures.database",
    "tests.fixtures.processes",
    "tests.fixtures.browser",
    "tests.fixtures.floor",
    "tests.fixtures.evidence",
    "tests.fixtures.conditions",
]
pace.load_hypothesis_profile()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tier", choices=tiers.TIERS, help="only the tests that this command runs (tests/tiers.py)")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if tier := config.getoption("--tier"):
        tiers.select(tiers.TIERS[tier], config, items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    servers.limit(tiers.tier_of(item))
    ready.beside_processes = "process_environment" in getattr(item, "fixturenames", ())


def pytest_sessionstart(session: pytest.Session) -> None:
    """Pages name their static files by content, so those must have been collected before the first is drawn."""
    if not hasattr(session.config, "workerinput"):
        collect_if_changed()


@pytest.fixture(autouse=True)
def _clock_of_this_house(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a process keeps for a minute is no other test's, nor is reading it what a test counts."""
    monkeypatch.setattr(site_clock, "_read", (math.inf, gaming_hours.Calendar((gaming_hours.default(),))))
    monkeypatch.setattr(policies, "_read", (math.inf, terms.of_tests))
    monkeypatch.setattr(watch, "lookout", watch.Lookout(looked=math.inf))
    yield
    timezone.deactivate()


@pytest.fixture(autouse=True)
def _drawings_are_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a drawing that is kept shows a seat as it was, or one of another table."""
    monkeypatch.setattr(snapshots, "is_proven", True)


@pytest.fixture(autouse=True)
def _alerts_are_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: an input raises an alert that the record of its kind of entry does not name, so no documentation, rule or
    list of alerts knows it."""

    def decide(context: CommandContext, entered: Input) -> Decision:
        decision = stages_decide(context, entered)
        if decision.alert:
            event = decision.steps[0].event
            assert isinstance(event.record.alert, ByStage) or event.kind in event.record.alerts, type(event).__name__
        return decision

    stages_decide = stages.decide
    monkeypatch.setattr(stages, "decide", decide)


@pytest.fixture
def clock() -> Iterator[Clock]:
    """Both clocks, to be set; right again after the test."""
    with travelling() as clocks:
        yield clocks


@pytest.fixture(autouse=True)
def _downloads_of_this_test() -> None:
    """A download that a test began and never read is under way for nobody else."""
    downloads.under_way.clear()
