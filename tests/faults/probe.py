"""Records which tests reach a fault: `reach` stands where the fault will be, `-p tests.faults.probe` reads it.

A process that a test starts reaches faults, too. It appends their names to its worker's log; the test that runs
meanwhile has reached them.
"""

import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

FOLDER: Final = "SEEDED_FAULTS"
"""The environment variable that names the folder of the logs."""
AGAIN_SECONDS: Final = 0.05
"""A function that is called a million times writes its name twenty times a second."""

_written: dict[str, float] = {}


def reach(fault: str) -> None:
    """Called where the fault will be."""
    now = time.monotonic()
    if now - _written.get(fault, -AGAIN_SECONDS) >= AGAIN_SECONDS:
        _written[fault] = now
        with _log().open("a") as log:
            log.write(f"{fault}\n")


def _log() -> Path:
    worker = os.environ.setdefault("SEEDED_FAULTS_WORKER", os.environ.get("PYTEST_XDIST_WORKER", "gw0"))
    return Path(os.environ[FOLDER]) / f"{worker}.log"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _written.clear()
    log = _log()
    begin = log.stat().st_size if log.exists() else 0
    outcome = yield
    if log.exists():
        with log.open() as lines:
            lines.seek(begin)
            for fault in sorted(set(lines.read().split())):
                with log.with_suffix(".reached").open("a") as reached:
                    reached.write(json.dumps([fault, item.nodeid]) + "\n")
    return outcome


def tests_by_fault(folder: Path) -> dict[str, list[str]]:
    """What all workers have recorded."""
    reached = defaultdict(list)
    for file in sorted(folder.glob("*.reached")):
        for line in file.read_text().splitlines():
            fault, test = json.loads(line)
            reached[fault].append(test)
    return dict(reached)
