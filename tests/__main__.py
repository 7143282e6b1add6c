"""`./run test`: every check and every test; `quick`: the pure half; with other arguments, only pytest with those."""

import os
import subprocess
import sys
import time

from casino import embedded
from tests import pure, servers

PYTHON = [sys.executable, "-m"]
WORKERS = min(4, os.cpu_count() or 1)
CHECKS = {
    "ruff": [*PYTHON, "ruff", "check", "."],
    "ruff format": [*PYTHON, "ruff", "format", "--check", "."],
    "mypy": [*PYTHON, "mypy"],
    "import-linter": [sys.executable, "-c", "from importlinter.cli import lint_imports_command as go; go()"],
    "committed secrets": [*PYTHON, "tests.committed_secrets"],
    "known vulnerabilities": [*PYTHON, "tests.advisories"],
    "makemigrations": [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"],
}
# Each worker has a database, a broker and a web process of its own; a file's tests stay together. In the order of their
# folders the slow files, browser and demo, come first; sorted by number of tests, one worker would be left with them.
EVERYTHING = ["-n", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder", "--durations", "10"]
QUICK = ["--pure", "-n", str(WORKERS), "--dist", "load"]


def passes(name: str, command: list[str]) -> bool:
    print(f"--- {name}", flush=True)
    started = time.monotonic()
    passed = subprocess.run(command, check=False).returncode == 0
    print(f"--- {name}: {'passed' if passed else 'FAILED'} in {time.monotonic() - started:.0f} s", flush=True)
    return passed


def everything() -> dict[str, bool]:
    """Which checks passed. The servers start once and stay for all of it."""
    with embedded.attached(servers.DATABASE_SERVER) as house, embedded.attached(servers.BROKER):
        for key, value in house.environment().items():
            os.environ.setdefault(key, value)
        commands = {**CHECKS, "pytest": [*PYTHON, "pytest", *EVERYTHING]}
        return {name: passes(name, command) for name, command in commands.items()}


def main(arguments: list[str]) -> int:
    os.chdir(embedded.BASE_DIR)
    os.environ["CASINO_BROWSER"] = "install"  # once a test needs one; if none can be had, those tests say why
    if arguments[:1] == ["quick"]:
        os.environ.setdefault("TEST_PACE", "quick")
        arguments = [*QUICK, *pure.folders(), *arguments[1:]]
    if arguments:
        return subprocess.run([*PYTHON, "pytest", *arguments], check=False).returncode
    try:
        results = everything()
    except embedded.CannotStart as reason:
        print(reason, file=sys.stderr)
        return 1
    failed = [name for name, passed in results.items() if not passed]
    print(f"FAILED: {', '.join(failed)}" if failed else "Everything passed.")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
