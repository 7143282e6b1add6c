"""Three houses and a head office on this machine, a database each; they report by either way, and one is cut off."""

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
from typing import Any, Final, Protocol

import psycopg

from casino.embedded import APPLICATION, BASE_DIR, OWNER, SUPERUSER
from tests import processes, servers
from tests.letter_boxes import WRITER, LetterBox, subscribe, unsubscribe
from tests.patience import eventually
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
if address:
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
FILL: Final = """
import json
from tables.audit import letter_box
print(json.dumps({"put_in": letter_box.fill(), "says": letter_box.standing().says}))
"""
TAKE: Final = """
import json
from casino.office import replication
print(json.dumps({"taken": replication.take_all()}))
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
        return errand.stderr + errand.stdout


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


class Line(Protocol):
    """How days come from the houses to the head office. One house's is down until it is mended."""

    def __init__(self, staged: Company) -> None: ...

    def begin(self) -> None:
        """Where every house has its days and is registered."""

    def bring(self, name: str) -> str:
        """A house brings what is due; what it says of that."""

    def mend(self) -> None:
        """The house that was cut off is so no more."""

    def take(self) -> None:
        """The head office takes what came."""


class Https:
    """Pieces to web processes of the head office; the one that a house knows is not there at first."""

    def __init__(self, staged: Company) -> None:
        self.staged = staged
        self.main = processes.web_process(staged.environments[OFFICE], staged.folder / "main.log")
        self.late = processes.web_process(staged.environments[OFFICE], staged.folder / "late.log")
        for name in HOUSES:
            web = self.late if name == CUT_OFF else self.main
            staged.addresses[name] = f"{web.url}/office/arrivals/{name}/"

    def begin(self) -> None:
        self._start(self.main)

    def bring(self, name: str) -> str:
        return str(self.staged.answer(name, HAND_OVER)["says"])

    def mend(self) -> None:
        self._start(self.late)
        time.sleep(11)  # the first wait after a failure, and a second

    def take(self) -> None:
        """Web processes have."""

    def _start(self, web: processes.Served) -> None:
        self.staged.stack.callback(web.stop)
        web.start()


class Replicated:
    """A letter box for each house, read by the head office; one of them is stopped at first."""

    def __init__(self, staged: Company) -> None:
        self.staged = staged
        self.boxes = {name: LetterBox(staged.folder / name / "box") for name in HOUSES}
        for name, box in self.boxes.items():
            box.folder.mkdir()
            staged.stack.callback(box.stop)
            box.make()
            staged.addresses[name] = ""
            staged.environments[name]["LETTER_BOX_URL"] = box.url(WRITER)

    def begin(self) -> None:
        address = DATABASE_SERVER.database_url(SUPERUSER, _database(OFFICE))
        self.office = self.staged.stack.enter_context(psycopg.connect(address, autocommit=True))
        self.staged.stack.callback(unsubscribe, self.office)
        for name, box in self.boxes.items():
            subscribe(address, name, box)
        eventually(lambda: self._count("pg_subscription_rel WHERE srsubstate = 'r'") == len(HOUSES))
        self.boxes[CUT_OFF].stop()

    def bring(self, name: str) -> str:
        return str(self.staged.answer(name, FILL)["says"])

    def mend(self) -> None:
        self.boxes[CUT_OFF].start()

    def take(self) -> None:
        for box in self.boxes.values():
            if box.is_up:
                with box.as_role(SUPERUSER) as admin:
                    [place] = admin.execute("SELECT pg_current_wal_lsn()").fetchone() or [None]
                    eventually(partial(_is_fetched, admin, place))
        self.staged.answer(OFFICE, TAKE)

    def _count(self, rows: str) -> int:
        [count] = self.office.execute(f"SELECT count(*) FROM {rows}").fetchone() or [0]
        return int(count)


def _is_fetched(admin: psycopg.Connection, place: str) -> bool:
    query = "SELECT bool_and(confirmed_flush_lsn >= %s::pg_lsn) FROM pg_replication_slots"
    [fetched] = admin.execute(query, (place,)).fetchone() or [False]
    return bool(fetched)


def stage(folder: Path, way: type[Line]) -> Staging:
    """Two houses report while one is cut off; it catches up; what is not right is refused."""
    with company(folder) as staged:
        line = way(staged)
        open_houses(staged)
        line.begin()
        cut_off_said = {name: line.bring(name) for name in HOUSES}[CUT_OFF]
        line.take()
        staged.manage(OFFICE, "office", "verify")
        before = staged.answer(OFFICE, DAYS)
        line.mend()
        line.bring(CUT_OFF)
        line.take()
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
