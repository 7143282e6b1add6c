"""Seed each fault of faults.toml, one at a time, and run the tests that reach it: which tier catches it?

python -m tests.faults                    all faults: first every test once, to learn which tests reach each fault
python -m tests.faults NAME ...           only the named faults
python -m tests.faults --expected         only the test that each fault names, without the first run

It works on a copy of the last commit, in a temporary folder. It is not part of CI, because it takes longer than the
whole suite.
"""

import argparse
import ast
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.faults import probe

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
TIERS: Final = ("test", "trials")
CAUGHT_EARLY: Final = 0.95
"""The part of the faults that `./run test` must catch; the trials catch the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A mistake that a programmer could make: the text ``old`` of a product file becomes ``new``."""

    name: str
    file: str
    harm: str
    old: str
    new: str
    caught_by: str
    """The test that is expected to fail."""
    probe: bool = True
    """False for a script of a page: the test that is expected to fail is the only one that is known to reach it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a fault."""

    fault: Fault
    tier: str
    """The first tier that caught it; empty if none did."""
    test: str
    tests: int
    """How many tests reach it."""

    def __str__(self) -> str:
        by = f"{self.tier:7} {self.test}" if self.tier else "MISSED"
        return f"{self.fault.name:44} {self.tests:5} tests  {by}"


def faults(names: Sequence[str]) -> list[Fault]:
    listed = [Fault(**entry) for entry in tomllib.loads((HERE / "faults.toml").read_text())["fault"]]
    if unknown := set(names) - {fault.name for fault in listed}:
        sys.exit(f"No such fault: {', '.join(sorted(unknown))}")
    return [fault for fault in listed if not names or fault.name in names]


@contextmanager
def copy_of_head() -> Iterator[Path]:
    """The files of the last commit in a temporary folder, with this environment."""
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        copy = Path(folder, "copy")
        subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, copy], check=True)
        (copy / ".venv").symlink_to(Path(sys.prefix))
        yield copy


# --- Which tests reach a fault ----------------------------------------------------------------------------------


def reaching(copy: Path, seeded: Sequence[Fault]) -> dict[str, list[str]]:
    """The tests that enter the function in which each fault will be. Runs every test once, with a probe there."""
    for fault in seeded:
        if fault.probe:
            _insert_probe(copy / fault.file, fault)
    with tempfile.TemporaryDirectory(prefix="reached-") as folder:
        environment = os.environ | {probe.FOLDER: folder}
        for tier in TIERS:
            command = ["-n", str(os.cpu_count() or 1), "--dist", "loadfile", "--tier", tier, "-p", "tests.faults.probe"]
            _pytest(copy, command, environment)
        reached = probe.tests_by_fault(Path(folder))
    subprocess.run(["git", "-C", copy, "checkout", "--quiet", "."], check=True)
    return {fault.name: sorted({fault.caught_by, *reached.get(fault.name, [])}) for fault in seeded}


def _insert_probe(file: Path, fault: Fault) -> None:
    source = file.read_text()
    first = _first_statement(source, source[: _position(source, fault)].count("\n") + 1)
    lines = source.splitlines(keepends=True)
    call = f"__import__('tests.faults.probe', fromlist=['reach']).reach({fault.name!r})\n"
    lines.insert(first.lineno - 1, " " * first.col_offset + call)
    file.write_text("".join(lines))


def _position(source: str, fault: Fault) -> int:
    if (count := source.count(fault.old)) != 1:
        raise ValueError(f"{fault.name}: its text occurs {count} times in {fault.file}, not once")
    return source.index(fault.old)


def _first_statement(source: str, line: int) -> ast.stmt:
    """The first statement, after the docstring, of the innermost function around a line."""
    around = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    body = max(around, key=lambda node: node.lineno).body
    is_docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[1] if is_docstring and len(body) > 1 else body[0]


# --- Whether they catch it --------------------------------------------------------------------------------------


def outcome(copy: Path, fault: Fault, tests: Sequence[str]) -> Outcome:
    """Seed a fault and run the tests that reach it, tier after tier, up to the first that fails because of it."""
    remaining = list(dict.fromkeys([fault.caught_by, *tests]))
    for tier in TIERS:
        while remaining and (test := _fails_with(copy, fault, tier, remaining)):
            if not _first_failure(copy, tier, [test]):
                return Outcome(fault, tier, test, len(tests))
            remaining.remove(test)  # it fails without the fault, too
    return Outcome(fault, "", "", len(tests))


def _fails_with(copy: Path, fault: Fault, tier: str, tests: Sequence[str]) -> str:
    file = copy / fault.file
    source = file.read_text()
    _position(source, fault)
    file.write_text(source.replace(fault.old, fault.new))
    try:
        return _first_failure(copy, tier, tests)
    finally:
        file.write_text(source)


def _first_failure(copy: Path, tier: str, tests: Sequence[str]) -> str:
    """The identifier of the first test that fails, or the empty string."""
    arguments = copy.parent / "tests.txt"
    arguments.write_text("\n".join(tests))
    report = _pytest(copy, ["-x", "--tier", tier, "-q", "--tb", "no", "-rfE", f"@{arguments}"], dict(os.environ))
    failed = (line.split(" ")[1] for line in report.splitlines() if line.startswith(("FAILED ", "ERROR ")))
    return next(failed, "")


def _pytest(copy: Path, arguments: Sequence[str], environment: dict[str, str]) -> str:
    """The report of pytest. Raises RuntimeError if it refused its arguments: no failure would be reported then."""
    command = [sys.executable, "-m", "pytest", *arguments]
    run = subprocess.run(
        command, cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if run.returncode in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR):
        raise RuntimeError(run.stdout)
    return run.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--expected", action="store_true")
    options = parser.parse_args()
    os.environ["CASINO_BROWSER"] = "install"
    seeded = faults(options.names)
    outcomes = []
    with copy_of_head() as copy:
        tests = {fault.name: [fault.caught_by] for fault in seeded} if options.expected else reaching(copy, seeded)
        for fault in seeded:
            outcomes.append(outcome(copy, fault, tests[fault.name]))
            print(outcomes[-1], flush=True)
    caught, early = (sum(each.tier in tiers for each in outcomes) for tiers in (TIERS, TIERS[:1]))
    print(f"{len(outcomes)} faults: {caught} caught, {early} of them by ./run test")
    return int(caught < len(outcomes) or early < CAUGHT_EARLY * len(outcomes))


if __name__ == "__main__":
    sys.exit(main())
