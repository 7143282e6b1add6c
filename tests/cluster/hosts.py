"""Hosts of a small network on this machine: each in a network namespace of its own, joined by a bridge, so that one can
be cut off as by a cable. Everything is inside namespaces that end with the command: nothing of it stays.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from casino.keeper import die_with_parent

BRIDGE: Final = "floor"
NETWORK: Final = "10.77.0.0/24"
INSIDE: Final = "--inside"
CANNOT: Final = 3
"""The exit code where this machine has not what the cluster needs."""


class NoNamespaces(RuntimeError):
    """This machine lets nobody make namespaces; the message says what to do."""


def enter(module: str, arguments: list[str]) -> None:
    """Go on inside namespaces of our own (network, mounts, processes), as their root; no root is needed for that."""
    as_root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    apart = ["unshare", *as_root, "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    try:
        works = subprocess.run([*apart, "ip", "link", "set", "lo", "up"], capture_output=True, text=True, check=False)
    except FileNotFoundError as missing:
        raise NoNamespaces(f"The cluster needs {missing.filename}: apt-get install util-linux iproute2") from None
    if works.returncode != 0:
        raise NoNamespaces(f"No namespaces can be made here ({works.stderr.strip()}): run it as root, on a machine.")
    os.execvp("unshare", [*apart, sys.executable, "-m", module, INSIDE, *arguments])


def reap() -> None:
    """The first process of a namespace buries everybody's dead; the command goes on as its child."""
    if (child := os.fork()) == 0:
        return
    while True:
        pid, status = os.wait()
        if pid == child:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def ip(*words: str, within: int | None = None) -> None:
    into = ["nsenter", f"--net=/proc/{within}/ns/net"] if within else []
    subprocess.run([*into, "ip", *words], check=True, capture_output=True)


def lay_bridge(*addresses: str) -> None:
    """This side of the network, with the addresses of the hosts that are never cut off."""
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
        """The same command, on this host."""
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", "--", *command]

    def cut_off(self) -> None:
        """As a switch that dies: nothing arrives, and nobody is told."""
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
    """What a file of sysctl.d says, on this host alone."""
    for line in settings.splitlines():
        name, is_set, value = line.partition("=")
        if is_set and not line.startswith("#"):
            path = f"/proc/sys/{name.strip().replace('.', '/')}"
            subprocess.run(host.command(["sh", "-c", f"echo {value.strip()} > {path}"]), check=True)


def _runs(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()
