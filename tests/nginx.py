"""Finds nginx for the tests of its configuration, or unpacks Debian's into .local/nginx, where it starts no service:
`python -m tests.nginx` prints its path."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from casino.embedded.servers import LOCAL

FOLDER = LOCAL / "nginx"


class NoNginx(RuntimeError):
    """There is no nginx and none could be unpacked; the message says why."""


def find() -> str | None:
    if chosen := os.environ.get("NGINX"):
        return chosen
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", str(FOLDER / "usr/sbin")])
    return shutil.which("nginx", path=path)


def unpack() -> str:
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        raise NoNginx("No nginx was found, and here is no apt-get to fetch Debian's with: install it, or set NGINX.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        run("apt-get", "--quiet", "update")
    run("apt-get", "--quiet", "download", "nginx")
    for package in FOLDER.glob("nginx_*.deb"):
        run("dpkg", "--extract", package.name, ".")
    if path := find():
        return path
    raise NoNginx("Debian's package holds no nginx where it should be: install it, or set NGINX.")


def run(*command: str) -> None:
    print(f"Unpacking nginx: {' '.join(command)}", file=sys.stderr, flush=True)
    run = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        lines = (run.stderr or run.stdout).strip().splitlines() or ["no message"]
        raise NoNginx(f"No nginx was found, and none could be unpacked: {command[0]} says {lines[-1]}")


def path() -> Path:
    """Where nginx is."""
    return Path(find() or unpack())


if __name__ == "__main__":
    try:
        print(path())
    except NoNginx as reason:
        sys.exit(str(reason))
