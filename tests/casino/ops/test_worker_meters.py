"""What workers and beat tell Prometheus through the broker; and that each queue has a worker of its own."""

from __future__ import annotations

import re

import pytest
import redis
from django.conf import settings
from prometheus_client.metrics_core import Metric

from casino.embedded.servers import BASE_DIR, ServerSet
from casino.ops import worker_figures, worker_meters
from tables import tasks
from tests.patience import eventually
from tests.processes import Served


def exported() -> dict[str, Metric]:
    return {family.name: family for family in worker_figures.figures()}


def value(family: str, name: str, **labels: str) -> float:
    samples = exported()[family].samples
    return sum(sample.value for sample in samples if (sample.name, sample.labels) == (name, labels))


def test_a_worker_and_its_tasks_are_told_of_until_it_is_stopped(
    broker: ServerSet, celery_worker_process: Served
) -> None:
    """Harm: the process that counts and proves has died, or fails at each task, and no figure says so."""

    def ended() -> float:
        return value("casino_tasks", "casino_tasks_total", task="clear_sessions", state="success")

    def serving() -> float:
        return value("casino_queue_workers", "casino_queue_workers", queue="celery")

    before = ended()
    tasks.clear_sessions.delay()
    eventually(lambda: ended() == before + 1)
    assert value("casino_task_seconds", "casino_task_seconds_count", task="clear_sessions") == before + 1
    eventually(lambda: serving() == 1)
    [age] = exported()["casino_worker_age_seconds"].samples
    assert 0 <= age.value < worker_figures.FRESH
    celery_worker_process.stop()
    eventually(lambda: serving() == 0)
    assert exported()["casino_worker_age_seconds"].samples == []


def test_a_worker_that_was_killed_serves_no_queue(broker: ServerSet) -> None:
    """Harm: what a dead worker left says for an hour that its queue is served."""
    key = f"{worker_figures.ALIVE}gone@pit"
    serving = value("casino_queue_workers", "casino_queue_workers", queue="alerts")
    with redis.Redis.from_url(settings.REDIS_URL) as server:
        server.set(key, "celery,alerts", ex=worker_figures.REMEMBERED - 300)
        try:
            [age] = [
                sample
                for sample in exported()["casino_worker_age_seconds"].samples
                if sample.labels["worker"] == "gone@pit"
            ]
            assert age.value == pytest.approx(300, abs=30)
            assert value("casino_queue_workers", "casino_queue_workers", queue="alerts") == serving
        finally:
            server.delete(key)


def test_a_task_that_fails_or_takes_long_is_told_apart(broker: ServerSet) -> None:
    """Harm: a proof that fails each night looks like one that holds."""
    name = "tables.tasks.tried"
    for state, seconds in (("success", 0.01), ("failure", 2.0), ("success", 9_999.0)):
        worker_meters.count(name, state, seconds)
    assert value("casino_tasks", "casino_tasks_total", task="tried", state="failure") == 1
    within = [value("casino_task_seconds", "casino_task_seconds_bucket", task="tried", le=le) for le in ("0.1", "5.0")]
    assert within == [1, 2]
    assert value("casino_task_seconds", "casino_task_seconds_bucket", task="tried", le="+Inf") == 3


def test_each_queue_has_a_worker_of_its_own() -> None:
    """Harm: a receiver that takes twenty seconds for each answer holds the process that reconciles the chips."""
    units = [path.read_text() for path in (BASE_DIR / "deploy" / "systemd").glob("*.service")]
    served = [re.findall(r"--queues (\S+)", text) for text in units if "casino worker" in text]
    assert sorted(served) == sorted([queue] for queue in settings.QUEUES)
