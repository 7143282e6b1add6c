"""Runs of the scheduled checks: one worker runs each slot of a schedule once, and missed slots are reported.

A worker claims a slot by a row and a lock that ends with its connection, so another worker can finish what a killed one
began. After a day without workers one run makes up for all missed slots, and an alert reports them.

Celery has no part in that: the broker may lose its contents, a restarted beat or a second one may queue a task twice,
and the rows are evidence of what was checked when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import connection
from django.db.models import Min
from django.utils import timezone

from ledger import clock
from ledger.alerts import raise_event
from ledger.models import LogEntry, Run, RunEnd
from ledger.raw_rows import fetch_row

_EPOCH: Final = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """A scheduled check and its interval."""

    task: str
    says: str
    every: timedelta
    after: timedelta = timedelta(0)
    """The offset of its slots: for a daily plan from midnight UTC, for a weekly one from midnight UTC on Wednesday."""

    @property
    def patience(self) -> timedelta:
        """The time after a slot's begin by which the next slot must have ended: 2.5 intervals, which is 1.5 intervals
        after it was due."""
        return self.every * 5 // 2

    def slot(self, moment: datetime) -> datetime:
        """The latest slot that is due at a time."""
        start = _EPOCH + self.after
        return start + (moment - start) // self.every * self.every


def run(plan: WatchPlan, work: Callable[[], int], moment: datetime) -> bool:
    """Run the slot that is due, unless it was run or another worker is running it. Returns whether this call ran it.

    ``work`` returns the number of faults that it found. It must be safe to repeat, because a killed worker leaves it
    half done.
    """
    slot = plan.slot(moment)
    return _run(plan, slot, work, lambda: not RunEnd.objects.filter(run__task=plan.task, run__slot=slot).exists())


def run_between(plan: WatchPlan, work: Callable[[], int], moment: datetime, is_due: Callable[[], bool]) -> bool:
    """Run a plan outside of its slots, after a failure or by hand; ``moment`` itself is the slot. Returns whether this
    call ran it.

    ``is_due`` is called under the lock of the plan. ``work`` returns the number of faults that it found and must be
    safe to repeat.
    """
    return _run(plan, moment, work, is_due)


def _run(plan: WatchPlan, slot: datetime, work: Callable[[], int], is_due: Callable[[], bool]) -> bool:
    # The lock comes before the check: a second worker would otherwise see the slot as not yet run.
    with alone(_lock(plan)) as is_alone:
        if not is_alone or not is_due():
            return False
        missed = _missed(plan, slot)
        # A killed worker left the row of this slot: its successor continues with that row.
        Run.objects.bulk_create(
            [Run(task=plan.task, slot=slot, begun_at=clock.read().database, missed=missed)], ignore_conflicts=True
        )
        claimed = Run.objects.get(task=plan.task, slot=slot)
        # Reported before the work, which may take an hour or fail.
        if claimed.missed:
            _report(plan, claimed)
        faults = work()
        RunEnd.objects.create(run=claimed, at=clock.read().database, found=faults)
    return True


def _lock(plan: WatchPlan) -> str:
    return f"run {plan.task}"


def under_way(plans: Sequence[WatchPlan]) -> bool:
    """Whether a worker is running one of the plans now."""
    return any(is_held(_lock(plan)) for plan in plans)


def _missed(plan: WatchPlan, slot: datetime) -> int:
    """The number of slots between the last finished run and this one."""
    last = RunEnd.objects.filter(run__task=plan.task, run__slot__lt=slot).order_by("-run__slot").first()
    return 0 if last is None else max(0, (slot - last.run.slot) // plan.every - 1)


def _report(plan: WatchPlan, claimed: Run) -> None:
    times = "once" if claimed.missed == 1 else f"{claimed.missed} times"
    message = f"{plan.says} did not run {times} before {claimed.slot:%Y-%m-%d %H:%M} UTC; one run made up"
    raise_event(None, "run_missed", message, {"cause": plan.task, "task": plan.task, "missed": claimed.missed})


@contextmanager
def alone(task: str) -> Iterator[bool]:
    """Yields whether this worker got the lock of a task, without waiting. The lock ends with the connection, and so
    with a killed process."""
    # A session lock, because the work has transactions of its own.
    is_locked = bool(fetch_row("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [task])[0])
    try:
        yield is_locked
    finally:
        if is_locked:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [task])


def is_held(task: str) -> bool:
    """Whether a worker holds the lock of a task now."""
    with alone(task) as is_free:
        return not is_free


@contextmanager
def in_turn(task: str) -> Iterator[None]:
    """Run concurrent callers one after the other; each holds the lock until its transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"asking for {task}"])
    yield


@dataclass(frozen=True, slots=True)
class PlanState:
    """The state of one scheduled check at a time."""

    plan: WatchPlan
    last: Run | None
    """The last run that ended; None if none did."""
    runs: tuple[Run, ...]
    """The latest runs, newest first."""
    moment: datetime

    @property
    def due_at(self) -> datetime:
        return self.plan.slot(self.moment) + self.plan.every

    @property
    def late(self) -> bool:
        """Whether a run that should have ended by now has not."""
        return self.last is not None and self.moment - self.last.slot > self.plan.patience

    @property
    def never(self) -> bool:
        """Whether no run has ever ended."""
        return self.last is None


def late(plans: Sequence[WatchPlan], moment: datetime | None = None) -> list[WatchPlan]:
    """The scheduled checks that are overdue. A site that is younger than a check's tolerance is not overdue with it.

    Only the last slots of each plan are read, so the cost does not grow with the age of the site.
    """
    moment = moment or timezone.now()
    began = LogEntry.objects.filter(seq=1).aggregate(began=Min("at"))["began"]
    # A site without entries for that long has no worker that could be late.
    due = [plan for plan in plans if began is not None and began < moment - plan.patience]
    return [plan for plan in due if not _ended_since(plan, moment - plan.patience)]


def _ended_since(plan: WatchPlan, moment: datetime) -> bool:
    return bool(RunEnd.objects.filter(run__task=plan.task, run__slot__gte=moment).exists())


def states(plans: Sequence[WatchPlan], since: datetime, moment: datetime | None = None) -> list[PlanState]:
    """The state of each scheduled check, with at most 300 of its runs since a time."""
    moment = moment or timezone.now()
    plan_states = []
    for plan in plans:
        rows = Run.objects.filter(task=plan.task, slot__lte=moment).select_related("end").order_by("-slot")
        last = rows.filter(end__isnull=False).first()
        plan_states.append(PlanState(plan, last, tuple(rows.filter(slot__gte=since)[:300]), moment))
    return plan_states
