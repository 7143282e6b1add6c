"""The Celery entry point: `celery --app casino worker` and `celery --app casino beat`."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready, worker_shutting_down

from casino.ops import task_request_ids, worker_meters  # noqa: F401 -- tasks bring a request's id, and are counted

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

app = Celery("casino")
app.config_from_object("casino.celery_settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def follow_at_once(**_: Any) -> None:
    """Make the worker of the alerts queue listen for commits, so that alerts need not wait for beat."""
    from tables.alerts.notifications import Listener, serves  # Django is set up by now

    if not serves(app.amqp.queues.consume_from):
        return
    listener = Listener()
    listener.start()

    @worker_shutting_down.connect(weak=False)
    def stop(**_: Any) -> None:
        listener.stop()
