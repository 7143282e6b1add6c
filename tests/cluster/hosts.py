"""Hosts of a small network on this machine, each in a network namespace of its own. A bridge joins them, so each can be
cut off like a cable. All namespaces end with the command.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from casino.embedded.keeper import die_with_parent

BRIDGE: Final = "floor"
NETWORK: Final = "10.77.0.0/24"
INSIDE: Final = "--inside"
CANNOT: Final = 3
"""The exit code if this machine lacks what the cluster needs."""


class NoNamespaces(RuntimeError):
    """No namespaces can be made here. The message says what to do."""


def enter(module: str, arguments: list[str]) -> None:
    """Restart this command in namespaces of its own (network, mounts, processes), as root there. It need not be root
    outside. Raises NoNamespaces."""
    as_root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    unshare = ["unshare", *as_root, "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    try:
        trial = subprocess.run([*unshare, "ip", "link", "set", "lo", "up"], capture_output=True, text=True, check=False)
    except FileNotFoundError as missing:
        raise NoNamespaces(f"The cluster needs {missing.filename}: apt-get install util-linux iproute2") from None
    if trial.returncode != 0:
        raise NoNamespaces(
            f"No namespaces can be made here ({trial.stderr.strip()}): run it as root, outside containers."
        )
    os.execvp("unshare", [*unshare, sys.executable, "-m", module, INSIDE, *arguments])


def reap() -> None:
    """Continue in a child process, and reap all orphans here: the first process of a process namespace must do so."""
    if (child := os.fork()) == 0:
        return
    while True:
        pid, status = os.wait()
        if pid == child:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def ip(*words: str, within: int | None = None) -> None:
    prefix = ["nsenter", f"--net=/proc/{within}/ns/net"] if within else []
    subprocess.run([*prefix, "ip", *words], check=True, capture_output=True)


def lay_bridge(*addresses: str) -> None:
    """Make the bridge, with the addresses of the hosts that are never cut off."""
    ip("link", "set", "lo", "up")
    ip("link", "add", BRIDGE, "type", "bridge", "forward_delay", "0")
    for address in addresses:
        ip("address", "add", f"{address}/24", "dev", BRIDGE)
    ip("link", "set", BRIDGE, "up")


@dataclass
class Host:
    """A host that can be cut off."""

    name: str
    address: str
    holder: subprocess.Popen[bytes]

    @property
    def cable(self) -> str:
        return f"to-{self.name}"

    def command(self, command: list[str]) -> list[str]:
        """A command line that runs a command on this host."""
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", "--", *command]

    def cut_off(self) -> None:
        """Drop all packets silently, as when a switch dies."""
        ip("link", "set", self.cable, "down")

    def join(self) -> None:
        ip("link", "set", self.cable, "up")


def add_host(name: str, address: str) -> Host:
    holder = subprocess.Popen(
        ["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL, preexec_fn=die_with_parent
    )
    host, own_network = Host(name, address, holder), os.readlink("/proc/self/ns/net")
    deadline = time.monotonic() + 10
    while os.readlink(f"/proc/{holder.pid}/ns/net") == own_network or _runs(holder.pid) != "sleep":
        if time.monotonic() > deadline:
            raise NoNamespaces(f"The host {name} could not be made.")
        time.sleep(0.01)
    ip("link", "add", host.cable, "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
    ip("link", "set", host.cable, "master", BRIDGE, "up")
    ip("address", "add", f"{address}/24", "dev", "eth0", within=holder.pid)
    ip("link", "set", "eth0", "up", within=holder.pid)
    ip("link", "set", "lo", "up", within=holder.pid)
    return host


def set_kernel(settings: str, host: Host) -> None:
    """Apply a sysctl.d file on this host only."""
    for line in settings.splitlines():
        name, is_set, value = line.partition("=")
        if is_set and not line.startswith("#"):
            path = f"/proc/sys/{name.strip().replace('.', '/')}"
            subprocess.run(host.command(["sh", "-c", f"echo {value.strip()} > {path}"]), check=True)


def _runs(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()
