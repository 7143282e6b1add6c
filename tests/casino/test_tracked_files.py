"""What is tracked tells nothing of the machine that it was written on, and pins everything that it installs."""

import re
import subprocess
from pathlib import Path

import pytest

from casino.embedded.servers import BASE_DIR

# Spelt in pieces, or this file would not pass its own check.
TELLTALE = {
    "a home folder": re.compile(r"/(?:home|Users)/\w+/|/" + r"root/|~/\.\w"),
    "a path of the machine": re.compile(r"/" + r"work/|/" + r"workspace/|/" + r"tmp/(?!\.)\w"),
    "the address of a package index": re.compile(
        r"(?<!no-emit-)index" + r"-url|find" + r"-links|pypi" + r"\.org/simple|file" + r":///"
    ),
}


SLEEP = re.compile(r"(?<!\w)sleep\((?!0\))|pg_" + r"sleep|wait_for_" + r"timeout")
MAY_SLEEP = {"bench", "cluster", "server", "patience.py"}
"""Under tests: programs that pace a load or wait for machines, and the helper that all tests wait with."""


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=BASE_DIR, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a checkout")
    return [BASE_DIR / name for name in listed.stdout.decode().split("\0") if name]


def test_no_tracked_file_names_a_machine() -> None:
    """Harm: the repository reveals its developers' folders and servers to strangers."""
    lines = []
    for path in tracked():
        if not path.is_file() or b"\0" in (content := path.read_bytes()):
            continue
        text = content.decode(errors="replace")
        for kind, telltale in TELLTALE.items():
            lines += [f"{kind}: {path.relative_to(BASE_DIR)}: {match[0]}" for match in telltale.finditer(text)]
    assert not lines, "\n".join(lines)


def test_no_test_sleeps() -> None:
    """Harm: a test that is slow on every machine, and fails on one that is busier than its author's."""
    tests = BASE_DIR / "tests"
    sleeping = [
        f"{path.relative_to(BASE_DIR)}:{number}: {line.strip()}"
        for path in sorted(set(tests.rglob("*.py")) & set(tracked()))
        if path.relative_to(tests).parts[0] not in MAY_SLEEP
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if SLEEP.search(line)
    ]
    assert not sleeping, "wait for an event instead (tests/patience.py):\n" + "\n".join(sleeping)


@pytest.mark.parametrize("name", ["app.txt", "dev.txt", "uv.txt"])
def test_every_requirement_is_pinned_and_hashed(name: str) -> None:
    lines = (BASE_DIR / "requirements" / name).read_text().replace("\\\n", " ").splitlines()
    for line in lines:
        assert re.match(r"[a-z0-9-]+==[\w.]+( ;|  )", line), line
        assert "--hash=sha256:" in line, line


def test_no_file_is_made_by_a_run() -> None:
    ignored = (BASE_DIR / ".gitignore").read_text().split()
    assert {"/.venv/", "/.local/", "__pycache__/"} <= set(ignored)
