"""Three houses and a head office on this machine, each with its own database. One house is cut off for a while."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import psycopg

from casino.embedded.servers import APPLICATION, BASE_DIR, OWNER, SUPERUSER
from tests import processes, servers
from tests.servers import DATABASE_SERVER

HOUSES: Final = {"north": "EUR", "south": "EUR", "west": "USD"}
OFFICE: Final = "office"
CUT_OFF: Final = "west"
PASSWORD: Final = "green felt and brass rails"  # pragma: allowlist secret

DEAL: Final = """
import sys, json; from pathlib import Path
from ledger.proof import seals
from tables.alerts import channels; from tables.alerts.channels import ChannelDraft
from tables.models import Staff; from tables.roles import Role
from tests.tables import bundles
who, address, secret, folder = sys.argv[1:]
boss = Staff.objects.create_staff(f"anna-{who}", name=f"Anna {who}", role=Role.OPERATOR, password=PASSWORD)
channels.set_channel(ChannelDraft("Head office", "webhook", address, secret, tells="days"), by=boss)
evidence = bundles.two_days(Path(folder))
print(json.dumps({"key": evidence.public, "first": str(evidence.first), "second": str(evidence.second)}))
"""
HAND_OVER: Final = """
import json; from datetime import timedelta
from tables.alerts import outbox, streams
outbox.wait_after = lambda failures: timedelta(0)  # no pause after a failure
taken = streams.send_turn("Head office"); [state] = streams.states("days")
print(json.dumps({"taken": taken, "to_go": state.behind, "says": state.says}))
"""
SIGN_IN: Final = """
import sys, json
from tables.models import Staff
people = sys.argv[1:]
print(json.dumps([name for name in people
    if (person := Staff.objects.filter(username=name).first()) and person.check_password(PASSWORD)]))
