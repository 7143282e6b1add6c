"""Passes the id of a request to the tasks that it queues. Separate from request_ids.py, so that logs do not import
Celery."""

from __future__ import annotations

from typing import Any, Final

from celery.signals import before_task_publish, task_postrun, task_prerun

from casino.web.request_ids import current

_IN_TASKS: Final = "casino_request_id"


@before_task_publish.connect
def _send(headers: dict[str, Any] | None = None, **_: Any) -> None:
    if headers is not None and current.get():
        headers[_IN_TASKS] = current.get()


@task_prerun.connect
def _begin(task: Any = None, **_: Any) -> None:
    current.set(str(getattr(task.request, _IN_TASKS, None) or ""))


@task_postrun.connect
def _end(**_: Any) -> None:
    current.set("")
