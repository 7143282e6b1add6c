"""The clocks: one that is wrong writes nothing, and is told; whatever goes past the program, the database refuses."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from ledger import alerts, clock
from ledger.clock import Reading, WrongClock
from ledger.models import Alert, LogEntry
from tables.audit import watch
from tests.clock import Clock
from tests.ledger.conftest import Felt

SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "after", "drift"),
    [
        (0, 0, 0),
        (-1, 1, 0),
        (-60, 0, 0),  # it waited a minute for the lock
        (0, 60, 0),  # or was stopped for one after it
        (7, 8, 7),
        (-9, -8, -8),
    ],
)
def test_waiting_is_no_drift(before: int, after: int, drift: int) -> None:
    """Harm prevented: a floor that stops because one input waited for another, or the network was slow."""
    reading = Reading(NOON + before * SECOND, NOON, NOON + after * SECOND)
    assert reading.drift == drift * SECOND
    assert reading.differs is (abs(drift) > 5)


@pytest.mark.parametrize("off", [3 * DAY, -3 * DAY, 6 * SECOND, -7 * SECOND])
def test_a_host_whose_clock_is_wrong_writes_nothing(felt: Felt, clock: Clock, off: timedelta) -> None:
    """Harm prevented: one input of a host that is three days ahead pins its book, and every later entry, to then."""
    entries, right = LogEntry.objects.count(), timezone.now()
    clock.host_is_off(off)
    with pytest.raises(WrongClock, match=r"differ by .*\. Nothing is written") as refused:
        felt.round()
    assert LogEntry.objects.count() == entries
    for _ in range(2):
        alerts.about_the_clock(refused.value)
    alert = Alert.objects.get()
    assert alert.kind == "clocks_differ"
    assert abs(alert.at - right) < timedelta(minutes=1), "the alert is not dated by the wrong clock"
    clock.right()
    felt.round()


def test_small_differences_are_borne(felt: Felt, clock: Clock) -> None:
    """Harm prevented: a floor that stops for the seconds by which honest clocks differ; entries dated by two clocks."""
    clock.host_is_off(timedelta(seconds=4))
    head = felt.round()
    clock.right()
    assert head.at is not None
    assert head.at < timezone.now() + SECOND, "an entry is dated by the database"


@pytest.fixture
def poisoned(felt: Felt, clock: Clock) -> Felt:
    """Both clocks were three days ahead for one round, and are right again."""
    clock.stand(timezone.now() + 3 * DAY)
    felt.round()
    clock.right()
    return felt


def test_a_book_that_was_dated_ahead_is_not_written_to(poisoned: Felt) -> None:
    """Harm prevented: rounds of today that all carry a moment three days ahead, and are in no report of today."""
    with pytest.raises(WrongClock, match="Table 1 is dated 2 days ahead") as refused:
        poisoned.round()
    assert "manage.py clock mend" in refused.value.alert


def test_the_database_refuses_an_entry_that_is_dated_ahead(felt: Felt) -> None:
    """Harm prevented: a mistake of ours, another program or another host that dates an entry as it likes."""
    ahead = timezone.now() + timedelta(minutes=2)
    with pytest.raises(DatabaseError) as refused, transaction.atomic():
        felt.write(at=ahead)
    assert "ledger_logentry_not_to_come" in str(refused.value)


def test_the_application_cannot_replace_the_clock(felt: Felt) -> None:
    """Harm prevented: whoever holds the application's role sets the time by which the log is dated."""

    for sql in (
        "CREATE OR REPLACE FUNCTION ledger_now() RETURNS timestamptz LANGUAGE sql RETURN now()",
        "ALTER FUNCTION ledger_now() RENAME TO clock",
        "DROP FUNCTION ledger_now() CASCADE",
        "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql RETURN now()",
    ):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)


def test_the_watch_waits_while_the_clocks_differ(felt: Felt, clock: Clock) -> None:
    """Harm prevented: a worker thirty days ahead that runs, finds and seals by its own time."""
    clock.host_is_off(30 * DAY)
    for _ in range(2):
        assert watch.watch() == []
    assert [alert.kind for alert in Alert.objects.all()] == ["clocks_differ"]


def test_spans_are_told_in_words() -> None:
    """Harm prevented: an alert that says 259200.4 seconds to somebody who has to act on it."""
    spellings: list[Any] = [clock.spelled(span) for span in (3 * DAY, -timedelta(hours=1), 90 * SECOND, 7 * SECOND)]
    assert spellings == ["3 days", "1 hour", "1 minute", "7 seconds"]
