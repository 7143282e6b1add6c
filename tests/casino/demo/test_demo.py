"""`./run demo` really run: it opens, survives what dies in it, and leaves nothing behind however it ends."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from casino.embedded import servers
from tests.patience import eventually
from tests.processes import free_port
from tests.tiers import Tier, belongs_to


class Demo:
    """A demo of this checkout with data of its own."""

    def __init__(self, local: Path, *arguments: str, port: int) -> None:
        self.local, self.port = local, port
        clean = {key: value for key, value in os.environ.items() if key not in CONFIGURED}
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "casino.demo", "--port", str(port), *arguments],
            cwd=servers.BASE_DIR,
            env=clean | {"CASINO_LOCAL": str(local), "DJANGO_SETTINGS_MODULE": "casino.settings"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said = ""

    def __enter__(self) -> "Demo":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.ends()

    def is_open(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=15) as response:
                return bool(response.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def opened(self, seconds: float = 90) -> "Demo":
        self.hear("The house is open at", seconds)
        return self

    def hear(self, text: str, seconds: float = 90) -> None:
        """Wait for it to say this."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + seconds
        while text not in self.said:
            line = self.process.stdout.readline()
            self.said += line
            assert line, f"it ended without saying {text!r}:\n{self.said}"
            assert time.monotonic() < deadline, self.said

    def ends(self, seconds: float = 30) -> int:
        rest, _ = self.process.communicate(timeout=seconds)
        self.said += rest or ""
        return self.process.returncode

    def pids(self) -> set[int]:
        """Every process that has something to do with this demo's folder, by command line or environment."""
        processes = set()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    about = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
                except OSError:
                    continue
                if os.fsencode(self.local) in about:
                    processes.add(int(entry.name))
        return processes

    def child(self, name: str) -> int:
        """The oldest process of this child, or 0."""
        sign = COMMANDS.get(name, name)
        matching = []
        for pid in self.pids():
            with contextlib.suppress(OSError):
                if sign in Path(f"/proc/{pid}/cmdline").read_text():
                    matching.append(pid)
        return min(matching, default=0)


COMMANDS = {
    "web": "casino.web", "worker": "house@", "alerts": "alerts@", "events": "events@",
    "witness": "demo.example/witness",
}  # fmt: skip
"""What stands in the command line of a child and in no other's."""
CONFIGURED = {
    "DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SECRET_KEY", "PEPPER_FILE", "CASINO_ENV", "CASINO_DB_ROLE",
    "STATIC_ROOT", "AUDIT_KEY_FILE", "CHECKPOINT_KEY_FILE", "AUDIT_FOLDER", "CASINO_WEB_PROCESS",
}  # fmt: skip


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture
@belongs_to(Tier.TRIALS)
def start(local: Path) -> Iterator[Callable[..., Demo]]:
    demos: list[Demo] = []

    def begin(*arguments: str, port: int | None = None) -> Demo:
        demos.append(Demo(local, "--days", "0", "--still", *arguments, port=port or free_port()))
        return demos[-1]

    yield begin
    for demo in demos:
        demo.process.terminate()
        demo.ends()


def test_it_opens_alone_says_where_and_ctrl_c_leaves_nothing(start: Callable[..., Demo]) -> None:
    demo = start().opened()
    assert f"http://127.0.0.1:{demo.port}/" in demo.said
    assert re.search(r"(?i)badge|password|pin", demo.said), "the logins are said"
    assert demo.is_open()
    assert len(demo.pids()) > 6
    for arguments in ((), ("--fresh",)):
        second = start(*arguments)
        assert second.ends() == 1
        assert second.said == "A demo of this checkout is already running: stop it first (Ctrl-C there).\n"
    assert demo.is_open()
    demo.process.send_signal(signal.SIGINT)
    assert demo.ends() == 0
    assert demo.pids() == set()


def test_a_second_run_keeps_the_data_and_revives_what_dies(start: Callable[..., Demo], local: Path) -> None:
    created_ns = (local / "demo" / "postgres" / "PG_VERSION").stat().st_mtime_ns
    key = (local / "demo" / "secret-key").read_text()
    demo = start().opened()
    assert (local / "demo" / "postgres" / "PG_VERSION").stat().st_mtime_ns == created_ns
    assert (local / "demo" / "secret-key").read_text() == key
    for name in ("web", "worker", "alerts", "events", "beat", "witness"):
        pid = demo.child(name)
        os.kill(pid, signal.SIGKILL)
        demo.hear(f"{name} was killed by signal 9; starting it again")
        eventually(lambda name=name, pid=pid: demo.child(name) not in {0, pid})
    eventually(demo.is_open)
    os.kill(demo.child("casino.embedded.keeper"), signal.SIGKILL)
    demo.hear("lost their keeper; starting them again")
    eventually(demo.is_open)
    demo.process.terminate()
    assert demo.ends() == 0
    assert demo.pids() == set()


def test_all_killed_at_once_come_back_without_waiting_for_each_other(start: Callable[..., Demo]) -> None:
    """Harm: everything died, again, and no table can deal for a quarter of a minute, because the supervisor waits
    before it starts beat, then before it starts the worker, and only then starts the web."""
    demo = start().opened()
    killed = {}
    for _ in range(2):
        for name in ("beat", "worker", "alerts", "events", "web"):
            eventually(lambda name=name: demo.child(name) not in {0, killed.get(name)})
            killed[name] = demo.child(name)
            os.kill(killed[name], signal.SIGKILL)
        for name in ("beat", "worker", "alerts", "events", "web"):
            demo.hear(f"{name} was killed by signal 9; starting it again")
        demo.said = ""
    eventually(lambda: all(demo.child(name) not in {0, pid} for name, pid in killed.items()), seconds=12)
    eventually(demo.is_open)


def test_kill_9_of_the_supervisor_leaves_nothing_and_the_next_run_opens(start: Callable[..., Demo]) -> None:
    demo = start().opened()
    demo.process.kill()
    demo.ends()
    eventually(lambda: demo.pids() == set(), seconds=30)
    start().opened()


def test_a_busy_port_is_one_sentence_before_anything_starts(start: Callable[..., Demo]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        demo = start(port=taken.getsockname()[1])
        assert demo.ends() == 1
    assert re.fullmatch(r"Cannot listen on .*: choose another with --port\.\n", demo.said)


def test_fresh_starts_over(start: Callable[..., Demo], local: Path) -> None:
    key = (local / "demo" / "secret-key").read_text()
    start("--fresh").opened()
    assert (local / "demo" / "secret-key").read_text() != key


def test_fresh_spares_a_database_that_a_command_is_using(start: Callable[..., Demo], local: Path) -> None:
    with servers.provide("demo", within=local):
        demo = start("--fresh")
        assert demo.ends() == 1
    assert "Another command is using the demo's database" in demo.said
    assert (local / "demo" / "postgres").exists()
