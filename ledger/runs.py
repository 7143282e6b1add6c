"""The runs of the watch: each slot of a schedule is run once, by whichever worker comes first; missed slots are seen.

A worker claims a slot by a row and a lock that ends with its connection, so another worker can finish what a killed one
began. After a day without workers one run makes up for all missed slots, and an alert says so.
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

_EPOCH: Final = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """A piece of the watch and how often it is due."""

    task: str
    says: str
    every: timedelta
    after: timedelta = timedelta(0)
    """The offset of its slots: for a daily plan from midnight UTC, for a weekly one from midnight UTC on Wednesday."""

    @property
    def patience(self) -> timedelta:
        """How long after a slot began the next one must have ended: a slot and a half after it was due."""
        return self.every * 5 // 2

    def slot(self, moment: datetime) -> datetime:
        """The latest slot that is due at a moment."""
        start = _EPOCH + self.after
        return start + (moment - start) // self.every * self.every


def run(plan: WatchPlan, deed: Callable[[], int], moment: datetime) -> bool:
    """Run the slot that is due, unless it has been run or another worker is running it; whether this call ran it.

    ``deed`` returns the number of faults that it found. It must be safe to repeat, because a killed worker leaves it
    half done.
    """
    slot = plan.slot(moment)
    return _run(plan, slot, deed, lambda: not RunEnd.objects.filter(run__task=plan.task, run__slot=slot).exists())


def run_between(plan: WatchPlan, deed: Callable[[], int], moment: datetime, is_due: Callable[[], bool]) -> bool:
    """The same for a plan that may run outside its slots, after a failure or by hand: the moment itself is the slot."""
    return _run(plan, moment, deed, is_due)


def _run(plan: WatchPlan, slot: datetime, deed: Callable[[], int], is_due: Callable[[], bool]) -> bool:
    with alone(_lock(plan)) as is_alone:
        if not is_alone or not is_due():
            return False
        missed = _missed(plan, slot)
        Run.objects.bulk_create(
            [Run(task=plan.task, slot=slot, begun_at=clock.read().database, missed=missed)], ignore_conflicts=True
        )
        claimed = Run.objects.get(task=plan.task, slot=slot)
        if claimed.missed:
            _report(plan, claimed)
        faults = deed()
        RunEnd.objects.create(run=claimed, at=clock.read().database, found=faults)
    return True


def _lock(plan: WatchPlan) -> str:
    return f"run {plan.task}"


def under_way(plans: Sequence[WatchPlan]) -> bool:
    """Whether a worker is at one of them now."""
    return any(is_held(_lock(plan)) for plan in plans)


def _missed(plan: WatchPlan, slot: datetime) -> int:
    """The number of slots that passed between the last finished run and this one."""
    last = RunEnd.objects.filter(run__task=plan.task, run__slot__lt=slot).order_by("-run__slot").first()
    return 0 if last is None else max(0, (slot - last.run.slot) // plan.every - 1)


def _report(plan: WatchPlan, claimed: Run) -> None:
    times = "once" if claimed.missed == 1 else f"{claimed.missed} times"
    message = f"{plan.says} did not run {times} before {claimed.slot:%Y-%m-%d %H:%M} UTC; one run made up"
    raise_event(None, "run_missed", message, {"cause": plan.task, "task": plan.task, "missed": claimed.missed})


@contextmanager
def alone(deed: str) -> Iterator[bool]:
    """Yields whether this worker got the lock for a deed. The lock ends with the connection, so with its process."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [deed])
        is_locked = bool(cursor.fetchone()[0])
    try:
        yield is_locked
    finally:
        if is_locked:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [deed])


def is_held(deed: str) -> bool:
    """Whether a worker holds the lock now."""
    with alone(deed) as is_free:
        return not is_free


@contextmanager
def in_turn(deed: str) -> Iterator[None]:
    """Make concurrent callers wait for one another; each holds its turn to the end of its transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"asking for {deed}"])
    yield


@dataclass(frozen=True, slots=True)
class PlanState:
    """The state of one piece of the watch at a moment."""

    plan: WatchPlan
    last: Run | None
    """The last run that ended."""
    runs: tuple[Run, ...]
    """The latest runs, newest first."""
    moment: datetime

    @property
    def due_at(self) -> datetime:
        return self.plan.slot(self.moment) + self.plan.every

    @property
    def late(self) -> bool:
        """Whether a run that should have ended by now did not."""
        return self.last is not None and self.moment - self.last.slot > self.plan.patience

    @property
    def never(self) -> bool:
        """Whether no run has ever ended."""
        return self.last is None


def late(plans: Sequence[WatchPlan], moment: datetime | None = None) -> list[WatchPlan]:
    """The overdue pieces of the watch; those of a house that is too new to have run them are not.

    It reads only the last slots of each plan, so it stays cheap however old the house is.
    """
    moment = moment or timezone.now()
    began = LogEntry.objects.filter(seq=1).aggregate(began=Min("at"))["began"]
    due = [plan for plan in plans if began is not None and began < moment - plan.patience]
    return [plan for plan in due if not _ended_since(plan, moment - plan.patience)]


def _ended_since(plan: WatchPlan, moment: datetime) -> bool:
    return bool(RunEnd.objects.filter(run__task=plan.task, run__slot__gte=moment).exists())


def states(plans: Sequence[WatchPlan], since: datetime, moment: datetime | None = None) -> list[PlanState]:
    """The state of every piece of the watch, with its runs since a moment."""
    moment = moment or timezone.now()
    plan_states = []
    for plan in plans:
        rows = Run.objects.filter(task=plan.task, slot__lte=moment).select_related("end").order_by("-slot")
        last = rows.filter(end__isnull=False).first()
        plan_states.append(PlanState(plan, last, tuple(rows.filter(slot__gte=since)[:300]), moment))
    return plan_states
