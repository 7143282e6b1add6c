"""Prometheus metrics of workers and beat, collected in the broker: task counts and signs of life.

Workers serve no HTTP and come and go, but all of them reach the broker. The web's `/metrics` reads it there. Counts
outlive a worker; if the broker loses its data, the counters start again from zero. Ages use the broker's clock only.
"""

from __future__ import annotations

import logging
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any, Final

import redis
from celery import current_app
from celery.signals import (
    after_task_publish,
    beat_init,
    heartbeat_sent,
    task_postrun,
    task_prerun,
    worker_process_init,
    worker_shutdown,
)
from django.conf import settings
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

log = logging.getLogger(__name__)

TASKS: Final = "casino:meters:tasks"
ALIVE: Final = "casino:meters:alive:"
BEAT: Final = "beat"
SECONDS: Final = (0.05, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 1_800.0)
"""Upper bounds of the histogram of task durations."""
SIGN_EVERY: Final = 10
REMEMBERED: Final = 3_600
"""Seconds after which a process that was killed is forgotten."""
FRESH: Final = 60
"""Seconds: a worker whose sign of life is older serves no queue."""


@cache
def _broker() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1, decode_responses=True)


worker_process_init.connect(lambda **_: _broker.cache_clear(), weak=False)
"""Each process of the pool needs its own connections: they do not survive a fork."""


# --- Counting --------------------------------------------------------------------------------------------------

_begun: Final[dict[str, float]] = {}


@task_prerun.connect
def _begin(task_id: str, **_: Any) -> None:
    _begun[task_id] = time.monotonic()


@task_postrun.connect
def _count(task_id: str, task: Any, state: str | None, **_: Any) -> None:
    began = _begun.pop(task_id, None)
    if began is not None and settings.REDIS_URL and not task.request.is_eager:
        count(task.name, (state or "unknown").lower(), time.monotonic() - began)


def count(task: str, state: str, seconds: float) -> None:
    """Count a finished task. If the broker is away, the count is lost, not the task."""
    bounds = [*map(str, SECONDS), "+Inf"]
    with suppress(redis.RedisError):
        pipe = _broker().pipeline(transaction=False)
        pipe.hincrby(TASKS, f"ended|{task}|{state}", 1)
        pipe.hincrby(TASKS, f"within|{task}|{bounds[bisect_left(SECONDS, seconds)]}", 1)
        pipe.hincrbyfloat(TASKS, f"seconds|{task}", round(seconds, 6))
        pipe.execute()


# --- Signs of life ---------------------------------------------------------------------------------------------

_signed: Final[dict[str, float]] = {}


def sign(name: str, queues: str = "") -> None:
    """Leave a sign of life, at most one every ten seconds."""
    moment = time.monotonic()
    if moment - _signed.get(name, -SIGN_EVERY) < SIGN_EVERY or not settings.REDIS_URL:
        return
    _signed[name] = moment
    with suppress(redis.RedisError):
        _broker().set(ALIVE + name, queues, ex=REMEMBERED)


@heartbeat_sent.connect
def _worker_lives(sender: Any, **_: Any) -> None:
    sign(sender.eventer.hostname, ",".join(sorted(current_app.amqp.queues.consume_from)))


@worker_shutdown.connect
def _worker_ends(sender: Any, **_: Any) -> None:
    """Remove the sign of life of a worker that was stopped, so that nobody misses it."""
    with suppress(redis.RedisError):
        _broker().delete(ALIVE + sender.hostname)


@beat_init.connect
def _beat_begins(**_: Any) -> None:
    after_task_publish.connect(lambda **_: sign(BEAT), weak=False)


# --- Reading ---------------------------------------------------------------------------------------------------


def figures() -> Iterator[Metric]:
    """The metrics of all workers and of beat. Raises redis.RedisError."""
    broker = _broker()
    names = sorted(broker.scan_iter(match=f"{ALIVE}*", count=1_000))
    pipe = broker.pipeline(transaction=False)
    pipe.hgetall(TASKS)
    for name in names:
        pipe.get(name)
        pipe.ttl(name)
    counted, *signs = pipe.execute()
    yield from _of_tasks(counted)
    pairs = zip(names, signs[::2], signs[1::2], strict=True)
    yield from _of_signs([(name.removeprefix(ALIVE), queues or "", REMEMBERED - left) for name, queues, left in pairs])


def _of_tasks(counted: dict[str, str]) -> Iterator[Metric]:
    ended = CounterMetricFamily("casino_tasks", "Tasks that ended.", labels=["task", "state"])
    lasted = HistogramMetricFamily("casino_task_seconds", "How long tasks took.", labels=["task"])
    within: dict[str, dict[str, float]] = defaultdict(dict)
    seconds: dict[str, float] = {}
    for field, number in sorted(counted.items()):
        match field.split("|"):
            case ["ended", task, state]:
                ended.add_metric([_short(task), state], float(number))
            case ["within", task, bound]:
                within[task][bound] = float(number)
            case ["seconds", task]:
                seconds[task] = float(number)
    for task, numbers in within.items():
        total, buckets = 0.0, []
        for bound in (*map(str, SECONDS), "+Inf"):
            total += numbers.get(bound, 0.0)
            buckets.append((bound, total))
        lasted.add_metric([_short(task)], buckets, seconds.get(task, 0.0))
    yield from (ended, lasted)


def _short(task: str) -> str:
    return task.removeprefix("tables.tasks.")


def _of_signs(ages: list[tuple[str, str, int]]) -> Iterator[Metric]:
    workers = GaugeMetricFamily("casino_worker_age_seconds", "Since a worker gave a sign of life.", labels=["worker"])
    serving = dict.fromkeys(settings.SERVED_QUEUES, 0)
    for name, queues, age in ages:
        if name == BEAT:
            yield GaugeMetricFamily("casino_beat_age_seconds", "Since beat asked for a task.", value=age)
            continue
        workers.add_metric([name], age)
        for queue in set(queues.split(",")) & serving.keys() if age < FRESH else ():
            serving[queue] += 1
    served = GaugeMetricFamily("casino_queue_workers", "Workers that serve a queue.", labels=["queue"])
    for queue, number in serving.items():
        served.add_metric([queue], number)
    yield from (workers, served)
