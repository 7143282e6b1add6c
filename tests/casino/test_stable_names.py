"""Names that a rolling upgrade depends on: Celery tasks with their parameters and queues, and management commands."""

import re
from pathlib import Path
from typing import Final

import pytest
from django.conf import settings

from tests.casino import stable_names
from tests.casino.stable_names import APPS, PACKAGES, Task

ROOT: Final = Path(__file__).parents[2]
WRITE: Final = "run: python -m tests.casino.stable_names --write"


@pytest.mark.slow("starts Celery in a process of its own")
@pytest.mark.parametrize("app", APPS)
def test_a_worker_accepts_each_task_that_an_earlier_release_queued(app: str) -> None:
    """Harm: a module is moved or a parameter renamed, and in a rolling upgrade workers discard the tasks that processes
    of the earlier release queued: a delivery, an audit job or a sealed day is lost."""
    listed, registered = stable_names.listed().tasks[app], stable_names.registered(app)
    assert sorted(listed.keys() - registered.keys()) == []
    changed = [name for name, earlier in listed.items() if not registered[name].accepts_calls_of(earlier)]
    assert changed == []
    assert sorted(registered.keys() - listed.keys()) == [], f"new tasks are not listed; {WRITE}"


def test_workers_consume_each_queue_that_an_earlier_release_filled() -> None:
    """Harm: a queue is renamed, and the tasks that wait in it are never taken."""
    filled = {task.queue for task in stable_names.listed().tasks["casino"].values()}
    assert filled <= set(settings.QUEUES)


def test_each_management_command_exists() -> None:
    """Harm: a command is lost with its module, and a timer or script of an operator fails after the upgrade."""
    commands = set(stable_names.commands())
    assert sorted(set(stable_names.listed().commands) - commands) == []
    assert sorted(commands - set(stable_names.listed().commands)) == [], f"new commands are not listed; {WRITE}"


def test_each_task_has_an_explicit_name() -> None:
    """Harm: a task is named after its module, and moving the module renames it."""
    decorated = re.compile(r"^@(?:shared_task|\w+\.task)\b(?!\(\s*name=)", re.MULTILINE)
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    assert [file.relative_to(ROOT).as_posix() for file in files if decorated.search(file.read_text())] == []


@pytest.mark.parametrize(
    "task",
    [
        Task(queue="celery", arguments=("key",), required=("key",)),
        Task(queue="celery", arguments=("extra", "pk"), required=("pk",)),
        Task(queue="celery", arguments=("pk", "extra"), required=("pk", "extra")),
        Task(queue="celery", options=("pk",), required=("pk",)),
    ],
    ids=["renamed", "in another order", "one more required", "only by keyword"],
)
def test_a_changed_parameter_is_found(task: Task) -> None:
    """Harm: the comparison of parameters passes a task that refuses the messages of the earlier release."""
    assert not task.accepts_calls_of(Task(queue="celery", arguments=("pk",), required=("pk",)))


def test_a_new_optional_parameter_is_compatible() -> None:
    """Harm: a task can never gain a parameter, although every queued call still binds to it."""
    earlier = Task(queue="celery", arguments=("pk",), required=("pk",))
    assert Task(queue="events", arguments=("pk", "extra"), options=("again",), required=("pk",)).accepts_calls_of(
        earlier
    )
