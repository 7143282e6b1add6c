"""Nobody watches: the worker is dead and cannot say so, so the web process does, once."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ledger import runs
from ledger.alerts import acknowledge, open_alerts
from ledger.models import Alert, LogEntry, Run, RunEnd
from tables.audit import watch
from tables.models import Staff
from tables.roles import Role
from tests import floor

pytestmark = pytest.mark.django_db


@pytest.fixture
def house() -> Client:
    """A house that opened some minutes ago, and a pit boss in it."""
    floor.dealt()
    client = Client()
    sign_in(client, floor.staff(Role.PIT_BOSS, "bea"))
    return client


def sign_in(client: Client, boss: Staff) -> None:
    client.force_login(boss, backend="django.contrib.auth.backends.ModelBackend")


def later(monkeypatch: pytest.MonkeyPatch, minutes: float) -> None:
    """So much time passes, for the house's clock and for this process's own."""
    past, ticks = timezone.now, time.monotonic
    monkeypatch.setattr(timezone, "now", lambda: past() + timedelta(minutes=minutes))
    monkeypatch.setattr(time, "monotonic", lambda: ticks() + minutes * 60)


def looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process begins to look."""
    monkeypatch.setattr(watch, "lookout", watch.Lookout())


def ran(task: str) -> None:
    run = Run.objects.create(task=task, slot=timezone.now(), begun_at=timezone.now())
    RunEnd.objects.create(run=run, at=timezone.now(), found=0)


def test_a_new_house_and_one_that_is_watched_are_well(house: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: an alert every morning, that nobody reads any more."""
    looks(monkeypatch)
    assert house.get("/healthz").json()["watch"]
    later(monkeypatch, 30)
    for plan in watch.PLANS:
        ran(plan.task)
    assert house.get("/healthz").json()["watch"]
    assert not Alert.objects.exists()


@pytest.mark.parametrize("path", ["/healthz", "/pit/"])
def test_a_dead_worker_is_told_by_the_web_process(house: Client, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Harm: nothing is proved for a week, and one page that nobody opens knows it."""
    looks(monkeypatch)
    for plan in watch.PLANS:
        ran(plan.task)
    later(monkeypatch, 30)
    sign_in(house, Staff.objects.get(username="bea"))
    house.get(path)
    assert not house.get("/healthz").json()["watch"]
    assert not Alert.objects.exists(), "the worker gets a little while to come back"
    later(monkeypatch, 4)
    page = house.get(path)
    (alert,) = open_alerts()
    assert alert.kind == "watch_stopped"
    late = ["recount", "prove_new", "seal_days", "audit_shoes", "value_games", "look_after_keys", "look_after_alerts"]
    assert alert.evidence == {"late": late}
    assert path == "/healthz" or "nobody watches" in page.text
    assert b"recount" not in house.get("/healthz").content


def test_it_is_told_once_whoever_looks_and_however_long_it_lasts(
    house: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: an alert a minute and process, or a write with every request."""
    for _ in range(3):
        looks(monkeypatch)
        later(monkeypatch, 60)
        house.get("/healthz")
        later(monkeypatch, 4)
        house.get("/healthz")
    (alert,) = open_alerts()
    acknowledge(alert, "bea", "the worker is being mended")
    later(monkeypatch, 60)
    house.get("/healthz")
    assert Alert.objects.count() == 1


def test_a_look_is_cheap_and_rare(house: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a probe that asks the database more with every day that the house is open."""
    looks(monkeypatch)
    later(monkeypatch, 30)
    with CaptureQueriesContext(connection) as queries:
        house.get("/healthz")
    with CaptureQueriesContext(connection) as second:
        house.get("/healthz")
    assert len(queries) <= 1 + 1 + len(watch.PLANS)
    assert len(second) == 1


def test_a_plan_is_late_only_in_a_house_that_is_old_enough_for_it(house: Client) -> None:
    """The nightly proof of a house that opened at noon is not late in the evening."""
    began = LogEntry.objects.order_by("at")[0].at
    tasks = [plan.task for plan in runs.late(watch.PLANS, began + timedelta(hours=12))]
    assert "recount" in tasks
    assert "reconcile" in tasks
    assert "prove_all" not in tasks
    assert "prove_all" in [plan.task for plan in runs.late(watch.PLANS, began + timedelta(days=3))]


def test_a_check_that_fails_does_not_stop_the_checks_after_it(house: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a fault in the first check keeps every later one from running, so nothing verifies the site."""

    def fails() -> int:
        raise ValueError("this check has a fault")

    first, *others = watch.PLANS
    monkeypatch.setattr(watch, "CHECKS", {first: fails} | dict.fromkeys(others, lambda: 0))
    with pytest.raises(ExceptionGroup, match="scheduled checks failed"):
        watch.watch()
    assert set(RunEnd.objects.values_list("run__task", flat=True)) == {plan.task for plan in others}
