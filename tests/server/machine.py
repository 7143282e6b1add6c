"""A plain Debian on this machine, in a container without a network that boots systemd. debootstrap makes it once; each
run gets a fresh copy.

It needs root, because systemd as a container's first process does. All mounts and processes end with the command.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from packaging.markers import Marker

from casino.embedded.keeper import die_with_parent
from casino.embedded.servers import BASE_DIR, LOCAL

FOLDER: Final = LOCAL / "server"
DEBIAN: Final = FOLDER / "debian"
TOOLS: Final = FOLDER / "debootstrap"
ARCHIVES: Final = FOLDER / "archives"
"""A cache of Debian's packages, for the next run."""
WHEELS: Final = FOLDER / "wheels"
SUITE: Final = "bookworm"
PYTHON: Final = "3.11.2"
"""The suite's version of Python."""
INCLUDED: Final = "systemd,systemd-sysv,dbus,ca-certificates,iproute2,procps"
BOOT_SECONDS: Final = 60
PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
INSIDE: Final = "--inside"
CANNOT: Final = 3
"""The exit code if this machine lacks what a server needs."""


class NoServer(RuntimeError):
    """No server can be made here. The message says what to do."""


class Broken(RuntimeError):
    """A command failed on the server. The message has its output."""


def enter(module: str, arguments: list[str]) -> None:
    """Restart this command in mount and process namespaces of its own. Raises NoServer."""
    if os.geteuid() != 0:
        raise NoServer("A container that boots needs root: run it as root.")
    for program, package in (("systemd-nspawn", "systemd-container"), ("unshare", "util-linux"), ("dpkg", "dpkg")):
        _provide(program, package)
    unshare = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"]
    os.execvp("unshare", [*unshare, sys.executable, "-m", module, INSIDE, *arguments])


def _provide(program: str, package: str) -> None:
    """Install Debian's package where there is none. Raises NoServer."""
    if shutil.which(program):
        return
    if shutil.which("apt-get"):
        print(f"Installing {package}", file=sys.stderr, flush=True)
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        run("apt-get", "--quiet", "update")
        run("apt-get", "--quiet", "--yes", "install", "--no-install-recommends", package, environment=quiet)
    if not shutil.which(program):
        raise NoServer(f"The server needs {program}: apt-get install {package}")


def run(*command: str | Path, folder: Path | None = None, environment: dict[str, str] | None = None) -> str:
    """The output of a command on this machine. Raises NoServer."""
    outcome = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if outcome.returncode != 0:
        last = (outcome.stderr or outcome.stdout).strip().splitlines() or ["no message"]
        raise NoServer(f"{' '.join(map(str, command))[:120]} failed: {last[-1]}")
    return outcome.stdout


def debian() -> Path:
    """A folder with Debian's essential packages and systemd, made by debootstrap. Raises NoServer."""
    if not (DEBIAN / ".whole").exists():
        shutil.rmtree(DEBIAN, ignore_errors=True)
        FOLDER.mkdir(parents=True, exist_ok=True)
        if not (program := shutil.which("debootstrap")):
            run("apt-get", "--quiet", "download", "debootstrap", folder=FOLDER)
            run("dpkg", "--extract", next(FOLDER.glob("debootstrap_*.deb")), TOOLS)
            program = str(TOOLS / "usr/sbin/debootstrap")
        environment = dict(os.environ)
        if TOOLS.exists():
            environment["DEBOOTSTRAP_DIR"] = str(TOOLS / "usr/share/debootstrap")
        run(program, "--variant=minbase", f"--include={INCLUDED}", SUITE, DEBIAN, environment=environment)
        (DEBIAN / ".whole").touch()
    return DEBIAN


def wheels(requirements: Path) -> Path:
    """A folder with the pinned packages for the server's Python, fetched by this machine's pip because the server
    itself reaches no index. Raises NoServer."""
    WHEELS.mkdir(parents=True, exist_ok=True)
    pinned = requirements.read_bytes()
    stamp = WHEELS / ".of"
    if not stamp.exists() or stamp.read_bytes() != pinned:
        selection = FOLDER / "requirements.txt"
        selection.write_text("\n".join(_for_the_server(pinned.decode())))
        options = ["--quiet", "--require-hashes", "--only-binary", ":all:", "--no-deps", "--dest", str(WHEELS)]
        series = PYTHON.rpartition(".")[0]
        run("python3", "-m", "pip", "download", *options, "--python-version", series, "--requirement", selection)
        stamp.write_bytes(pinned)
    return WHEELS


def _for_the_server(pinned: str) -> Iterator[str]:
    """The requirements, with hashes, that the server's Python needs. pip itself would evaluate markers for the Python
    that it runs on."""
    server_python = {"python_full_version": PYTHON, "python_version": PYTHON.rpartition(".")[0]}
    for block in re.split(r"\n(?=\S)", pinned):
        head, *hashes = block.split("\\\n")
        name, _, marker = head.partition(" ; ")
        if not marker or Marker(marker.strip()).evaluate(server_python):
            yield "\\\n".join([f"{name.strip()} ", *hashes])


