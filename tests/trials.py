"""`./run trials`: runs the trials; one that fails is repeated once, alone, and reported as unsteady if it then passes.

An unsteady trial is a defect of the test or of the product. It does not fail the run by itself, because a trial needs
the machine for seconds that other work may take; six of them do.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

TOLERATED: Final = 5
"""Unsteady trials that one run may have."""
PYTEST: Final = [sys.executable, "-m", "pytest", "-p", "tests.trials"]


def workers(*, more: int = 0) -> list[str]:
    """Arguments for pytest: a worker for each core and `more`, at most four, each with a database, a broker and a web
    process of its own. The tests of a file stay together, and files start in the order in which tiers.select left
    them."""
    count = min(4, (os.cpu_count() or 1) + more)
    return ["-n", str(count), "--dist", "loadfile", "--no-loadscope-reorder", "--durations", "30"]


def run(names: list[str]) -> int:
    """Run the trials whose names contain each of ``names``. Returns 1 where one failed twice, or six were unsteady."""
    os.environ.setdefault("TEST_PACE", "usual")
    chosen = ["-k", " and ".join(names)] if names else []
    passed, failures = run_pytest([*workers(), "--tier", "trials", *chosen])
    if not failures:
        return 0 if passed else 1
    steady = {name: output for name, output in failures.items() if not repeat(name, output)}
    return report(failures, steady)


def run_pytest(arguments: list[str]) -> tuple[bool, dict[str, str]]:
    """Whether pytest passed, and the output of each test that failed by its node id."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "failures.jsonl")
        done = subprocess.run([*PYTEST, *arguments, "--failures", str(file)], check=False)
        lines = file.read_text().splitlines() if file.exists() else []
    failures: dict[str, str] = {}
    for name, output in map(json.loads, lines):
        failures[name] = failures.get(name, "") + output
    return done.returncode == 0, failures


def repeat(name: str, output: str) -> bool:
    """Whether a failed trial passes when it has the machine to itself; prints both outputs if so."""
    print(f"\n--- Repeating alone: {name}", flush=True)
    passed, failures = run_pytest(["--quiet", name])
    second = failures.get(name, "passed")
    if passed:
        print(f"--- UNSTEADY: {name}\n--- first run:\n{output}\n--- second run, alone: {second}", flush=True)
    return passed


def report(failures: dict[str, str], steady: dict[str, str]) -> int:
    """Print which trials failed twice and which are unsteady. Returns the exit code of the run."""
    unsteady = [name for name in failures if name not in steady]
    for title, names in (("FAILED twice", list(steady)), ("Unsteady", unsteady)):
        if names:
            print(f"--- {title}: {len(names)}", *names, sep="\n  ", flush=True)
    if len(unsteady) > TOLERATED:
        print(f"--- FAILED: more than {TOLERATED} unsteady trials.", flush=True)
    return bool(steady or len(unsteady) > TOLERATED)


# --- Plugin of the pytest runs above -------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--failures", help="file to which the output of each failed test is appended, as JSON lines")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and (file := config.getoption("--failures", None)):
        config.pluginmanager.register(_Failures(Path(file)))


class _Failures:
    """Writes failures down as they come, so that they outlive a run that is cut off."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            sections = "\n".join(f"{title}\n{text}" for title, text in report.sections)
            with self.file.open("a") as lines:
                lines.write(json.dumps([report.nodeid, f"{report.when}: {report.longreprtext}\n{sections}\n"]) + "\n")


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
