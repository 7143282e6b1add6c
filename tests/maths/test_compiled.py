"""Compiled code on disk belongs to one state of the sources."""

import shutil
from pathlib import Path

import pytest

from tables.maths import blackjack_dealer, compiled


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy of the package's sources, in place of them."""
    copy = tmp_path / "maths"
    shutil.copytree(compiled.SOURCES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(compiled, "SOURCES", copy)
    monkeypatch.setattr(compiled, "sources_digest", compiled.sources_digest.__wrapped__)
    return copy


def test_code_of_an_earlier_release_is_not_loaded(sources: Path) -> None:
    """Harm: after an upgrade in place, code that was compiled before it fails to load a renamed type, or computes by
    the earlier rules of another module."""
    function = next(item for item in vars(blackjack_dealer).values() if hasattr(item, "_cache"))
    locator = function._cache._impl.locator
    assert type(locator).__module__ == compiled.__name__
    before = locator.get_cache_path()
    assert before == locator.get_cache_path()
    (sources / "advantage" / "random_cards.py").write_text("changed")
    assert locator.get_cache_path() != before
