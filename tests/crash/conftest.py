"""A house of its own that may be killed: PostgreSQL, a web process, and a client that deals there over HTTP."""

import http.client
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from casino.embedded import servers
from casino.embedded.servers import OWNER, ServerSet
from tests.patience import eventually
from tests.processes import Web, web_process
from tests.tiers import Tier, belongs_to

TOKEN = "t" * 32


@dataclass
class Client:
    """A screen: sends each input with a key until it is acknowledged, and never makes a second key for it."""

    web: Web
    table: int
    cookies: str
    acknowledged: dict[str, int] = field(default_factory=dict)
    """key -> the entry that was acknowledged for it."""
    failures: list[str] = field(default_factory=list)
    """What was answered, or how the connection broke, before an input was acknowledged."""

    def board(self) -> dict[str, Any]:
        """The board, as soon as somebody answers."""
        return self._until_answered(self._request("GET", f"tables/{self.table}/"))

    def enter(self, entered: dict[str, Any], seq: int) -> dict[str, Any]:
        """One input, sent again and again with its key."""
        key = str(uuid.uuid4())
        body = json.dumps({"key": key, "expected_seq": seq, "input": entered}).encode()
        answer = self._until_answered(self._request("POST", f"tables/{self.table}/inputs/", body))
        self.acknowledged[key] = answer["entry"]
        return answer

    def _request(self, method: str, path: str, body: bytes | None = None) -> urllib.request.Request:
        headers = {
            "Cookie": f"{self.cookies}; csrftoken={TOKEN}",
            "X-CSRFToken": TOKEN,
            "Content-Type": "application/json",
        }
        return urllib.request.Request(f"{self.web.url}/api/{path}", body, headers, method=method)

    def _until_answered(self, request: urllib.request.Request) -> dict[str, Any]:
        answer = eventually(lambda: self._answer(request), "no answer")
        assert answer is not None
        return answer

    def _answer(self, request: urllib.request.Request) -> dict[str, Any] | None:
        try:
            with urllib.request.urlopen(request, timeout=15) as response:
                answer: dict[str, Any] = json.load(response)
                return answer
        except urllib.error.HTTPError as refused:
            problem = refused.read().decode()
            # Anything but "the database is away, try again" is a wrong answer to a right question. A session that
            # outlived its web process by a moment may hold the book.
            if refused.code != 503 or json.loads(problem)["code"] not in {"database_unavailable", "book_held"}:
                raise AssertionError(f"{refused.code}: {problem}") from refused
            self.failures.append("503")
        except (OSError, http.client.HTTPException, json.JSONDecodeError) as broken:
            self.failures.append(type(broken).__name__)
        return None


@dataclass
class Fragile:
    """The house, and how to kill its parts."""

    house: ServerSet
    web: Web
    client: Client
    environment: dict[str, str]

    def kill_web(self) -> None:
        self.web.kill()
        self.web.start()

    def kill_postgres(self) -> None:
        """`kill -9` of the postmaster and of every process that it started."""
        master = int((self.house.data / "postmaster.pid").read_text().split()[0])
        for pid in [master, *children(master)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def sql(self, query: str, *values: Any) -> list[Any]:
        with psycopg.connect(self.house.database_url(OWNER)) as connection:
            return connection.execute(query, values).fetchall()

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run(self.environment, "manage.py", *arguments)


def children(master: int) -> list[int]:
    pids = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == master:
                pids.append(int(entry.name))
    return pids


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    run = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert run.returncode == 0, run.stderr
    return run


@pytest.fixture(scope="module")
def processes() -> int:
    """How many web processes a module's house has."""
    return 1


@pytest.fixture(scope="module")
@belongs_to(Tier.TRIALS)
def fragile(tmp_path_factory: pytest.TempPathFactory, processes: int) -> Iterator[Fragile]:
    """One house for a module: what a kill spoils, the tests after it find out."""
    folder = tmp_path_factory.mktemp("fragile")
    with servers.provide("crash", within=folder) as house:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("CASINO_", "PYTEST_"))}
        environment = inherited | house.environment() | {"DJANGO_SETTINGS_MODULE": "casino.settings"}
        environment["WEB_PROCESSES"] = str(processes)
        environment.pop("STATIC_ROOT", None)
        run(environment, "manage.py", "migrate", "--verbosity", "0")
        run(environment, "manage.py", "grants", "--verbosity", "0")
        reached = json.loads(run(environment, "-m", "tests.crash.prepare").stdout)
        web = web_process(environment, folder / "web.log")
        web.start()
        yield Fragile(house, web, Client(web, reached["table"], reached["cookies"]), environment)
        web.stop()
