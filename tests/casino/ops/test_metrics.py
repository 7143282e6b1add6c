"""What Prometheus reads: over all processes, without a label that strangers choose, for whoever brings the token."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from casino.database_address import settings_of
from casino.embedded.servers import BASE_DIR
from casino.ops import worker_figures, worker_meters
from casino.ops.metrics import SiteCollector, forget_dead
from ledger import meters
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import service_accounts
from tables.setup.service_accounts import Access
from tables.staff import service_tokens
from tests import floor
from tests.floor import Hand
from tests.processes import Web
from tests.promql import metrics_of

RULES: Final = BASE_DIR / "deploy" / "prometheus" / "alerts.yml"
_COUNTING: Final = ("ledger/meters.py", "casino/ops/metrics.py", "casino/ops/worker_figures.py")
DASHBOARD: Final = BASE_DIR / "deploy" / "grafana" / "casino.json"


def figures(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def token(scope: str = "read:metrics") -> str:
    olga = floor.staff(Role.OPERATOR, "olga")
    access = Access(purpose="Keeps figures", scopes=(scope,), expires=timezone.now() + timedelta(days=9))
    return service_tokens.make(service_accounts.set_account("Prometheus", access, by=olga), by=olga)


@pytest.mark.django_db
@pytest.mark.parametrize(("brought", "status"), [("", 404), ("Basic abc", 404), ("Bearer casino_wrong", 401)])
def test_nobody_else_is_told(client: Client, brought: str, status: int) -> None:
    """Harm: strangers read how busy the house is, and which views there are."""
    assert client.get("/metrics", headers={"authorization": brought}).status_code == status


@pytest.mark.django_db
def test_a_program_without_the_scope_is_refused(client: Client) -> None:
    """Harm: the display in the lounge reads what is for operators."""
    answer = client.get("/metrics", headers={"authorization": f"Bearer {token('read:board')}"})
    assert (answer.status_code, answer.json()["code"]) == (403, "no_scope")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("broker")
def test_what_happens_at_a_table_is_counted(client: Client, dealer: Hand) -> None:
    """Harm: an operator sees a quiet house while tables refuse everything."""
    bearer = {"authorization": f"Bearer {token()}"}

    def read() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
        return figures(client.get("/metrics", headers=bearer).content.decode())

    before = read()
    dealer.bets(seat1=1_000)
    with pytest.raises(Refused):
        dealer("bet", seat=1, amount_cents=1_000)
    dealer.cards(8, 9)
    dealer("choose", seat=1, choice="fold")
    after = read()

    def more(name: str, **labels: str) -> float:
        key = (name, tuple(sorted(labels.items())))
        return after[key] - before.get(key, 0.0)

    assert more("casino_rounds_total", game="rocket") == 1
    assert more("casino_record_seconds_count") >= 5
    refused = {
        name: value - before.get(name, 0.0) for name, value in after.items() if name[0] == "casino_refusals_total"
    }
    assert sum(refused.values()) == 1
    assert after["casino_tables_open", ()] == 1
    assert after["casino_queue_tasks", (("queue", "events"),)] >= 0
    assert sum(value for name, value in after.items() if name[0] == "casino_database_connections") >= 1
    assert after["casino_feed_unfed_entries", ()] > 0


@pytest.fixture
def two_processes(transactional_db: None, own_web: Callable[..., Web]) -> Web:
    return own_web(WEB_PROCESSES="2")


def test_all_processes_are_added_up_and_no_stranger_makes_a_series(two_processes: Web) -> None:
    """Harm: each scrape tells of another process, so figures leap; or somebody asks for a million addresses, and the
    server that keeps the figures falls over."""
    bearer = {"Authorization": f"Bearer {token()}"}

    def read() -> str:
        request = urllib.request.Request(f"{two_processes.url}/metrics", headers=bearer)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return str(answer.read().decode())

    def answered(text: str) -> float:
        return figures(text)["casino_requests_total", (("status", "200"), ("view", "healthz"))]

    before = answered(read())
    for _ in range(30):
        urllib.request.urlopen(f"{two_processes.url}/healthz", timeout=10).close()
    assert [answered(read()) - before for _ in range(6)] == [30.0] * 6, "whichever process is asked"
    for number in range(20):
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{two_processes.url}/nowhere/{number}", timeout=10)
    assert "nowhere/" not in read()
    lost = [
        labels for (name, labels) in figures(read()) if name == "casino_requests_total" and ("status", "404") in labels
    ]
    assert len(lost) == 1


def test_streams_of_a_process_that_was_killed_are_open_no_more(tmp_path: Path) -> None:
    """Harm: after a crash the house seems to have as many streams again, for ever; or what was counted is forgotten."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    names = [f"gauge_livesum_{os.getpid()}.db", f"gauge_livesum_{child.pid}.db", f"counter_{child.pid}.db"]
    for name in names:
        (tmp_path / name).touch()
    forget_dead(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {names[0], names[2]}


def queries() -> dict[str, str]:
    """Every query of the rules and of the dashboard, by where it stands."""
    rules = re.split(r"- alert: ", RULES.read_text())[1:]
    every = {rule.split()[0]: re.findall(r"expr: (.*)", rule)[0] for rule in rules}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        every |= {f"{panel['title']} {target['refId']}": target["expr"] for target in panel["targets"]}
    return every


def series() -> dict[str, set[str]]:
    """What a house exports: each series with its labels. Those of a family that has no sample yet are its own."""
    families = [meter for meter in vars(meters).values() if hasattr(meter, "_labelnames")]
    kinds = [(family._name, family._type, family._labelnames) for family in families]
    kinds += [(family.name, family.type, getattr(family, "_labelnames", ())) for family in SiteCollector().collect()]
    every: dict[str, set[str]] = {}
    for name, kind, labels in kinds:
        endings = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}.get(kind, ("",))
        every |= {name + ending: set(labels) for ending in endings}
    return every


@pytest.mark.django_db
@pytest.mark.usefixtures("broker")
def test_rules_and_dashboard_ask_for_what_is_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: an alert that never fires, or a picture that stays empty: its metric or label has another name."""
    away = settings_of("DATABASE_REPLICA_URL", "postgresql://nobody@%2Fnowhere/casino", is_read_only=True)
    monkeypatch.setattr(settings, "DATABASE_REPLICA", away)
    worker_meters.sign(worker_figures.BEAT)
    exported = series()
    assert len(queries()) > 25
    for where, query in queries().items():
        metrics = list(metrics_of(query))
        assert metrics, where
        for name, labels in metrics:
            assert labels <= exported[name], (where, name)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_prometheus_itself_reads_the_rules() -> None:
    """Harm: a rule that is spelled wrongly keeps the server that should warn of everything from starting."""
    checked = subprocess.run(["promtool", "check", "rules", str(RULES)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_every_metric_stands_on_the_page() -> None:
    """Harm: an operator who does not know what a figure is."""
    page = (BASE_DIR / "docs" / "measuring.md").read_text()
    code = "".join((BASE_DIR / path).read_text() for path in _COUNTING)
    names = set(re.findall(r'"casino_([a-z_]+)"', code)) | set(re.findall(r'_(?:gauge|by)\("([a-z_]+)"', code))
    assert len(names) > 12
    for name in names:
        assert f"`casino_{name}" in page, name
