"""Each measure runs: those of the source on one package, the path of a card on a recorded path."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.structure import card, sources
from tests.structure.__main__ import MEASURES


@pytest.fixture
def one_package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The product and its tests are one package, as the whole would take half a minute."""
    files = sources._tracked("ledger/proof")
    monkeypatch.setattr(sources, "_tracked", lambda *folders: files)
    for listing in (sources.product, sources.tests):
        listing.cache_clear()
    yield
    for listing in (sources.product, sources.tests):
        listing.cache_clear()


@pytest.mark.usefixtures("one_package")
@pytest.mark.parametrize("name", sorted(MEASURES.keys() - {"card"}))
def test_a_measure_of_the_source_gives_a_table(name: str) -> None:
    """Harm: `python -m tests.structure` ends with a traceback, and the structure is not measured any more."""
    assert len(MEASURES[name](listed=False).splitlines()) > 1


def test_the_path_of_a_card_is_counted_by_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the card is dealt for half a minute, and its path is then lost in a traceback."""
    calls = [(card.MIDDLEWARE, "casino.web", "casino.web.gate:call"), (card.VIEW, "tables.log", "tables.log.event:of")]

    def recorded(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        Path(options["env"][card.RESULT]).write_text(json.dumps(calls))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", recorded)
    assert [line.split() for line in card.report(listed=False).splitlines()[1:]] == [
        ["casino.web", "1", "0", "1"],
        ["tables.log", "0", "1", "1"],
        ["functions", "1", "1", "2"],
        ["modules", "1", "1", "2"],
        ["packages", "1", "1", "2"],
    ]
