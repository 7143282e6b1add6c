"""The static checks of ./run test: which results pass, and which of them a release accepts."""

import sys

import pytest

import tests.__main__ as checks
from tests import advisories

NAME = "known vulnerabilities"


@pytest.fixture
def unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The advisory database is at an address where nothing listens."""
    asks = f"import sys; from tests import advisories as a; a.PROBE = {'raise SystemExit(1)'!r}; sys.exit(a.main())"
    monkeypatch.setitem(checks.RELEASE_CHECKS, NAME, [sys.executable, "-c", asks])


@pytest.mark.usefixtures("unreachable")
@pytest.mark.parametrize(("is_release", "result"), [(False, "NOT CHECKED"), (True, "FAILED")])
def test_a_release_needs_an_answer_of_the_advisory_database(
    capsys: pytest.CaptureFixture[str], *, is_release: bool, result: str
) -> None:
    """Harm: a release ships a library with a published hole, because the advisory database was out of reach."""
    assert checks.check(NAME, is_release=is_release) is not is_release
    written = capsys.readouterr().out
    assert f"{advisories.SOURCE} did not answer" in written
    assert f"--- {NAME}: {result} in" in written


@pytest.mark.parametrize(("code", "passes"), [(0, True), (1, False)])
def test_a_known_vulnerability_fails_every_run(monkeypatch: pytest.MonkeyPatch, *, code: int, passes: bool) -> None:
    """Harm: a known hole in a pinned package is printed and passes."""
    monkeypatch.setitem(checks.RELEASE_CHECKS, NAME, [sys.executable, "-c", f"raise SystemExit({code})"])
    assert checks.check(NAME, is_release=False) is passes
