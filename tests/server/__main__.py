"""`./run server [--from REVISION]`: installs, upgrades and restores a house on a plain Debian on this machine.

visit.py has the steps, docs/deploying.md the results. Exits 1 if a step fails, naming it, and 3 if this machine lacks
what a server needs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import sysconfig
from pathlib import Path

from casino.embedded.servers import BASE_DIR
from tests.server import machine
from tests.server.visit import STEPS, Visit


def checkouts(revision: str) -> dict[str, Path]:
    """The folders that the server mounts, by name: this checkout, the tests' libraries, and the release to install
    first, which is another revision or a copy that differs only by a comment."""
    older = machine.FOLDER / "older"
    subprocess.run(["rm", "-rf", older], check=True)
    older.mkdir(parents=True)
    commit = revision or "HEAD"
    archive = subprocess.run(["git", "archive", commit], cwd=BASE_DIR, capture_output=True, check=False)
    if archive.returncode != 0:
        raise machine.NoServer(f"There is no revision {commit}: {archive.stderr.decode().strip()}")
    subprocess.run(["tar", "-x", "-C", older], input=archive.stdout, check=True)
    if not revision:
        with (older / "casino/__init__.py").open("a") as module:
            module.write("# another release\n")
    return {"older": older, "checkout": BASE_DIR, "tools": Path(sysconfig.get_paths()["purelib"])}


def main() -> None:
    arguments = sys.argv[1:]
    if inside := machine.INSIDE in arguments:
        arguments.remove(machine.INSIDE)
    parser = argparse.ArgumentParser(prog="./run server", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--from", dest="revision", default="", help="the revision to install first")
    parser.add_argument("--until", choices=[step.__name__ for step in STEPS], help="the last step to take")
    options = parser.parse_args(arguments)
    try:
        if not inside:
            machine.enter("tests.server", arguments)
        server = machine.Server(checkouts(options.revision))
        try:
            server.make()
            Visit(server).go(options.until)
        finally:
            server.end()
    except machine.NoServer as reason:
        print(reason, file=sys.stderr)
        sys.exit(machine.CANNOT)
    except (machine.Broken, AssertionError) as broken:
        sys.exit(f"{broken}\nThe complete output is in {machine.FOLDER / 'log'}.")


if __name__ == "__main__":
    main()
