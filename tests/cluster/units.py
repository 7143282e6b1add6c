"""Processes supervised like systemd units: one that dies is started again, unless it is held down."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from casino.embedded.keeper import die_with_parent
from tests.bench.processor import family

RESTART_SECONDS: Final = 2.0
"""RestartSec of the house's units."""
LOOK_SECONDS: Final = 0.05


@dataclass
class Unit:
    """A process and its children."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    log: Path
    restart_seconds: float = RESTART_SECONDS
    is_held: bool = False
    """Whether it stays dead until it is started explicitly."""
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    died: float | None = field(default=None, init=False)

    def start(self) -> None:
        self.is_held, self.died = False, None
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env=dict(self.environment), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=die_with_parent,
            )  # fmt: skip

    @property
    def pid(self) -> int:
        assert self.process is not None, f"{self.name} was never started"
        return self.process.pid

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self, *, held: bool = False) -> None:
        """`kill -9` the process and its children."""
        self.is_held = held
        send(signal.SIGKILL, family([self.pid]))

    def stop(self) -> None:
        """Make it hang, with SIGSTOP."""
        send(signal.SIGSTOP, family([self.pid]))

    def go_on(self) -> None:
        send(signal.SIGCONT, family([self.pid]))

    def look_after(self) -> None:
        if self.is_alive or self.is_held or self.process is None:
            return
        self.died = self.died or time.monotonic()
        if time.monotonic() - self.died >= self.restart_seconds:
            self.start()


def send(number: signal.Signals, pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class Units(dict[str, Unit]):
    """All units by name, and the thread that restarts them."""

    def __init__(self) -> None:
        super().__init__()
        self.over = threading.Event()
        self.keeper = threading.Thread(target=self._keep, daemon=True)

    def add(self, unit: Unit) -> Unit:
        self[unit.name] = unit
        return unit

    def _keep(self) -> None:
        while not self.over.wait(LOOK_SECONDS):
            for unit in self.values():
                unit.look_after()

    def end(self) -> None:
        self.over.set()
        if self.keeper.is_alive():
            self.keeper.join()
        for unit in reversed(self.values()):
            if unit.is_alive:
                unit.go_on()
                unit.kill(held=True)
