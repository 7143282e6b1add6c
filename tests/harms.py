"""Index of harms: which tests prevent each harm, in which tiers. `./run test harms` writes it to tests/harms.tsv."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from tests import tiers
from tests.tiers import Tier

INDEX: Final = Path(__file__).with_name("harms.tsv")
HARM: Final = re.compile(r"\bHarm(?: prevented)?: (.+)", re.DOTALL)
COLLECTED: Final = pytest.StashKey[list[pytest.Item]]()
"""All tests of a run, before a tier or an option deselects any."""


@dataclass
class Harm:
    """One harm, and the tests that prevent it."""

    sentence: str
    tests: set[str] = field(default_factory=set)
    tiers: set[Tier] = field(default_factory=set)
    needs_processes: bool = False
    """Whether one of its tests starts processes of its own: no cheaper place exists."""
    named: set[str] = field(default_factory=set)
    """Tests that a trial names by ``covered_by``."""

    @property
    def row(self) -> str:
        labels = ",".join(tier.label for tier in sorted(self.tiers))
        return f"{labels}\t{self.sentence}\t{' '.join(sorted(self.tests))}\n"


def test_of(item: pytest.Item) -> str:
    """Node id of the test function, without the parameters of one case."""
    return item.nodeid.partition("[")[0]


def sentence_of(item: pytest.Item) -> str:
    """The harm that the docstring names; without one, the docstring's first paragraph or the name of the test."""
    function = getattr(item, "function", None)
    docstring = (getattr(function, "__doc__", None) or "").strip()
    named = HARM.search(docstring)
    paragraph = (named[1] if named else docstring).split("\n\n")[0]
    return " ".join(paragraph.split()) or test_of(item).rpartition("::")[2].removeprefix("test_").replace("_", " ")


def _harms(items: Sequence[pytest.Item]) -> list[Harm]:
    """All harms, in the order of the first test that prevents each."""
    by_sentence: dict[str, Harm] = {}
    for item in items:
        sentence = sentence_of(item)
        harm = by_sentence.setdefault(sentence, Harm(sentence))
        harm.tests.add(test_of(item))
        harm.tiers.add(tiers.tier_of(item))
        harm.needs_processes |= tiers.starts_processes(item)
        if marker := item.get_closest_marker("trial"):
            harm.named |= {marker.kwargs["covered_by"]} if "covered_by" in marker.kwargs else set()
    return sorted(by_sentence.values(), key=lambda harm: min(harm.tests))


def index(items: Sequence[pytest.Item]) -> str:
    """The content of tests/harms.tsv: tiers, harm and tests, tab-separated, one line per harm."""
    return "".join(harm.row for harm in _harms(items))


def problems_of(items: Sequence[pytest.Item]) -> list[str]:
    """Harms that only trials prevent although a cheaper test could; and an index that is out of date."""
    cheap = {test_of(item) for item in items if tiers.tier_of(item) is not Tier.TRIALS}
    problems = [
        f"{min(harm.tests)}: covered_by names {name}, which is no test of ./run test."
        for harm in _harms(items)
        for name in sorted(harm.named - cheap)
    ]
    problems += [
        f"{harm.sentence} ({min(harm.tests)}): only trials prevent it. Mark a test of ./run test as well, or name one: "
        'trial("reason", covered_by="tests/...::test_...").'
        for harm in _harms(items)
        if harm.tiers == {Tier.TRIALS} and not harm.needs_processes and not harm.named & cheap
    ]
    if INDEX.read_text() != index(items):
        problems.append("tests/harms.tsv is out of date: write it by `./run test harms`.")
    return problems


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests for the check of the index, before others deselect some."""
    config.stash[COLLECTED] = list(items)


def collected(config: pytest.Config) -> Sequence[pytest.Item] | None:
    """All tests of the project, or None where this run collected only part of them."""
    items = config.stash[COLLECTED]
    files = set(INDEX.parent.rglob("test_*.py"))
    return items if files <= {item.path for item in items} and not config.getoption("keyword") else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--harms", choices=("write", "check"), help="write tests/harms.tsv, or name what is wrong with it")


def pytest_collection_finish(session: pytest.Session) -> None:
    # No test is stored where a path of the command line does not exist: pytest then says so itself.
    action, items = session.config.getoption("--harms"), session.config.stash.get(COLLECTED, [])
    if action == "write":
        INDEX.write_text(index(items))
    elif action == "check" and (problems := problems_of(items)):
        pytest.exit("\n".join(problems), returncode=1)