"""
OPEN_OFFICE: Final = """
from tables.models import Staff; from tables.roles import Role
Staff.objects.create_staff("otto", name="Otto", role=Role.OPERATOR, password=PASSWORD)
print("{}")
"""
DAYS: Final = """
import json
from casino.office.models import Day, TableDay
rows = Day.objects.order_by("pk").values_list("house__code", "number")
print(json.dumps({"days": [list(row) for row in rows], "figures": TableDay.objects.count()}))
"""


@dataclass
class Company:
    """A head office and its houses."""

    folder: Path
    stack: ExitStack
    environments: dict[str, dict[str, str]] = field(default_factory=dict)
    evidence: dict[str, dict[str, str]] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)

    def manage(self, name: str, *command: str, fails: bool = False) -> str:
        """Run a management command of the office or a house."""
        return self._run(name, ["manage.py", *command], fails=fails)

    def answer(self, name: str, script: str, *arguments: str) -> Any:
        """The JSON that a script prints in a process of the office or a house."""
        prelude = f"import django; django.setup(); PASSWORD = {PASSWORD!r}\n"
        return json.loads(self._run(name, ["-c", prelude + script, *arguments]).splitlines()[-1])

    def _run(self, name: str, command: list[str], *, fails: bool = False) -> str:
        process = subprocess.run(
            [sys.executable, *command], cwd=BASE_DIR, env=self.environments[name], capture_output=True, text=True,
            check=False, timeout=600,
        )  # fmt: skip
        assert bool(process.returncode) == fails, f"{name}: {process.stdout[-2000:]}{process.stderr[-4000:]}"
        return process.stderr + process.stdout


@contextmanager
def company(folder: Path) -> Iterator[Company]:
    """A head office and three houses with empty databases, migrated once and copied."""
    servers.running(DATABASE_SERVER)
    servers.running(servers.BROKER)
    with ExitStack() as stack:
        staged = Company(folder, stack)
        admin = stack.enter_context(
            psycopg.connect(DATABASE_SERVER.database_url(SUPERUSER, "postgres"), autocommit=True)
        )
        names = {name: _database(name) for name in (OFFICE, *HOUSES)}
        for name, database in names.items():
            template = "" if name == OFFICE else f' TEMPLATE "{names[OFFICE]}"'
            admin.execute(f'CREATE DATABASE "{database}" OWNER {OWNER}{template}')
            stack.callback(admin.execute, f'DROP DATABASE "{database}" WITH (FORCE)')
            staged.environments[name] = _environment(folder / name, database, office=name == OFFICE)
            if name == OFFICE:
                staged.manage(OFFICE, "migrate", "--verbosity", "0")
            else:
                staged.manage(name, "grants", "--verbosity", "0")
        yield staged


def _database(name: str) -> str:
    return f"test_{os.getpid()}_{name}"


def _environment(folder: Path, database: str, *, office: bool) -> dict[str, str]:
    folder.mkdir(parents=True)
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("CASINO_", "PYTEST_"))}
    (folder / "pepper").write_text(Path(DATABASE_SERVER.pepper()).read_text())
    return inherited | {
        "DJANGO_SETTINGS_MODULE": "casino.settings",
        "DATABASE_URL": DATABASE_SERVER.database_url(APPLICATION, database),
        "DATABASE_OWNER_URL": DATABASE_SERVER.database_url(OWNER, database),
        "REDIS_URL": servers.BROKER.redis_url,
        "SECRET_KEY": f"of {folder.name}, and of no other",
        "PEPPER_FILE": str(folder / "pepper"),
        "OFFICE_FOLDER": str(folder / "bundles"),
        "CASINO_ENV": "demo",
        "CASINO_ROLE": "head_office" if office else "house",
        "WEB_PROCESSES": "1",
    }


def open_houses(staged: Company) -> None:
    """Deal and seal two days in each house, and register it at the head office with its key."""
    staged.answer(OFFICE, OPEN_OFFICE)
    with ThreadPoolExecutor() as threads:
        staged.evidence = dict(zip(HOUSES, threads.map(partial(_deal, staged), HOUSES), strict=True))
    for name, currency in HOUSES.items():
        staged.manage(
            OFFICE, "office", "register", name, "--name", name.title(), "--currency", currency,
            "--key", staged.evidence[name]["key"], "--secret-file", str(staged.folder / name / "secret"),
            "--by", "otto",
        )  # fmt: skip


def _deal(staged: Company, name: str) -> dict[str, str]:
    secret, folder = f"the line of {name}, " + name * 5, staged.folder / name
    (folder / "secret").write_text(secret)
    facts: dict[str, str] = staged.answer(name, DEAL, name, staged.addresses[name], secret, str(folder))
    return facts


@dataclass(frozen=True)
class Staging:
    """The observations of a run, for a test to judge."""

    arrived_without_the_cut_off: list[list[Any]]
    cut_off_said: str
    arrived: list[list[Any]]
    figures: int
    refused: list[str]
    signs_in: dict[str, list[str]]
    """The people who can sign in, by database."""


class Line:
    """The way of days to the head office: pieces over HTTP to its web processes. That of the cut-off house starts
    late."""

    def __init__(self, staged: Company) -> None:
        self.staged = staged
        self.main = processes.web_process(staged.environments[OFFICE], staged.folder / "main.log")
        self.late = processes.web_process(staged.environments[OFFICE], staged.folder / "late.log")
        for name in HOUSES:
            web = self.late if name == CUT_OFF else self.main
            staged.addresses[name] = f"{web.url}/office/arrivals/{name}/"

    def begin(self) -> None:
        """Start, once every house is registered and has its days."""
        self._start(self.main)

    def bring(self, name: str) -> str:
        """Have a house send the days that are due; returns its message."""
        return str(self.staged.answer(name, HAND_OVER)["says"])

    def mend(self) -> None:
        """Reconnect the house that is cut off."""
        self._start(self.late)

    def _start(self, web: processes.Served) -> None:
        self.staged.stack.callback(web.stop)
        web.start()


def stage(folder: Path) -> Staging:
    """Two houses report while one is cut off; then it catches up; then bad bundles are refused."""
    with company(folder) as staged:
        line = Line(staged)
        open_houses(staged)
        line.begin()
        cut_off_said = {name: line.bring(name) for name in HOUSES}[CUT_OFF]
        staged.manage(OFFICE, "office", "verify")
        before = staged.answer(OFFICE, DAYS)
        line.mend()
        line.bring(CUT_OFF)
        staged.manage(OFFICE, "office", "verify")
        refused = _refused(staged)
        after = staged.answer(OFFICE, DAYS)
        people = ["otto", *(f"anna-{name}" for name in HOUSES)]
        signs_in = {name: staged.answer(name, SIGN_IN, *people) for name in (OFFICE, *HOUSES)}
    return Staging(before["days"], cut_off_said, after["days"], after["figures"], refused, signs_in)


def _refused(staged: Company) -> list[str]:
    """The outputs for another house's bundle, and for a bundle with one changed byte."""
    damaged = staged.folder / "damaged.zip"
    content = bytearray(Path(staged.evidence["north"]["first"]).read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    return [
        staged.manage(OFFICE, "office", "take", "south", staged.evidence["north"]["first"], fails=True),
        staged.manage(OFFICE, "audit", "verify", str(damaged), "--key", staged.evidence["north"]["key"], fails=True),
    ]
