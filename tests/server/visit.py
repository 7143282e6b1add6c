"""The steps on a plain server, as an operator of a house would take them. Each prints what it saw, or fails."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any, Final

from tests.server.machine import Broken, Server

NAME: Final = "casino.trial.test"
AUTHORITY: Final = "/etc/casino-ca/ca.pem"
OLDER, NEWER = "/srv/older/deploy/install", "/srv/checkout/deploy/install"
DEALING_SECONDS: Final = 10
DRILL_SECONDS: Final = 900
DRILLS_ENDED: Final = "SELECT count(*) FROM ledger_runend e JOIN ledger_run r ON r.id = e.run_id WHERE r.task = 'drill'"


class Visit:
    """A server, and the state that one step leaves for the next."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.screens: dict[str, Any] = {}
        self.moment = ""
        self.beyond: list[dict[str, Any]] = []

    def go(self, until: str | None) -> None:
        for step in STEPS:
            began = time.monotonic()
            print(f"== {(step.__doc__ or '').splitlines()[0]}", flush=True)
            for line in (step(self) or "").splitlines():
                print(f"   {line}", flush=True)
            print(f"   {time.monotonic() - began:.0f} s", flush=True)
            if step.__name__ == until:
                return

    # --- Tools of the steps ----------------------------------------------------------------------------------------

    def unwell(self) -> str:
        """Doctor's result in short: a count, and the parts that are not well."""
        parts = [json.loads(line) for line in self.server.do("casino", "doctor", "--json", may_fail=True).splitlines()]
        lines = [f"{part['state']}: {part['name']}: {part['says']}" for part in parts if part["state"] != "well"]
        return "\n".join([f"doctor: {len(parts)} parts, {len(parts) - len(lines)} well", *lines])

    def plan(self, **more: Any) -> str:
        plan = {"house": NAME, "authority": AUTHORITY, "dealers": self.screens["dealers"]} | more
        self.server.write("/run/plan.json", json.dumps(plan))
        return "/run/plan.json"

    def deal(self, seconds: float) -> list[dict[str, Any]]:
        """Have both dealers deal for some time; returns their screens' reports."""
        output = self.server.do("python3", "/srv/checkout/tests/server/dealing.py", self.plan(seconds=seconds))
        return self.reports(output)

    def reports(self, output: str) -> list[dict[str, Any]]:
        """The screens' reports in their output. The next dealing continues from there."""
        reports: list[dict[str, Any]] = json.loads(output.splitlines()[-1])
        for dealer, report in zip(self.screens["dealers"], reports, strict=True):
            dealer |= {"seq": report["seq"], "receipt": report["receipt"]}
        return reports

    def look(self, path: str, cookies: dict[str, str]) -> str:
        """A page as the owner of the cookies sees it, through nginx."""
        dealers = [{"table": 0, "seq": 0, "cookies": cookies}]
        plan = self.plan(look=path, dealers=dealers)
        status, page = json.loads(self.server.do("python3", "/srv/checkout/tests/server/dealing.py", plan))
        if status != 200:
            raise Broken(f"{path} answers with {status}: {page[:300]}")
        return str(page)

    def sql(self, statement: str) -> str:
        return self.server.do(
            "runuser", "-u", "postgres", "--", "psql", "-X", "-q", "-A", "-t", "-d", "casino", "-c", statement
        ).strip()

    def missing(self, keys: list[str]) -> int:
        """The number of acknowledged inputs that are not in the log."""
        quoted = ",".join(f"'{key}'" for key in keys)
        recorded = self.sql(f"SELECT count(DISTINCT key) FROM ledger_logentry WHERE key IN ({quoted})")
        return len(set(keys)) - int(recorded)


# --- Steps ---------------------------------------------------------------------------------------------------------


def prepare(visit: Visit) -> str:
    """Prepared where no systemd runs"""
    output = visit.server.before_boot(OLDER, "--name", NAME, "--trial")
    return next(line for line in output.splitlines() if "No systemd runs here" in line)


def install(visit: Visit) -> str:
    """Booted, and installed"""
    visit.server.boot()
    visit.server.do(OLDER)
    return visit.unwell()


def repeat(visit: Visit) -> str:
    """Installed once more: nothing changes"""
    checksums = "cd /etc && sha256sum casino.env casino-owner.env pgbackrest.conf nginx/casino/*"
    before = visit.server.do("sh", "-c", checksums)
    visit.server.do(NEWER)
    after = visit.server.do("sh", "-c", checksums)
    assert before == after, "secrets or certificates changed"
    return visit.unwell()


def open_tables(visit: Visit) -> str:
    """Two tables dealt through nginx and TLS"""
    house = "set -a; . /etc/casino.env; cd /opt/casino/current; exec runuser -u casino -- env PYTHONPATH=/srv/checkout"
    house += " PYTHONDONTWRITEBYTECODE=1 NUMBA_CACHE_DIR=/var/cache/casino DJANGO_SETTINGS_MODULE=casino.settings"
    output = visit.server.do("sh", "-c", f"{house} .venv/bin/python -m tests.server.floor /srv/tools")
    visit.screens = json.loads(output.splitlines()[-1])
    return summary(visit, visit.deal(DEALING_SECONDS))


def summary(visit: Visit, reports: list[dict[str, Any]]) -> str:
    """Check that dealing was not disturbed: nothing refused, nothing lost."""
    keys = [key for report in reports for key in report["acknowledged"]]
    reasons = [reason for report in reports for reason in report["refused"]]
    assert keys
    assert not reasons, reasons[:3]
    assert not (missing := visit.missing(keys)), f"{missing} acknowledged inputs are not in the log"
    return f"{len(keys)} inputs acknowledged, 0 refused, 0 lost"


