"""The drill worker: a real worker restores a real copy of the house's server when beat asks for it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from celery import Celery
from django.conf import settings

from casino.embedded import keeper
from casino.embedded.servers import SUPERUSER, ServerSet
from ledger.models import Alert, RunEnd
from tables.audit import drill
from tests.floor import dealt
from tests.patience import eventually
from tests.processes import Served
from tests.servers import DATABASE_SERVER
from tests.tiers import Tier, belongs_to

pytestmark = pytest.mark.django_db(transaction=True)

RESTORE = """#!/bin/sh
# Stands in for pgBackRest: the newest backup is a fresh copy of the house's server.
for word; do case $word in --pg1-path=*) data=${{word#*=}};; esac; done
exec {program} --pgdata="$data" --host={host} --username={user} --checkpoint=fast --no-sync
"""


@pytest.fixture
def environment(process_environment: dict[str, str], broker: ServerSet, tmp_path: Path) -> dict[str, str]:
    """The environment of a backup host."""
    program = tmp_path / "bin" / "pgbackrest"
    program.parent.mkdir()
    copy = keeper.postgres_program("pg_basebackup")
    program.write_text(RESTORE.format(program=copy, host=DATABASE_SERVER.sockets, user=SUPERUSER))
    program.chmod(0o755)
    return process_environment | {
        "PATH": f"{program.parent}:{process_environment['PATH']}",
        "BACKUP_STATUS_FILE": str(tmp_path / "info.json"),
        "DRILL_FOLDER": str(tmp_path / "scratch"),
        "DRILL_PROGRAMS": str(Path(copy).parent),
    }


@pytest.fixture
@belongs_to(Tier.TRIALS)
def start(environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[..., Served]]:
    started = []

    def begin(app: str, *options: str) -> Served:
        prefix, _ = keeper.unprivileged()
        command = [*prefix, sys.executable, "-m", "celery", "--app", app, *options, "--loglevel", "INFO"]
        is_up = " ready." if "worker" in options else "beat: Starting"
        process = Served(command, environment, tmp_path / f"{app}.log", lambda served: is_up in served.output())
        started.append(process)
        process.start()
        return process

    yield begin
    for process in started:
        process.stop()  # an orderly stop removes its sign of life from the broker


def drill_worker(start: Callable[..., Served]) -> Served:
    return start("casino.drills", "worker", "--queues", "drills", "--concurrency", "1", "--hostname", "drills@%h")


def ask(**options: bool) -> None:
    sender = Celery("test", broker=settings.CELERY_BROKER_URL, set_as_current=False)
    sender.send_task(settings.DRILL_TASK, kwargs=options, queue=settings.DRILLS)


def test_a_worker_restores_the_house_and_records_the_drill(start: Callable[..., Served], tmp_path: Path) -> None:
    """Harm: unit and beat run and nothing is ever restored; or the leftovers of a killed drill stop the next one."""
    dealt()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / drill.MARK).touch()
    (scratch / "half").touch()
    worker = drill_worker(start)
    ask()
    eventually(lambda: RunEnd.objects.filter(run__task="drill").exists(), worker.output)
    assert RunEnd.objects.get(run__task="drill").found == 0, worker.output()
    eventually(lambda: "were restored in" in worker.output(), worker.output)
    assert not scratch.exists()
    ask()
    eventually(lambda: worker.output().count(" succeeded in ") == 2, worker.output)
    assert RunEnd.objects.filter(run__task="drill").count() == 1, "it is not due again"


def test_a_drill_that_fails_in_the_worker_is_an_alert(
    start: Callable[..., Served], environment: dict[str, str], tmp_path: Path
) -> None:
    """Harm: the repository cannot be read, and only one host's journal shows it."""
    (tmp_path / "bin" / "pgbackrest").write_text(
        "#!/bin/sh\necho 'ERROR: [075]: no prior backup exists' >&2\nexit 75\n"
    )
    worker = drill_worker(start)
    ask()
    eventually(lambda: RunEnd.objects.filter(run__task="drill", found=1).exists(), worker.output)
    eventually(lambda: Alert.objects.filter(kind="drill_failed").exists(), worker.output)
    assert "no prior backup exists" in Alert.objects.get(kind="drill_failed").message


def test_the_drill_worker_knows_no_other_task(environment: dict[str, str]) -> None:
    """Harm: whoever reaches the broker makes the database's user do what only the house's own worker may."""
    names = "from casino.drills import app; print(*(name for name in app.tasks if not name.startswith('celery.')))"
    process = subprocess.run([sys.executable, "-c", names], env=environment, capture_output=True, text=True, check=True)
    assert process.stdout.split() == [settings.DRILL_TASK]


def test_beat_asks_where_there_are_backups_and_doctor_wants_a_worker(environment: dict[str, str]) -> None:
    """Harm: nobody asks for drills; or doctor complains about a missing worker in a house that has no backups."""
    program = (
        "from casino.celery import app; from django.conf import settings;"
        "print('restore a backup' in app.conf.beat_schedule, *settings.SERVED_QUEUES)"
    )

    def beat_and_queues(variables: dict[str, str]) -> list[str]:
        command = [sys.executable, "-c", program]
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout.split()

    assert beat_and_queues(environment) == ["True", "celery", "alerts", "events", "drills"]
    assert beat_and_queues(environment | {"BACKUP_STATUS_FILE": ""}) == ["False", "celery", "alerts", "events"]
