"""`./run test` and `./run trials`: static checks side by side, then the tests of a tier (tests/tiers.py).

./run test            every check, and every test but the trials
./run test quick      the same without what commits or starts more than PostgreSQL
./run test release    as ./run test; a check that could not be made fails, and so does an image that is not pinned
./run test harms      write the index of harms, tests/harms.tsv
./run test PATH ...   pytest with these arguments, in whatever tier
./run trials [NAME]   the trials, or those whose name contains NAME
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

from casino.embedded import servers as embedded
from tests import servers, trials
from tests.advisories import NOT_CHECKED

PYTHON: Final = [sys.executable, "-m"]
CHECKS: Final = {
    "ruff": [*PYTHON, "ruff", "check", "."],
    "ruff format": [*PYTHON, "ruff", "format", "--check", "."],
    "mypy": [*PYTHON, "mypy"],
    "import-linter": [sys.executable, "-c", "from importlinter.cli import lint_imports_command as go; go()"],
    "committed secrets": [*PYTHON, "tests.committed_secrets"],
    "known vulnerabilities": [*PYTHON, "tests.advisories"],
    "makemigrations": [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"],
}
RELEASE_CHECKS: Final = {**CHECKS, "pinned images": [sys.executable, "deploy/pin", "--check"]}


def check(name: str, *, is_release: bool) -> bool:
    """Run one static check; its output appears in one piece once it is over. A release accepts no check that could not
    be made."""
    began = time.monotonic()
    done = subprocess.run(
        RELEASE_CHECKS[name], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    passed = done.returncode in ({0} if is_release else {0, NOT_CHECKED})
    result = "FAILED" if not passed else "NOT CHECKED" if done.returncode else "passed"
    output = f"{done.stdout.rstrip()}\n" if done.returncode else ""
    print(f"{output}--- {name}: {result} in {time.monotonic() - began:.0f} s", flush=True)
    return passed


@contextmanager
def server_running() -> Iterator[None]:
    """PostgreSQL starts once and stays for all checks and tests; the broker starts with the first test that asks."""
    with embedded.attached(servers.DATABASE_SERVER) as house:
        for key, value in house.environment().items():
            os.environ.setdefault(key, value)
        yield


def everything(tier: str, *, is_release: bool = False) -> int:
    """The static checks, one after the other beside the tests. Returns 1 where anything failed."""
    with server_running(), ThreadPoolExecutor(max_workers=1) as beside:
        names = RELEASE_CHECKS if is_release else CHECKS
        checks: dict[str, Future[bool]] = {name: beside.submit(check, name, is_release=is_release) for name in names}
        # One worker more than cores: tests wait for the browser and the database. Trials have processes of their own.
        tests = [*PYTHON, "pytest", *trials.workers(more=1), "--tier", tier]
        passed = subprocess.run(tests, check=False).returncode == 0
    failed = [name for name, result in checks.items() if not result.result()]
    failed += [] if passed else ["pytest"]
    print(f"FAILED: {', '.join(failed)}" if failed else "Everything passed.")
    return bool(failed)


def main(arguments: list[str]) -> int:
    os.chdir(embedded.BASE_DIR)
    os.environ["CASINO_BROWSER"] = "install"  # once a test needs one; if none can be had, those tests say why
    command, *rest = arguments
    try:
        if command == "trials":
            with server_running():
                return trials.run(rest)
        if rest in ([], ["quick"]):
            return everything(rest[0] if rest else "test")
        if rest == ["release"]:
            return everything("test", is_release=True)
    except embedded.CannotStart as reason:
        print(reason, file=sys.stderr)
        return 1
    if rest == ["harms"]:
        rest = ["--collect-only", "-qq", "--harms", "write"]
    return subprocess.run([*PYTHON, "pytest", *rest], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
