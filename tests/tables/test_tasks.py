"""The watch that Celery keeps: a real worker, on a real broker, proves what the floor writes."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from ledger import alerts
from ledger.models import Alert, Recount
from ledger.tasks import recount_all
from tables import tasks
from tables.models import SimulatedChunk, Verification
from tests.database import as_owner
from tests.floor import Hand, dealt
from tests.patience import eventually
from tests.processes import Served

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def floor() -> Hand:
    """One settled round."""
    dealer, _ = dealt()
    dealer.bets(seat1=2_000)
    dealer.cards(8, 4, 8)
    return dealer


def test_a_worker_recounts_and_proves_what_is_new(celery_worker_process: Served, floor: Hand) -> None:
    """Harm: a worker does not find its tasks, or does not reach the database as the application's own role."""
    tasks.verify_new.delay()
    recount_all.delay()
    book, head = floor.table.book_id, floor.now.seq
    eventually(lambda: Verification.objects.filter(book_id=book, through_seq=head).exists())
    eventually(lambda: Recount.objects.filter(book_id=book).exists())
    assert not Alert.objects.exists()


def test_a_mismatch_opens_an_alert_that_stays_until_a_named_user_acknowledges_it(
    celery_worker_process: Served, floor: Hand
) -> None:
    """Harm: chips that do not reconcile are only a line in a log file."""
    with as_owner(), connection.cursor() as cursor:
        cursor.execute("UPDATE ledger_transfer SET amount_cents = amount_cents + 100 WHERE kind = 'loss'")
    tasks.verify_everything.delay()
    eventually(lambda: alerts.open_alerts().filter(kind="log_broken").exists())
    alert = alerts.open_alerts().get(kind="log_broken")
    assert "Rocket 1" in alert.message
    assert len(tasks.verify_everything()) == 1
    assert alerts.open_alerts().filter(kind="log_broken").count() == 1
    alerts.acknowledge(alert, "201 Bella", "seen on camera")
    assert not alerts.open_alerts().filter(kind="log_broken").exists()
    assert alert.acknowledgement.by == "201 Bella"


def test_a_simulation_is_dealt_by_a_worker_as_by_this_process(celery_worker_process: Served) -> None:
    """Harm: a worker deals other rounds than the seed determines."""

    def simulated(*arguments: str) -> object:
        out = StringIO()
        call_command("simulate", "--seats", "1", "--rounds", "1000000", "--json", *arguments, stdout=out)
        return json.loads(out.getvalue())

    spread = simulated("--spread", "--cores", "2")
    assert spread == simulated("--cores", "1")
    assert simulated("--spread") == spread, "what is dealt needs no worker again"
    assert list(SimulatedChunk.objects.values_list("number", flat=True)) == [0]