def changed_over(visit: Visit, *command: str, may_fail: bool = False) -> str:
    """Change the release while both dealers deal, then check the house. The command exits with doctor's code."""
    script = f"python3 /srv/checkout/tests/server/dealing.py {visit.plan(seconds=3600, over='/run/over')} > /run/dealt"
    visit.server.do("rm", "-f", "/run/over")
    dealing = visit.server.begin("sh", "-c", script)
    try:
        visit.server.do(*command, may_fail=may_fail)
    finally:
        visit.server.do("touch", "/run/over")
        dealing.wait(60)
    reports = visit.reports(visit.server.do("cat", "/run/dealt"))
    return f"{summary(visit, reports)}\n{visit.unwell()}"


def upgrade(visit: Visit) -> str:
    """Upgraded while dealers deal"""
    return changed_over(visit, NEWER)


def back(visit: Visit) -> str:
    """Back to the previous release while dealers deal"""
    # The older release's doctor reports what the newer migrations made.
    return changed_over(visit, NEWER, "--back", may_fail=True)


def forth(visit: Visit) -> str:
    """And upgraded again"""
    return changed_over(visit, NEWER)


def streams(visit: Visit) -> str:
    """A live stream comes from casino-streams"""
    path = f"/live/?table={visit.screens['dealers'][0]['table']}"
    output = visit.server.do("python3", "/srv/checkout/tests/server/dealing.py", visit.plan(stream=path))
    status, line = json.loads(output)
    assert status == 200, line
    journal = visit.server.do("journalctl", "-u", "casino-streams", "--since", "-1min", "-o", "cat", "--no-pager")
    opened = [line for line in journal.splitlines() if '"opened"' in line]
    assert opened, "casino-streams opened no stream"
    return f"opened there; it begins with {line!r}"


def backup(visit: Visit) -> str:
    """A backup, encrypted"""
    visit.server.do("systemctl", "start", "backup-casino.service")
    stanza = json.loads(visit.server.do("runuser", "-u", "postgres", "--", "pgbackrest", "--output=json", "info"))[0]
    assert stanza["cipher"] == "aes-256-cbc", stanza["cipher"]
    plain = visit.server.do(
        "sh", "-c",
        "find /var/lib/pgbackrest/archive /var/lib/pgbackrest/backup -type f | while read -r file; do"
        " [ \"$(head -c 8 \"$file\")\" = Salted__ ] || echo \"$file\"; done",
    )  # fmt: skip
    assert not plain.strip(), f"not encrypted: {plain[:300]}"
    return f"{len(stanza['backup'])} backups, {stanza['cipher']}"


def drill(visit: Visit) -> str:
    """A restore drill, by the drill worker"""
    visit.server.do("casino", "drill")
    deadline = time.monotonic() + DRILL_SECONDS
    while visit.sql(DRILLS_ENDED) == "0":
        assert time.monotonic() < deadline, "no drill ended in time"
        time.sleep(2)
    journal = visit.server.do("journalctl", "-u", "backup-drill", "-o", "cat", "--no-pager")
    summaries = [line for line in journal.splitlines() if "were restored in" in line]
    return "\n".join([*summaries[-1:], visit.unwell()])


def restore(visit: Visit) -> str:
    """The house restored to a moment"""
    before = visit.deal(DEALING_SECONDS)
    time.sleep(2)
    visit.moment = visit.sql("SELECT clock_timestamp()")
    time.sleep(2)
    visit.beyond = visit.deal(DEALING_SECONDS)
    visit.sql("SELECT pg_switch_wal()")
    time.sleep(5)
    for command in (
        "systemctl stop 'casino-*' backup-drill backup-casino.timer 'postgresql*'",
        "runuser -u postgres -- pgbackrest --stanza=casino --delta --type=time --target-action=promote"
        f" --target='{visit.moment}' restore",
        "systemctl start postgresql",
    ):
        visit.server.do("sh", "-c", command)
    restored = [key for screen in before for key in screen["acknowledged"]]
    lost = [key for screen in visit.beyond for key in screen["acknowledged"]]
    assert visit.missing(restored) == 0
    assert visit.missing(lost) == len(set(lost))
    return f"to {visit.moment}: {len(restored)} inputs before it are there, {len(lost)} acknowledged after it are not"


def after_the_restore(visit: Visit) -> str:
    """Lost acknowledged inputs are named, and no table deals on"""
    people = visit.screens["people"]
    signers = [word for person in people for word in ("--by", person)]
    pins = f"{visit.screens['pin']}\n" * len(people)
    declared = visit.server.do(
        "setsid", "casino", "audit", "key", "--restored", "A trial of a restore", *signers, typed=pins
    )
    visit.server.do(NEWER)
    reports = visit.deal(2)
    reasons = [reason for report in reports for reason in report["refused"]]
    assert not any(report["acknowledged"] for report in reports), "a table went on dealing"
    assert all("pit boss" in reason for reason in reasons), reasons[:2]
    page = visit.look("/pit/restored/", visit.screens["boss"])
    rows = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.partition("<main")[2]))
    return f"{declared.splitlines()[-1]}\na dealer reads: {reasons[0][:200]}\nthe page: {rows[:700]}\n{visit.unwell()}"


STEPS: Final[tuple[Callable[[Visit], str], ...]] = (
    prepare, install, open_tables, upgrade, back, forth, repeat, streams, backup, drill, restore,
    after_the_restore,
)  # fmt: skip
