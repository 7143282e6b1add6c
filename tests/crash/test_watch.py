"""A worker is killed in the middle of the watch: the next one ends what it began, and nothing is done twice."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from casino import settings
from casino.celery import app
from casino.embedded import keeper
from ledger.models import Alert, Run, RunEnd
from tables import tasks
from tests import processes
from tests.database import as_owner
from tests.floor import dealt
from tests.patience import eventually
from tests.tiers import Tier, belongs_to

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worker(lone_worker: Callable[..., processes.Served]) -> processes.Served:
    return lone_worker()


@pytest.fixture
@belongs_to(Tier.TRIALS)
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[processes.Served, str]]:
    """A Valkey of this test's own, to be killed, and its address."""
    folder = Path(tempfile.mkdtemp(prefix="broker-"))
    socket = folder / "redis.sock"
    command = [keeper.valkey_program(), "--port", "0", "--unixsocket", str(socket), "--dir", str(folder)]
    command += ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
    url = f"unix://{socket}?db=0"

    def answers(_: processes.Served) -> bool:
        try:
            return bool(redis.Redis(unix_socket_path=str(socket)).ping())
        except redis.ConnectionError:
            return False

    valkey = processes.Served(command, dict(os.environ), tmp_path_factory.mktemp("valkey") / "log", answers)
    valkey.start()
    yield valkey, url
    valkey.kill()
    shutil.rmtree(folder, ignore_errors=True)


def ask(url: str) -> None:
    """What beat does, on this broker."""
    with app.connection_for_write(url=settings.broker(url)) as connection:
        tasks.watch.apply_async(connection=connection)


def test_what_was_asked_for_outlives_a_broker_that_dies(
    own_broker: tuple[processes.Served, str],
    process_environment: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Harm: Redis restarts in the night, and the watch never runs again; or what was queued is gone."""
    valkey, url = own_broker
    environment = process_environment | {"REDIS_URL": url}
    worker = processes.worker_process(environment, tmp_path_factory.mktemp("worker") / "log")
    dealt()
    ask(url)
    valkey.kill()
    valkey.start()
    worker.start()
    try:
        eventually(lambda: RunEnd.objects.filter(run__task="prove_all").exists())
        valkey.kill()
        valkey.start()
        with as_owner():  # as if the next slots had come
            RunEnd.objects.all()._raw_delete("default")
            Run.objects.all()._raw_delete("default")
        ask(url)
        eventually(lambda: RunEnd.objects.filter(run__task="prove_all").exists())
    finally:
        worker.kill()


def waits(superuser: psycopg.Connection) -> bool:
    """Whether somebody waits for the table that the test holds."""
    row = superuser.execute("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation IS NOT NULL").fetchone()
    return bool(row and row[0])


def has_time(needed: float = 20, slot: float = 300) -> bool:
    """Whether the present slot of the checks lasts long enough. A check that a worker claimed in one slot is not ended
    in the next, but followed by the check of that slot."""
    return slot - time.time() % slot > needed


def test_a_worker_killed_in_mid_run_is_followed_by_one_that_ends_it(
    worker: processes.Served, superuser_connection: psycopg.Connection
) -> None:
    """Harm: a proof that a dead worker claimed is believed to be done, for ever."""
    eventually(has_time)
    dealer, _ = dealt()
    dealer.bets(seat1=1_000)
    dealer.cards(5, 3)
    with superuser_connection.transaction():
        superuser_connection.execute("LOCK TABLE tables_verification IN ACCESS EXCLUSIVE MODE")
        tasks.watch.delay()
        eventually(lambda: waits(superuser_connection))
        worker.kill()
    claimed = Run.objects.get(task="prove_new")
    assert not RunEnd.objects.filter(run=claimed).exists()
    ended_runs = set(RunEnd.objects.values_list("run_id", flat=True))
    worker.start()
    tasks.watch.delay()
    eventually(lambda: RunEnd.objects.filter(run__task="prove_all").exists())
    assert RunEnd.objects.filter(run=claimed).exists()
    assert ended_runs <= set(RunEnd.objects.values_list("run_id", flat=True)), "what was done is not done again"
    assert Run.objects.filter(task="recount").count() == 1
    # The test's site deals without the optional protections, and the watch says so once it comes to that.
    assert set(Alert.objects.values_list("kind", flat=True)) <= {"protections_off"}
