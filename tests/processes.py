"""Real processes for tests: the web server and the Celery worker, run as the application's role and nobody else."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from casino.embedded.keeper import die_with_parent
from tests import servers
from tests.patience import eventually

SERVED_PORTS: Final = range(20_000, 32_000)
"""Below those that a system gives to outgoing connections: such a one would take a port before its server listens."""

LIMITS: Final = ("REQUESTS_PER_CLIENT", "REQUESTS_PER_ADDRESS")
UNTHROTTLED: Final = {name: "1000000" for limit in LIMITS for name in (limit, f"{limit}_A_SECOND")}
"""For a process whose clients all come from one address, some without a pause; what the limits do has tests of its own
(tests/casino/web/test_throttle.py)."""


def free_port() -> int:
    while True:
        port = random.choice(SERVED_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@dataclass
class Served:
    """A process under test: started, stopped, killed as a test likes. `log` holds all that it wrote."""

    command: list[str]
    environment: dict[str, str]
    log: Path
    is_up: Callable[["Served"], bool]
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self, seconds: float = 180) -> None:
        servers.refuse_in_quick(" ".join(self.command))
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
                preexec_fn=die_with_parent,
            )
        try:
            eventually(lambda: self.is_up(self) or not self.alive, "did not start", seconds=seconds)
            assert self.alive, "did not start"
        except AssertionError as reason:
            self.kill()
            raise RuntimeError(f"{reason}:\n{self.output()}") from reason

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def stop(self, number: int = signal.SIGTERM, seconds: float = 15) -> None:
        if self.process is None or not self.alive:
            return
        self.process.send_signal(number)
        try:
            self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """`kill -9` of the process and whatever it started."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(timeout=10)

    def restart(self) -> None:
        self.stop()
        self.start()


@dataclass
class Web(Served):
    """uvicorn on `url`."""

    url: str = ""


def answers(web: Served) -> bool:
    assert isinstance(web, Web)
    try:
        with urllib.request.urlopen(f"{web.url}/healthz", timeout=2) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def web_process(environment: dict[str, str], log: Path, *options: str) -> Web:
    port = free_port()
    command = [sys.executable, "-m", "casino.web", "--port", str(port), *options]
    return Web(command, environment, log, answers, url=f"http://127.0.0.1:{port}")


def worker_process(environment: dict[str, str], log: Path, *options: str) -> Served:
    command = [sys.executable, "-m", "celery", "--app", "casino", "worker", "--concurrency", "1"]
    command += ["--loglevel", "INFO", "--without-gossip", "--without-mingle", *options]
    return Served(command, environment, log, lambda worker: " ready." in worker.output())
