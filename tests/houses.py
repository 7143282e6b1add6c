"""Three houses and a head office on this machine: a database each, processes of their own, and one house cut off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import psycopg

from casino.embedded import APPLICATION, BASE_DIR, OWNER, SUPERUSER
from tests import processes, servers
from tests.servers import DATABASE_SERVER

HOUSES: Final = {"north": "EUR", "south": "EUR", "west": "USD"}
OFFICE: Final = "office"
CUT_OFF: Final = "west"
PASSWORD: Final = "green felt and brass rails"  # pragma: allowlist secret

DEAL: Final = """
import sys, json; from pathlib import Path
from ledger.proof import seals
from tables.alerting import channels; from tables.alerting.channels import ChannelDraft
from tables.models import Staff; from tables.roles import Role
from tests.tables import bundles
who, address, secret, folder = sys.argv[1:]
boss = Staff.objects.create_staff(f"anna-{who}", name=f"Anna {who}", role=Role.OPERATOR, password=PASSWORD)
channels.set_channel(ChannelDraft("Head office", "webhook", address, secret, tells="days"), by=boss)
evidence = bundles.two_days(Path(folder))
print(json.dumps({"key": evidence.public, "first": str(evidence.first), "second": str(evidence.second)}))
"""
HAND_OVER: Final = """
import json
from tables.alerting.rows import FeedPosition
from tables.audit import handing_over
taken = handing_over.hand_over("Head office"); [state] = handing_over.states()
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
        """A management command of one of them."""
        return self._run(name, ["manage.py", *command], fails=fails)

    def answer(self, name: str, script: str, *arguments: str) -> Any:
        """What a process of one of them prints."""
        prelude = f"import django; django.setup(); PASSWORD = {PASSWORD!r}\n"
        return json.loads(self._run(name, ["-c", prelude + script, *arguments]).splitlines()[-1])

    def _run(self, name: str, command: list[str], *, fails: bool = False) -> str:
        errand = subprocess.run(
            [sys.executable, *command], cwd=BASE_DIR, env=self.environments[name], capture_output=True, text=True,
            check=False, timeout=600,
        )  # fmt: skip
        assert bool(errand.returncode) == fails, f"{name}: {errand.stdout[-2000:]}{errand.stderr[-4000:]}"
        return errand.stdout + errand.stderr


@contextmanager
def company(folder: Path) -> Iterator[Company]:
    """Four new databases, migrated once and copied; people in each; two days dealt and sealed in every house."""
    servers.running(DATABASE_SERVER)
    servers.running(servers.BROKER)
    with ExitStack() as stack:
        staged = Company(folder, stack)
        admin = stack.enter_context(
            psycopg.connect(DATABASE_SERVER.database_url(SUPERUSER, "postgres"), autocommit=True)
        )
        names = {name: f"test_{os.getpid()}_{name}" for name in (OFFICE, *HOUSES)}
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
    """Two days in each house, sealed; each registered at the head office with the key that it told."""
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
    """What came of it."""

    arrived_without_the_cut_off: list[list[Any]]
    cut_off_said: str
    arrived: list[list[Any]]
    figures: int
    refused: list[str]
    signs_in: dict[str, list[str]]
    """At each database, which of all people can."""


def stage(folder: Path) -> Staging:
    """Two houses report while one is cut off; it catches up; what is not right is refused."""
    with company(folder) as staged:
        main = processes.web_process(staged.environments[OFFICE], folder / "main.log")
        late = processes.web_process(staged.environments[OFFICE], folder / "late.log")
        for name in HOUSES:
            staged.addresses[name] = f"{(late if name == CUT_OFF else main).url}/office/arrivals/{name}/"
        open_houses(staged)
        staged.stack.callback(main.stop)
        main.start()
        cut_off_said = ""
        for name in HOUSES:
            report = staged.answer(name, HAND_OVER)
            cut_off_said = report["says"] if name == CUT_OFF else cut_off_said
        staged.manage(OFFICE, "office", "verify")
        before = staged.answer(OFFICE, DAYS)
        staged.stack.callback(late.stop)
        late.start()
        time.sleep(11)  # the first wait after a failure, and a second
        staged.answer(CUT_OFF, HAND_OVER)
        staged.manage(OFFICE, "office", "verify")
        refused = _refused(staged)
        after = staged.answer(OFFICE, DAYS)
        people = ["otto", *(f"anna-{name}" for name in HOUSES)]
        signs_in = {name: staged.answer(name, SIGN_IN, *people) for name in (OFFICE, *HOUSES)}
    return Staging(before["days"], cut_off_said, after["days"], after["figures"], refused, signs_in)


def _refused(staged: Company) -> list[str]:
    """Another house's bundle, and one with a byte that is another."""
    torn = staged.folder / "torn.zip"
    content = bytearray(Path(staged.evidence["north"]["first"]).read_bytes())
    content[len(content) // 2] ^= 1
    torn.write_bytes(content)
    return [
        staged.manage(OFFICE, "office", "take", "south", staged.evidence["north"]["first"], fails=True),
        staged.manage(OFFICE, "audit", "verify", str(torn), "--key", staged.evidence["north"]["key"], fails=True),
    ]
