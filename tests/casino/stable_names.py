"""`python -m tests.casino.stable_names --write`: add this release's task and command names to `stable_names.json`.

A worker of the next release runs the tasks that processes of this one queued, by name and with their arguments; scripts
and timers run management commands by name. The file therefore only grows. `python -m tests.casino.stable_names APP`
prints the tasks that a worker of that Celery app registers.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

import msgspec

FILE: Final = Path(__file__).with_suffix(".json")
APPS: Final = {"casino": "casino.celery", "casino.drills": "casino.drills"}
"""By the name that `celery --app` has: the module of the app."""
PACKAGES: Final = ("casino", "dealer_ui", "ledger", "tables")


class Task(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a queued message calls a task."""

    queue: str
    arguments: tuple[str, ...] = ()
    """Parameters that take a positional argument, in their order."""
    options: tuple[str, ...] = ()
    """Parameters that only take a keyword argument."""
    required: tuple[str, ...] = ()
    """Those of them that have no default."""

    @classmethod
    def of(cls, function: object, queue: str) -> Task:
        """Read the parameters of the function beneath a task."""
        parameters = list(inspect.signature(function).parameters.values())  # type: ignore[arg-type]
        is_option = {each.name: each.kind is inspect.Parameter.KEYWORD_ONLY for each in parameters}
        return cls(
            queue=queue,
            arguments=tuple(name for name, option in is_option.items() if not option),
            options=tuple(name for name, option in is_option.items() if option),
            required=tuple(each.name for each in parameters if each.default is inspect.Parameter.empty),
        )

    def accepts_calls_of(self, earlier: Task) -> bool:
        """Whether every call that the earlier form accepted still binds to the same parameters."""
        return (
            self.arguments[: len(earlier.arguments)] == earlier.arguments
            and set(earlier.options) <= {*self.options, *self.arguments}
            and set(self.required) <= set(earlier.required)
        )


class Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file."""

    note: str
    tasks: dict[str, dict[str, Task]]
    """By app and name."""
    commands: list[str]


def listed() -> Names:
    """The names that the file has."""
    return msgspec.json.decode(FILE.read_bytes(), type=Names)


def registered(app: str) -> dict[str, Task]:
    """The tasks that a worker of this app registers, asked of a new process: in this one, a test may have imported a
    module that no worker finds."""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    process = subprocess.run(
        [sys.executable, "-m", "tests.casino.stable_names", app],
        env=environment, cwd=Path(__file__).parents[2], capture_output=True, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr.decode()
    return msgspec.json.decode(process.stdout, type=dict[str, Task])


def commands() -> dict[str, str]:
    """The product's management commands, each with its Django app."""
    from django.core.management import get_commands

    every: Mapping[str, object] = get_commands()
    return {name: str(app) for name, app in every.items() if str(app).partition(".")[0] in PACKAGES}


def _tasks_here(app: str) -> dict[str, Task]:
    """The tasks of an app, with Celery's own left out."""
    celery = import_module(APPS[app]).app
    celery.loader.import_default_modules()
    celery.finalize()
    names = sorted(name for name in celery.tasks if not name.startswith("celery."))
    return {name: Task.of(celery.tasks[name].run, _queue(celery, name)) for name in names}


def _queue(celery: object, name: str) -> str:
    """The queue to which messages of a task go that name none."""
    route = celery.amqp.router.route({}, name)  # type: ignore[attr-defined]
    return str(getattr(route["queue"], "name", route["queue"]))


def _write() -> None:
    names = listed() if FILE.exists() else Names(note="", tasks={}, commands=[])
    tasks = {app: dict(sorted((registered(app) | names.tasks.get(app, {})).items())) for app in APPS}
    grown = Names(note=names.note, tasks=tasks, commands=sorted({*names.commands, *commands()}))
    FILE.write_text(_spelled(grown))


def _spelled(names: Names) -> str:
    """The file with a task or command in each line."""
    apps = [f"  {json.dumps(app)}: {{\n{_lines(tasks)}\n  }}" for app, tasks in names.tasks.items()]
    commands = ",\n".join(f"  {json.dumps(name)}" for name in names.commands)
    note, joined = json.dumps(names.note), ",\n".join(apps)
    return f'{{\n "note": {note},\n "tasks": {{\n{joined}\n }},\n "commands": [\n{commands}\n ]\n}}\n'


def _lines(tasks: Mapping[str, Task]) -> str:
    return ",\n".join(f"   {json.dumps(name)}: {json.dumps(msgspec.to_builtins(task))}" for name, task in tasks.items())


def main(arguments: list[str]) -> str | None:
    """Returns how the command is called, where it was called otherwise."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    match arguments:
        case ["--write"]:
            _write()
        case [app] if app in APPS:
            print(msgspec.json.encode(_tasks_here(app)).decode())
        case _:
            return __doc__.splitlines()[0]
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
