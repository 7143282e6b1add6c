"""Runs of the watch: each slot once, however many workers; what was missed is made up once, and said."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from ledger import runs
from ledger.models import Alert, Run, RunEnd
from ledger.runs import WatchPlan
from tests.tables.at_once import at_once

HOURLY = WatchPlan("reconcile", "Reconciling", timedelta(hours=1))
NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


class Deed:
    """Something that is done, and counted."""

    def __init__(self, *, dies: bool = False) -> None:
        self.times, self.dies = 0, dies

    def __call__(self) -> int:
        self.times += 1
        if self.dies:
            raise KeyboardInterrupt
        return 0


def test_a_slot_is_the_last_moment_at_which_it_was_due() -> None:
    assert HOURLY.slot(NOW) == datetime(2026, 11, 21, 9, tzinfo=UTC)
    nightly = WatchPlan("prove_all", "Proving", timedelta(days=1), timedelta(hours=4, minutes=30))
    assert nightly.slot(NOW) == datetime(2026, 11, 21, 4, 30, tzinfo=UTC)
    assert nightly.slot(datetime(2026, 11, 21, 4, tzinfo=UTC)) == datetime(2026, 11, 20, 4, 30, tzinfo=UTC)


def test_a_slot_is_run_once(db: None) -> None:
    """Harm: beat asks every minute, and the whole house is reconciled every minute."""
    deed = Deed()
    assert runs.run(HOURLY, deed, NOW)
    assert not runs.run(HOURLY, deed, NOW + timedelta(minutes=29))
    assert deed.times == 1
    assert runs.run(HOURLY, deed, NOW + timedelta(minutes=30))
    assert deed.times == 2
    assert not Alert.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_do_it_once() -> None:
    """Harm: the same work twice, at the same moment, on the same tables."""
    deed, turned_away = Deed(), threading.Semaphore(0)

    def slow() -> int:
        assert all(turned_away.acquire(timeout=60) for _ in range(3))
        return deed()

    def work() -> bool:
        if not (ran := runs.run(HOURLY, slow, NOW)):
            turned_away.release()
        return ran

    assert sorted(at_once(*[work] * 4)) == [False, False, False, True]
    assert (deed.times, Run.objects.count(), RunEnd.objects.count()) == (1, 1, 1)


@pytest.mark.django_db(transaction=True)
def test_what_a_killed_worker_began_the_next_one_ends() -> None:
    """Harm: a slot that was claimed and never done counts as done."""
    with pytest.raises(KeyboardInterrupt):
        runs.run(HOURLY, Deed(dies=True), NOW)
    connection.close()
    assert (Run.objects.count(), RunEnd.objects.count()) == (1, 0)
    deed = Deed()
    assert runs.run(HOURLY, deed, NOW)
    assert (deed.times, Run.objects.count(), RunEnd.objects.count()) == (1, 1, 1)


def test_a_day_without_workers_is_made_up_by_one_run_and_said(db: None) -> None:
    """Harm: nobody hears that nothing was checked for a day; or the morning begins with 24 runs."""
    deed = Deed()
    runs.run(HOURLY, deed, NOW)
    assert runs.run(HOURLY, deed, NOW + timedelta(hours=25))
    assert deed.times == 2
    assert Run.objects.latest("slot").missed == 24
    alert = Alert.objects.get(kind="run_missed")
    assert alert.message == "Reconciling did not run 24 times before 2026-11-22 10:00 UTC; one run made up"


def test_a_run_that_does_not_come_is_seen_without_any_worker(db: None) -> None:
    """Harm: the one who would say that nothing runs is the one who does not run."""
    (state,) = runs.states([HOURLY], NOW - timedelta(days=1), NOW)
    assert state.never
    runs.run(HOURLY, Deed(), NOW)
    for hours, late in ((1, False), (2, False), (3, True), (30, True)):
        (state,) = runs.states([HOURLY], NOW - timedelta(days=1), NOW + timedelta(hours=hours))
        assert state.late is late, hours
        assert not state.never
    assert state.due_at == datetime(2026, 11, 22, 16, tzinfo=UTC)
