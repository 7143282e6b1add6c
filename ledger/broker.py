"""The message broker, Redis: the queue of Celery tasks and the counters of the workers.

Celery, kombu and redis take longer to import than Django does. Most commands never use the broker, so the functions
here import them when they are called; a web process has loaded them before its first request.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from redis import Redis

log = logging.getLogger(__name__)

ANSWER_SECONDS = 1


class BrokerAway(Exception):
    """The broker does not answer, or none is configured."""


@contextmanager
def connected() -> Iterator[Redis]:
    """A Redis client that decodes answers to ``str``. Raises BrokerAway on connecting, and for failed commands inside
    the block."""
    import redis

    try:
        with redis.Redis.from_url(
            settings.REDIS_URL,
            socket_timeout=ANSWER_SECONDS,
            socket_connect_timeout=ANSWER_SECONDS,
            decode_responses=True,
        ) as client:
            yield client
    except (redis.RedisError, ValueError) as fault:  # ValueError: no server is configured
        raise BrokerAway(str(fault)) from fault


def send(task: str, *arguments: int | str, otherwise: str) -> None:
    """Send a task to the workers. If the broker is away, log the consequence, ``otherwise``."""
    from celery import current_app
    from kombu.exceptions import OperationalError

    try:
        current_app.send_task(task, arguments)
    except (OSError, OperationalError) as away:
        log.warning("the broker is away, and %s: %s", otherwise, away)
