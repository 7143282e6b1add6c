"""Counts tasks of workers and beat in the broker, and records their signs of life; `worker_figures.py` reads both."""

from __future__ import annotations

import time
from bisect import bisect_left
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

from casino.ops.worker_figures import ALIVE, BEAT, REMEMBERED, SECONDS, TASKS

SIGN_EVERY: Final = 10


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
    """Record a sign of life, at most one every ten seconds."""
    moment = time.monotonic()
    # Heartbeats come every two seconds; the broker need not store each.
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
    """Remove the sign of life of a worker that was stopped, so that it does not count as missing."""
    with suppress(redis.RedisError):
        _broker().delete(ALIVE + sender.hostname)


@beat_init.connect
def _beat_begins(**_: Any) -> None:
    after_task_publish.connect(lambda **_: sign(BEAT), weak=False)
