"""Measure `card`: the path of one dealt card through the product, from the dealer's request to its commit.

`dealt_card.py` deals it and records each function of the product that is called, at a Rocket table, after a first card
has filled the caches. Functions are those with a name of their own: lambdas, comprehensions and generator expressions
are part of the function around them, and what a library generates is not counted. The path ends before the COMMIT
that makes the card durable. Middleware runs up to the view; the other part begins with the view's decorators. What
surrounds Django in the web process (connection pools, body limits) is not part of the path.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.structure.sources import ROOT
from tests.structure.text_table import text_table

MIDDLEWARE: Final = "middleware"
VIEW: Final = "view"
RESULT: Final = "STRUCTURE_CARD"
"""Environment variable with the path of the file that `dealt_card.py` writes."""
_RECORDS: Final = str(Path(__file__).with_name("dealt_card.py"))


class Call(NamedTuple):
    """The first call of a function in one part of the path."""

    part: str
    package: str
    function: str


def report(*, listed: bool) -> str:
    calls = _recorded()
    packages = list(dict.fromkeys(call.package for call in calls))
    rows = [(package, *_counts([call for call in calls if call.package == package])) for package in packages]
    parts = [[call for call in calls if call.part == part] for part in (MIDDLEWARE, VIEW)]
    modules = [len({call.function.partition(":")[0] for call in part}) for part in [*parts, calls]]
    totals = [len({call.package for call in part}) for part in [*parts, calls]]
    heads = ("functions, by package in the order of entry", "middleware", "view to commit", "whole path")
    table = text_table(heads, [*rows, ("functions", *_counts(calls)), ("modules", *modules), ("packages", *totals)])
    return "\n".join([table, "", *(f"{call.part}: {call.function}" for call in calls)]) if listed else table


def _counts(calls: Sequence[Call]) -> tuple[int, int, int]:
    """Functions before the view, from the view on, and in all; one that is called in both parts counts in each."""
    parts = [{call.function for call in calls if call.part == part} for part in (MIDDLEWARE, VIEW)]
    return len(parts[0]), len(parts[1]), len(parts[0] | parts[1])


def _recorded() -> list[Call]:
    """Deal the card in a process of its own, with the tests' database."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "calls.json")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", _RECORDS]
        environment = os.environ | {RESULT: str(result)}
        process = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
        if process.returncode:
            sys.exit(f"{process.stdout}{process.stderr}")
        return [Call(*call) for call in json.loads(result.read_text())]
