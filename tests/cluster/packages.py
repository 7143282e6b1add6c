"""The servers that only the cluster needs: Debian's, installed or else unpacked into .local/cluster/packages, where
they start no service and need no root; and Patroni as pinned in requirements/patroni.txt.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from casino.embedded.keeper import valkey_program
from casino.embedded.servers import BASE_DIR, LOCAL

FOLDER: Final = LOCAL / "cluster" / "packages"
WANTED: Final = ("etcd-server", "haproxy", "libfaketime", "postgresql")
PATRONI: Final = LOCAL / "cluster" / "patroni"
PINNED: Final = BASE_DIR / "requirements" / "patroni.txt"


class NoPackages(RuntimeError):
    """A server is missing and cannot be unpacked. The message says why."""


@dataclass(frozen=True)
class Programs:
    """The paths of the cluster's programs."""

    root: Path
    """The folder of unpacked packages; the system's own programs take precedence."""

    def path(self, *places: str) -> Path:
        """The first existing file of these patterns, where `*` stands for version or machine. Raises NoPackages."""
        for place in places:
            for root in (Path("/"), self.root):
                if paths := sorted(root.glob(place), reverse=True):
                    return paths[0]
        raise NoPackages(f"There is no {places[0]}.")

    @cached_property
    def etcd(self) -> Path:
        return self.path("usr/bin/etcd")

    @cached_property
    def haproxy(self) -> Path:
        return self.path("usr/sbin/haproxy")

    @cached_property
    def postgres(self) -> Path:
        """The folder of PostgreSQL's programs."""
        return self.path("usr/lib/postgresql/*/bin/pg_rewind").parent

    @cached_property
    def faketime(self) -> Path:
        return self.path("usr/lib/*/faketime/libfaketimeMT.so.1")

    @cached_property
    def patroni(self) -> list[str]:
        return [str(PATRONI / "bin" / "python"), str(BASE_DIR / "deploy" / "patroni" / "casino_patroni.py")]

    @property
    def valkey(self) -> str:
        return valkey_program()

    def environment(self) -> dict[str, str]:
        """An environment in which unpacked programs find their libraries."""
        inherited = {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TZ") if key in os.environ}
        libraries = [str(path) for path in self.root.glob("usr/lib/*-linux-*") if path.is_dir()]
        return inherited | {
            "LD_LIBRARY_PATH": os.pathsep.join(libraries),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def check(self) -> None:
        """Raises NoPackages if a program is missing."""
        for program in (self.etcd, self.haproxy, self.postgres, self.faketime):
            assert program.exists()


def programs() -> Programs:
    """The installed programs; missing ones are unpacked first. Raises NoPackages."""
    servers = Programs(FOLDER)
    try:
        servers.check()
    except NoPackages:
        _unpack()
        servers = Programs(FOLDER)
        servers.check()
    _install_patroni()
    return servers


def _install_patroni() -> None:
    """Install it into an environment of its own, as on a database host."""
    pinned, stamp = PINNED.read_bytes(), PATRONI / "installed"
    if stamp.exists() and stamp.read_bytes() == pinned:
        return
    print("Installing requirements/patroni.txt", file=sys.stderr, flush=True)
    uv = [sys.executable, "-m", "uv", "--no-config"]
    indexes = {"UV_DEFAULT_INDEX": "PIP_INDEX_URL", "SSL_CERT_FILE": "PIP_CERT"}
    from_pip = {uv_name: os.environ[pip_name] for uv_name, pip_name in indexes.items() if pip_name in os.environ}
    environment = {**from_pip, "UV_PYTHON_DOWNLOADS": "never", **os.environ}
    for command in (
        ["venv", "--quiet", "--clear", "--python", sys.executable, str(PATRONI)],
        ["pip", "install", "--quiet", "--python", str(PATRONI), "--require-hashes", "--requirement", str(PINNED)],
    ):
        installation = subprocess.run([*uv, *command], env=environment, capture_output=True, text=True, check=False)
        if installation.returncode != 0:
            raise NoPackages(f"Patroni could not be installed: {installation.stderr.strip()}")
    stamp.write_bytes(pinned)


def _unpack() -> None:
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        raise NoPackages("apt-get and dpkg are missing: the cluster runs only on Debian and Ubuntu.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        _run("apt-get", "--quiet", "update")
    plan = _run("apt-get", "install", "--simulate", "--no-install-recommends", *WANTED)
    missing = [line.split()[1] for line in plan.splitlines() if line.startswith("Inst ")]
    _run("apt-get", "--quiet", "download", *missing)
    for package in FOLDER.glob("*.deb"):
        _run("dpkg", "--extract", package.name, ".")
        package.unlink()


def _run(*command: str) -> str:
    print(f"Unpacking Debian's packages: {' '.join(command)[:120]}", file=sys.stderr, flush=True)
    outcome = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    if outcome.returncode != 0:
        lines = (outcome.stderr or outcome.stdout).strip().splitlines() or ["no message"]
        raise NoPackages(f"The cluster's servers could not be unpacked: {command[0]}: {lines[-1]}")
    return outcome.stdout


if __name__ == "__main__":
    try:
        print(programs())
    except NoPackages as reason:
        sys.exit(str(reason))
