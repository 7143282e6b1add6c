"""The processes of deploy/systemd on this machine, each by its own unit's command, beside the bench's database and
broker; what each of them works and holds."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from casino.embedded import servers
from tests.bench.processor import TICKS, family, stat
from tests.processes import Served, Web, answers, free_port

DEPLOY: Final = servers.BASE_DIR / "deploy"
INSTALLED: Final = "/opt/casino/current"
PAINTER: Final = b"dealer_ui.pit.floor.painter_process"


def commands() -> dict[str, list[str]]:
    """What each unit starts, by its name without `casino-`; of the web, one for each port that nginx knows."""
    upstream = (DEPLOY / "nginx" / "casino-upstream.conf").read_text()
    commands = {}
    for unit in sorted((DEPLOY / "systemd").glob("casino-*.service")):
        name = unit.stem.removeprefix("casino-")
        line = re.search(r"^ExecStart=(.+)$", unit.read_text(), re.M)
        assert line, f"{unit} starts nothing"
        ports = re.findall(r"^server 127\.0\.0\.1:(\d+)", upstream, re.M) if name.endswith("@") else [""]
        for port in ports:
            command = line[1].replace("%i", port).replace("%%h", "bench").replace(INSTALLED, str(servers.BASE_DIR))
            commands[f"{name}{port}"] = shlex.split(command)
    return commands


@dataclass
class Reading:
    """What the parts of the house have worked, in seconds of one core, and what they hold, in megabytes."""

    seconds: dict[str, float]
    megabytes: dict[str, float]


@dataclass
class Deployed:
    """The house's processes, by unit."""

    served: Mapping[str, Served]

    def ports(self, unit: str) -> list[int]:
        """Where a unit is served; streams are served with the pages where no unit is for them alone."""
        webs = [web for name, web in self.served.items() if part_of(name) == unit and isinstance(web, Web)]
        return [int(web.url.rsplit(":", 1)[1]) for web in webs] or self.ports("web")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports('web')[0]}"

    def read(self) -> Reading:
        folder = servers.ServerSet(servers.LOCAL / "bench").folder
        roots = {unit: served.process.pid for unit, served in self.served.items() if served.process}
        roots["database"] = int((folder / "postgres" / "postmaster.pid").read_text().split()[0])
        roots["valkey"] = int((folder / "valkey" / "valkey.pid").read_text())
        reading = Reading({}, {})
        for name, root in roots.items():
            for pid in family([root]):
                part = "painter" if PAINTER in _command(pid) else part_of(name)
                reading.seconds[part] = reading.seconds.get(part, 0.0) + _seconds(pid)
                reading.megabytes[part] = reading.megabytes.get(part, 0.0) + _megabytes(pid)
        return reading


def part_of(name: str) -> str:
    """A unit without its instance."""
    return name.partition("@")[0]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _seconds(pid: int) -> float:
    times = stat(Path(f"/proc/{pid}"))
    return sum(map(int, times[11:15])) / TICKS if times else 0.0


def _megabytes(pid: int) -> float:
    """A process's share of the memory that it uses: what several have in common is divided among them."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    share = re.search(r"^Pss:\s+(\d+)", rollup, re.M)
    return int(share[1]) / 1024 if share else 0.0


@contextmanager
def deployed(folder: Path, environment: Mapping[str, str]) -> Iterator[Deployed]:
    """Start every unit; stop them all."""
    shared = dict(os.environ) | {"CASINO_ENV": "production", "TLS": "no", "ALLOWED_HOSTS": "127.0.0.1"}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    shared |= {"WEB_PROCESSES": str(min(max(cores // 2, 1), 4)), "DATABASE_CONNECTIONS": "24"}  # as deploy/install says
    shared |= {"ACCESS_LOG": str(folder / "access.log"), "STATIC_ROOT": str(folder / "static"), **environment}
    collect = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]
    subprocess.run(collect, env=shared, check=True)
    served = {unit: _served(unit, command, shared, folder) for unit, command in commands().items()}
    try:
        for process in served.values():
            process.start(seconds=180)
        yield Deployed(served)
    finally:
        for process in reversed(served.values()):
            process.stop()


def _served(unit: str, command: list[str], environment: dict[str, str], folder: Path) -> Served:
    log = folder / f"{unit}.log"
    if "--port" in command:
        port = free_port()
        command[command.index("--port") + 1] = str(port)
        return Web(command, environment, log, answers, url=f"http://127.0.0.1:{port}")
    if "--schedule" in command:
        command[command.index("--schedule") + 1] = str(folder / "beat")
    word = "beat: Starting" if unit == "beat" else " ready."
    return Served(command, environment, log, lambda process: word in process.output())
