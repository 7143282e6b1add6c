"""`./run bench NAME [arguments]`: runs tests/bench/bench_NAME.py, on servers of its own where it needs any."""

import contextlib
import fcntl
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

from casino.embedded import servers

HERE = Path(__file__).parent
SERVERLESS = {"demo", "engine", "houses", "maths", "replay"}


def names() -> list[str]:
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def prepare(house: servers.ServerSet) -> None:
    """A new database with the application's privileges."""
    for command in ("migrate", "grants"):
        subprocess.run([sys.executable, "manage.py", command, "--verbosity", "0"], check=True)
    print(f"Servers: {house.folder}", file=sys.stderr)


def start_over(folder: Path) -> None:
    users = folder / "users.lock"
    if users.exists() and not servers.is_free(users, fcntl.LOCK_EX):
        sys.exit("Another benchmark is running: two at once would measure each other.")
    shutil.rmtree(folder, ignore_errors=True)


def main(arguments: list[str]) -> None:
    if not arguments or arguments[0] not in names():
        sys.exit(f"./run bench NAME, where NAME is one of: {', '.join(names()) or 'none yet'}")
    os.chdir(servers.BASE_DIR)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
    name = arguments[0]
    with contextlib.ExitStack() as stack:
        if name not in SERVERLESS:
            start_over(servers.LOCAL / "bench")
            for key in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL"):
                os.environ.pop(key, None)  # it fills the database with rubbish: never a configured one
            prepare(stack.enter_context(servers.provide("bench")))
        sys.argv = arguments
        runpy.run_path(str(HERE / f"bench_{name}.py"), run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
