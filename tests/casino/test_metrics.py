"""What Prometheus reads: over all processes, without a label that strangers choose, for whoever brings the token."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from casino.embedded import BASE_DIR
from casino.metrics import forget_dead
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import service_accounts
from tables.setup.service_accounts import Access
from tables.staff import service_tokens
from tests import floor, processes
from tests.floor import Hand
from tests.processes import Web


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
def two_processes(transactional_db: None, process_environment: dict[str, str], tmp_path: Path) -> Iterator[Web]:
    served = processes.web_process(process_environment | {"WEB_PROCESSES": "2"}, tmp_path / "web.log")
    served.start()
    yield served
    served.stop()


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


def test_the_rules_ask_for_metrics_that_there_are() -> None:
    """Harm: an alert that never fires, because its metric has another name."""
    rules = (BASE_DIR / "deploy" / "prometheus" / "alerts.yml").read_text()
    page = (BASE_DIR / "docs" / "measuring.md").read_text()
    asked = set(re.findall(r"casino_[a-z_]+", rules))
    assert len(asked) >= 8
    for name in asked:
        assert f"`{name.removesuffix('_bucket')}" in page, name
    expressions = re.findall(r"expr: (.*)", rules)
    assert all(text.count("(") == text.count(")") and text.count("{") == text.count("}") for text in expressions)


def test_every_metric_stands_on_the_page() -> None:
    """Harm: an operator who does not know what a figure is."""
    page = (BASE_DIR / "docs" / "measuring.md").read_text()
    code = "".join((BASE_DIR / path).read_text() for path in ("ledger/meters.py", "casino/metrics.py"))
    names = set(re.findall(r'"casino_([a-z_]+)"', code)) | set(re.findall(r'_(?:gauge|by)\("([a-z_]+)"', code))
    assert len(names) > 12
    for name in names:
        assert f"`casino_{name}" in page, name
