"""A worker is killed in the middle of the watch: the next one ends what it began, and nothing is done twice."""

import time
from collections.abc import Callable, Iterator

import psycopg
import pytest

from ledger.models import Alert, Run, RunEnd
from tables import tasks
from tests import processes
from tests.floor import dealt

pytestmark = pytest.mark.django_db(transaction=True)


def eventually(holds: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "the worker did not get there"
        time.sleep(0.1)


@pytest.fixture
def worker(process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[processes.Served]:
    """A worker of this test's own, to be killed."""
    found = processes.worker_process(process_environment, tmp_path_factory.mktemp("killed") / "log")
    found.start()
    yield found
    found.kill()


def waits(superuser: psycopg.Connection) -> bool:
    """Whether somebody waits for the table that the test holds."""
    found = superuser.execute("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation IS NOT NULL").fetchone()
    return bool(found and found[0])


def test_a_worker_killed_in_mid_run_is_followed_by_one_that_ends_it(
    worker: processes.Served, superuser_connection: psycopg.Connection
) -> None:
    """Harm: a proof that a dead worker claimed is believed to be done, for ever."""
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
    done = set(RunEnd.objects.values_list("run_id", flat=True))
    worker.start()
    tasks.watch.delay()
    eventually(lambda: RunEnd.objects.filter(run__task="prove_all").exists())
    assert RunEnd.objects.filter(run=claimed).exists()
    assert done <= set(RunEnd.objects.values_list("run_id", flat=True)), "what was done is not done again"
    assert Run.objects.filter(task="recount").count() == 1
    assert not Alert.objects.exists()
