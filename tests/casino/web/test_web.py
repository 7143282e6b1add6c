"""The web server with several processes: what becomes of the house when one of them dies, or all are told to stop."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from casino.web import processes as casino_web
from tests.patience import eventually
from tests.processes import Web, answers


@pytest.fixture
def two(own_web: Callable[..., Web], transactional_db: None) -> Web:
    """A web of two processes."""
    server = own_web(WEB_PROCESSES="2")
    eventually(lambda: len(workers(server)) == 2)
    return server


def workers(web: Web) -> set[int]:
    """The processes that serve, by their numbers."""
    assert web.process is not None
    children = set()
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == web.process.pid and "spawn_main" in (entry / "cmdline").read_text():
                children.add(int(entry.name))
    return children


def lives(pid: int) -> bool:
    """Not merely waiting for somebody to take note of its death."""
    with suppress(OSError):
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    return False


def port_of(web: Web) -> int:
    return int(web.url.rsplit(":", 1)[1])


def test_one_is_killed_the_others_go_on_and_it_is_replaced(two: Web) -> None:
    """Harm: one process dies, and with it the whole floor; or what is left carries the floor alone for good."""
    before = workers(two)
    victim = min(before)
    os.kill(victim, signal.SIGKILL)
    eventually(lambda: victim not in workers(two))
    eventually(lambda: answers(two))
    assert all(answers(two) for _ in range(10))
    eventually(lambda: len(workers(two)) == 2)
    assert before - workers(two) == {victim}
    assert all(answers(two) for _ in range(10))


def test_kill_9_of_the_supervisor_leaves_no_process_on_the_port(two: Web) -> None:
    """Harm: the supervisor dies, its processes go on with old code, and the new ones cannot have the port."""
    assert two.process is not None
    left = workers(two)
    os.kill(two.process.pid, signal.SIGKILL)
    two.process.wait()
    eventually(lambda: not any(map(lives, left)), seconds=20)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port_of(two)))
    two.start()
    eventually(lambda: answers(two))


def test_all_stop_when_they_are_told_to(two: Web) -> None:
    """Harm: a deployment waits for a process that never ends."""
    left = workers(two)
    two.stop(seconds=60)  # after that it is killed
    assert two.process is not None
    assert two.process.returncode in (0, -signal.SIGTERM)
    assert not any(map(lives, left))


@pytest.mark.parametrize("asked", ["0", "-1", "two", "²"])
def test_a_wrong_number_of_processes_is_one_sentence(process_environment: dict[str, str], asked: str) -> None:
    command = [sys.executable, "-m", "casino.web", "--port", "0"]
    environment = process_environment | {"WEB_PROCESSES": asked}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr == f"WEB_PROCESSES is {asked!r}: it may be a whole number, 1 or more\n"


def test_one_for_each_core_that_we_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a core stands idle while dealers wait."""
    monkeypatch.delenv("WEB_PROCESSES", raising=False)
    assert casino_web.processes() == min(len(os.sched_getaffinity(0)), casino_web.MOST_BY_DEFAULT)
    for asked in range(1, 17):
        monkeypatch.setenv("WEB_PROCESSES", str(asked))
        assert casino_web.processes() == asked