class Server:
    """A fresh server over the cached Debian. Whatever a run writes goes to an overlay that is removed afterwards."""

    def __init__(self, checkouts: dict[str, Path]) -> None:
        self.work = FOLDER / "run"
        self.root = self.work / "root"
        self.log = (FOLDER / "log").open("w")
        self.checkouts = checkouts
        self.container: subprocess.Popen[bytes] | None = None
        self.leader = 0

    def make(self) -> None:
        debian()
        wheels(BASE_DIR / "requirements" / "app.txt")
        shutil.rmtree(self.work, ignore_errors=True)
        ARCHIVES.mkdir(exist_ok=True)
        for folder in ("upper", "work", "root"):
            (self.work / folder).mkdir(parents=True)
        layers = f"lowerdir={DEBIAN},upperdir={self.work}/upper,workdir={self.work}/work"
        run("mount", "-t", "overlay", "overlay", "-o", layers, self.root)
        policy = self.root / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")  # no service may start before systemd runs
        policy.chmod(0o755)
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")

    def _nspawn(self, *options: str) -> list[str]:
        command = ["systemd-nspawn", "--quiet", "--directory", str(self.root), "--register=no", "--keep-unit"]
        command += ["--console=pipe", "--machine=casino-server", "--resolv-conf=off", f"--bind-ro={WHEELS}:/srv/wheels"]
        command += ["--setenv=PIP_NO_INDEX=1", "--setenv=PIP_FIND_LINKS=/srv/wheels"]
        command += [f"--bind={ARCHIVES}:/var/cache/apt/archives"]
        command += [f"--bind-ro={path}:/srv/{name}" for name, path in self.checkouts.items()]
        return [*command, *options]

    def before_boot(self, *command: str) -> str:
        """The output of a command before systemd runs. Only then it has this machine's network."""
        return self._done([*self._nspawn("--"), *command])

    def boot(self) -> None:
        (self.root / "usr/sbin/policy-rc.d").unlink(missing_ok=True)
        self.container = subprocess.Popen(
            self._nspawn("--boot", "--private-network"),
            stdin=subprocess.PIPE, stdout=self.log, stderr=self.log, preexec_fn=die_with_parent,
        )  # fmt: skip
        deadline = time.monotonic() + BOOT_SECONDS
        while not self._is_up():
            if self.container.poll() is not None or time.monotonic() > deadline:
                raise NoServer(f"The container did not boot: {FOLDER / 'log'} shows why.")
            time.sleep(0.5)

    def _is_up(self) -> bool:
        assert self.container is not None
        children = Path(f"/proc/{self.container.pid}/task/{self.container.pid}/children").read_text().split()
        for child in children:
            if Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                self.leader = int(child)
                words = ["systemctl", "is-system-running"]
                state = subprocess.run(self._into(words), capture_output=True, text=True, check=False).stdout.strip()
                return state in {"running", "degraded"}
        return False

    def _into(self, command: Sequence[str]) -> list[str]:
        return [
            "nsenter", "--target", str(self.leader), "--all", "--", "env", "-i", f"PATH={PATH}", "LANG=C.UTF-8",
            "PIP_NO_INDEX=1", "PIP_FIND_LINKS=/srv/wheels", *command,
        ]  # fmt: skip

    def do(self, *command: str, typed: str = "", may_fail: bool = False) -> str:
        """The output of a command on the running server. Raises Broken if it fails, unless it may."""
        return self._done(self._into(command), typed, may_fail=may_fail)

    def begin(self, *command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._into(command), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def _done(self, command: list[str], typed: str = "", *, may_fail: bool = False) -> str:
        outcome = subprocess.run(
            command, input=typed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        self.log.write(f"$ {' '.join(command)}\n{outcome.stdout}\n")
        self.log.flush()
        if outcome.returncode != 0 and not may_fail:
            raise Broken(f"{' '.join(command[-6:])} ended with {outcome.returncode}:\n{outcome.stdout[-3000:]}")
        return outcome.stdout

    def write(self, path: str, text: str) -> None:
        """Write a file on the running server. It is for /run, which cannot be reached through the server's folder."""
        subprocess.run(self._into(["tee", path]), input=text, text=True, stdout=subprocess.DEVNULL, check=True)

    def end(self) -> None:
        if self.container is not None:
            self.container.send_signal(signal.SIGTERM)
            try:
                self.container.wait(30)
            except subprocess.TimeoutExpired:
                self.container.kill()
                self.container.wait(10)
        subprocess.run(["umount", str(self.root)], capture_output=True, check=False)
        shutil.rmtree(self.work, ignore_errors=True)
