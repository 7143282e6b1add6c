"""The outbox across an upgrade, and with several workers: nothing is lost, and nothing is sent twice."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from casino.embedded.servers import APPLICATION, BASE_DIR, OWNER, SUPERUSER, ServerSet
from ledger import alerts, cage
from tables import pepper
from tables.alerts import channels, delivery, outbox, rules_in_force, streams
from tables.alerts.channels import ChannelDraft
from tables.alerts.models import ChannelContent, Delivery, DeliveryAttempt, FeedPosition, Outcome
from tables.feed import order
from tables.models import Staff
from tables.roles import Role
from tests import floor
from tests.tables.alerts.conftest import Receiver
from tests.templates import database, environment, migrated
from tests.tiers import Tier, belongs_to

SECRET = "0123456789abcdef0123456789abcdef"  # pragma: allowlist secret

# --- An upgrade --------------------------------------------------------------------------------------------------

BEFORE: Final = "0041_line_up"
"""The last migration of releases whose deliveries have no progress."""
NOON: Final = datetime(2026, 11, 27, 12, tzinfo=UTC)
HISTORIES: Final[dict[str, tuple[list[str], int | None, int]]] = {
    "sent": (["sent"], None, 0),
    "dead": (["failed", "dead"], None, 0),
    "sent again, and sent": (["dead", "again", "failed", "sent"], None, 0),
    "marked, and sent again": (["dead", "again", "failed"], 10, 1),
    "new": ([], 0, 0),
    "failed twice": (["failed", "failed"], 20, 2),
    "failed often": (["failed"] * 11, 3_600, 11),
    "sent again": (["dead", "again"], 0, 0),
}
"""What happened to each delivery before the upgrade, the seconds from then to the next attempt, and its failures."""
MARKED: Final = 4
"""The mark of the outbox has passed the first four."""


@pytest.fixture
@belongs_to(Tier.TEST)
def earlier(database_server: ServerSet) -> Iterator[str]:
    """Name of a database of the release before, in which each delivery of HISTORIES has its history."""
    name = f"test_{os.getpid()}_outbox"
    with (
        psycopg.connect(database_server.database_url(SUPERUSER, "postgres"), autocommit=True) as admin,
        database(name, migrated(admin)),
    ):
        migrate(name, "tables", BEFORE)
        with psycopg.connect(database_server.database_url(OWNER, name), autocommit=True) as release:
            release.execute(
                "INSERT INTO tables_alertchannel (id, seq, name, version, means, address, secret, former_secret, is_on,"
                " least_level, about, tells, types, tables, by, at) VALUES (1, 1, 'Desk', 1, 'webhook', 'https://a.b/',"
                " '', '', true, 1, '[]', 'alerts', '[]', '[]', 'olga', %s)",
                [NOON],
            )
            for pk, (outcomes, _, _) in enumerate(HISTORIES.values(), start=1):
                put_out(release, pk)
                for number, outcome in enumerate(outcomes):
                    note(release, pk, number - ("again" in outcomes[:number]) + 1, outcome)
            release.execute("INSERT INTO tables_outboxmark (through) VALUES (%s)", [MARKED])
        yield name


def migrate(name: str, *target: str) -> None:
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", *target]
    process = subprocess.run(command, cwd=BASE_DIR, env=environment(name), capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr


def put_out(release: psycopg.Connection, pk: int) -> None:
    """Put a delivery out as the release before does."""
    release.execute(
        "INSERT INTO tables_delivery (id, channel_id, name, step, key, body, at)"
        " VALUES (%s, 1, 'Desk', 0, gen_random_uuid(), '{}', %s)",
        [pk, NOON],
    )


def note(release: psycopg.Connection, pk: int, number: int, outcome: str) -> None:
    """Record an attempt, or that it was sent again before this number, as the release before does: at noon."""
    if outcome == "again":
        release.execute(
            "INSERT INTO tables_resending (seq, delivery_id, after, by, at) VALUES (1, %s, %s, 'olga', %s)",
            [pk, number - 1, NOON],
        )
    else:
        release.execute(
            "INSERT INTO tables_deliveryattempt (delivery_id, number, outcome, says, at) VALUES (%s, %s, %s, '', %s)",
            [pk, number, outcome, NOON],
        )


def progress(site: psycopg.Connection, pk: int) -> tuple[int | None, int]:
    """Seconds from noon to the next attempt, None if there is none, and the failures."""
    row = site.execute("SELECT due_at, failures FROM tables_delivery WHERE id = %s", [pk]).fetchone()
    assert row is not None
    return (int((row[0] - NOON).total_seconds()) if row[0] else None, row[1])


def test_an_upgrade_goes_on_with_what_waits_and_with_what_the_release_before_notes_meanwhile(
    earlier: str, database_server: ServerSet
) -> None:
    """Harm: at an upgrade all that ever left the house is sent again, a waiting alert is lost or retried from its first
    attempt; or an alert that a worker of the release before sent during it is sent again by a new one."""
    migrate(earlier)
    with psycopg.connect(database_server.database_url(APPLICATION, earlier), autocommit=True) as site:
        for pk, (_, due_after, failures) in enumerate(HISTORIES.values(), start=1):
            assert progress(site, pk) == (due_after, failures), list(HISTORIES)[pk - 1]
        numbers = {name: pk for pk, name in enumerate(HISTORIES, start=1)}
        note(site, numbers["new"], 1, "sent")
        assert progress(site, numbers["new"]) == (None, 0)
        note(site, numbers["failed twice"], 3, "failed")
        assert progress(site, numbers["failed twice"]) == (40, 3)
        note(site, numbers["failed often"], 12, "dead")
        assert progress(site, numbers["failed often"]) == (None, 11)
        note(site, numbers["dead"], 3, "again")
        assert progress(site, numbers["dead"]) == (0, 0)
        put_out(site, 99)
        due_at, failures = progress(site, 99)
        assert due_at is not None
        assert failures == 0, "it is due now"


# --- Workers -----------------------------------------------------------------------------------------------------


@pytest.fixture
def waits(settings: Any, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Delivery:
    """A delivery that waits; no worker runs."""
    settings.WEBHOOKS_TO_LOOPBACK = True
    monkeypatch.setattr(outbox, "queue", lambda task, key: None)
    cage.open_house()
    channels.set_channel(ChannelDraft("Desk", "webhook", receiver.url, SECRET), by=operator())
    alerts.raise_alert(None, "log_broken", "entry 5 is missing", {})
    delivery.put_out(rules_in_force.in_force())
    return Delivery.objects.get()


def operator() -> Staff:
    return Staff.objects.filter(username="olga").first() or floor.staff(Role.OPERATOR, "olga", "301")


@pytest.mark.django_db(transaction=True)
def test_of_a_delivery_only_its_progress_may_change(
    waits: Delivery, owner_connection: psycopg.Connection, app_connection: psycopg.Connection
) -> None:
    """Harm: the body of a sent message, or its channel, is rewritten."""
    for field in Delivery._meta.concrete_fields:
        change = f"UPDATE tables_delivery SET {field.column} = {field.column}"
        if field.name in ("due_at", "failures", "asked_at"):
            assert owner_connection.execute(change).rowcount == 1
            continue
        with pytest.raises(psycopg.errors.RestrictViolation):
            owner_connection.execute(change)
    with pytest.raises(psycopg.errors.RestrictViolation):
        owner_connection.execute("DELETE FROM tables_delivery")
    assert app_connection.execute("UPDATE tables_delivery SET due_at = NULL, failures = 0, asked_at = NULL").rowcount
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        app_connection.execute("UPDATE tables_delivery SET body = '{}'")


@pytest.mark.django_db
@pytest.mark.parametrize("outcome", [Outcome.SENT, Outcome.DEAD])
def test_what_a_worker_of_the_release_before_ended_is_not_sent_again(
    waits: Delivery, receiver: Receiver, outcome: Outcome
) -> None:
    """Harm: during a rolling upgrade each alert is sent by a worker of both releases."""
    DeliveryAttempt.objects.create(delivery=waits, number=1, outcome=outcome, says="", at=timezone.now())
    Delivery.objects.update(asked_at=None)
    assert streams.queue_due() == 0
    assert delivery.deliver(waits.pk) is None
    assert not receiver.got
    assert list(delivery.dead()) == [waits] * (outcome == Outcome.DEAD)


@pytest.mark.django_db(transaction=True)
def test_two_workers_send_an_alert_once(waits: Delivery, receiver: Receiver) -> None:
    """Harm: the sweep requests a second worker while the first waits for a slow receiver, and the night desk gets the
    alert from both."""
    receiver.holds.clear()

    def first_worker() -> None:
        delivery.deliver(waits.pk)
        connection.close()

    thread = threading.Thread(target=first_worker)
    thread.start()
    try:
        while not receiver.got:
            pass
        assert delivery.deliver(waits.pk) is None, "another worker is at it, and does not wait"
    finally:
        receiver.holds.set()
        thread.join(30)
    assert delivery.deliver(waits.pk) is None, "it was sent"
    assert len(receiver.got) == 1
    assert [attempt.outcome for attempt in DeliveryAttempt.objects.all()] == ["sent"]


@pytest.mark.django_db(transaction=True)
def test_the_progress_follows_without_the_triggers_for_the_release_before(
    waits: Delivery, receiver: Receiver, superuser_connection: psycopg.Connection
) -> None:
    """Harm: the triggers for rolling upgrades hide that the outbox forgets what it sent; once they are dropped, each
    alert is sent for ever."""
    triggers = ("tables_deliveryattempt", "tables_resending")
    for table in triggers:
        superuser_connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER {table}_follows")
    try:
        receiver.answers = [500, 410]
        for failures in (1, 1):
            delivery.deliver(waits.pk)
            waits.refresh_from_db()
            assert waits.failures == failures
            if waits.due_at is not None:
                assert waits.due_at - DeliveryAttempt.objects.get().at == pytest.approx(
                    outbox.FIRST_WAIT, abs=timedelta(seconds=2)
                )
                Delivery.objects.update(due_at=timezone.now())
        assert list(delivery.dead()) == [waits]
        delivery.send_again([waits], by=operator())
        waits.refresh_from_db()
        assert (waits.failures, list(delivery.waiting())) == (0, [waits])
        assert delivery.deliver(waits.pk) == "sent"
        assert not delivery.waiting().exists()
        assert not delivery.dead().exists()
    finally:
        for table in triggers:
            superuser_connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER {table}_follows")


@pytest.mark.django_db
def test_a_lost_key_makes_an_alert_a_dead_letter_and_a_stream_wait(
    waits: Delivery, settings: Any, tmp_path: Path
) -> None:
    """Harm: alerts that cannot be signed go unnoticed, or all events of that time are given up."""
    feed = ChannelDraft("Feed", "webhook", "https://a.example/", SECRET, tells=ChannelContent.EVENTS)
    channels.set_channel(feed, by=operator())
    settings.PEPPER_FILE = str(tmp_path / "pepper")
    pepper.add_key()
    assert delivery.deliver(waits.pk) == "dead"
    order.extend()
    FeedPosition.objects.update(place=0)
    assert streams.send_turn("Feed") == 0
    position = FeedPosition.objects.get()
    for says in (DeliveryAttempt.objects.get().says, position.says):
        assert says.endswith(": set the channel's secret anew")
    assert (position.place, position.failures) == (0, 1)


def test_a_stream_that_fails_without_end_goes_on_waiting_an_hour() -> None:
    """Harm: a head office is away for two days, the wait overflows, and the worker tries every half minute instead,
    with a fault each time."""
    waits = [outbox.wait_after(failures) for failures in (1, 2, 9, 10, 44, outbox.MOST_COUNTED)]
    seconds = [10, 20, 2_560, 3_600, 3_600, 3_600]
    assert waits == [timedelta(seconds=number) for number in seconds]
