"""When the watch ran: each slot of the schedule is run once, whichever worker comes first, and what was missed is seen.

A slot is claimed by a row, and held by a lock that ends with its worker's connection: the next worker that comes goes
on with what a killed one began. After a day without any worker one run covers all that were missed, and says so.
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
from ledger.alerts import raise_alert
from ledger.models import LogEntry, Run, RunEnd

_EPOCH: Final = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Plan:
    """A piece of the watch and how often it is due."""

    task: str
    says: str
    every: timedelta
    after: timedelta = timedelta(0)
    """How long after midnight UTC it is due, where it is due once a day; where once a week, after a Wednesday's."""

    @property
    def patience(self) -> timedelta:
        """A slot and a half may pass before one that should have ended is called late."""
        return self.every * 5 // 2

    def slot(self, moment: datetime) -> datetime:
        """When it was due last, as seen from a moment."""
        start = _EPOCH + self.after
        return start + (moment - start) // self.every * self.every


def run(plan: Plan, deed: Callable[[], int], moment: datetime) -> bool:
    """Do what is due at a moment, unless it was done or another worker does it; whether this call did it.

    ``deed`` returns how many things it found that do not hold. It has to bear being begun again: a worker that is
    killed leaves it half done.
    """
    slot = plan.slot(moment)
    return _run(plan, slot, deed, lambda: not RunEnd.objects.filter(run__task=plan.task, run__slot=slot).exists())


def run_between(plan: Plan, deed: Callable[[], int], moment: datetime, is_due: Callable[[], bool]) -> bool:
    """The same for what may be run more often than its plan says, because it failed or somebody asks for it: it stands
    under the moment itself."""
    return _run(plan, moment, deed, is_due)


def _run(plan: Plan, slot: datetime, deed: Callable[[], int], is_due: Callable[[], bool]) -> bool:
    with alone(f"run {plan.task}") as is_alone:
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


def _missed(plan: Plan, slot: datetime) -> int:
    """How many slots have passed since the last one that was run to its end."""
    last = RunEnd.objects.filter(run__task=plan.task, run__slot__lt=slot).order_by("-run__slot").first()
    return 0 if last is None else max(0, (slot - last.run.slot) // plan.every - 1)


def _report(plan: Plan, claimed: Run) -> None:
    times = "once" if claimed.missed == 1 else f"{claimed.missed} times"
    message = f"{plan.says} did not run {times} before {claimed.slot:%Y-%m-%d %H:%M} UTC; one run made up"
    raise_alert(None, "run_missed", message, {"task": plan.task, "missed": claimed.missed})


@contextmanager
def alone(deed: str) -> Iterator[bool]:
    """Whether no other worker is at it. The lock is the connection's, so it ends with its process."""
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
    """Whether a worker is at it now."""
    with alone(deed) as free:
        return not free


@contextmanager
def in_turn(deed: str) -> Iterator[None]:
    """Whoever asks for it at the same moment waits, until this transaction is over."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"asking for {deed}"])
    yield


@dataclass(frozen=True, slots=True)
class State:
    """How one piece of the watch stands."""

    plan: Plan
    last: Run | None
    """The last one that was run to its end."""
    runs: tuple[Run, ...]
    """The latest, the newest first."""
    moment: datetime
    """At which it stood so."""

    @property
    def due_at(self) -> datetime:
        return self.plan.slot(self.moment) + self.plan.every

    @property
    def late(self) -> bool:
        """Whether one that should have ended did not."""
        return self.last is not None and self.moment - self.last.slot > self.plan.patience

    @property
    def never(self) -> bool:
        """Whether nobody has ever run it to its end."""
        return self.last is None


def late(plans: Sequence[Plan], moment: datetime | None = None) -> list[Plan]:
    """The pieces of the watch that nobody has run to their end of late, in a house that is old enough for them.

    It looks at the last slots of each plan only, so it stays cheap however long the house has been open.
    """
    moment = moment or timezone.now()
    began = LogEntry.objects.filter(seq=1).aggregate(began=Min("at"))["began"]
    due = [plan for plan in plans if began is not None and began < moment - plan.patience]
    return [plan for plan in due if not _ended_since(plan, moment - plan.patience)]


def _ended_since(plan: Plan, moment: datetime) -> bool:
    return bool(RunEnd.objects.filter(run__task=plan.task, run__slot__gte=moment).exists())


def states(plans: Sequence[Plan], since: datetime, moment: datetime | None = None) -> list[State]:
    """How every piece of the watch stands, with its runs since a moment."""
    moment = moment or timezone.now()
    plan_states = []
    for plan in plans:
        rows = Run.objects.filter(task=plan.task, slot__lte=moment).select_related("end").order_by("-slot")
        last = rows.filter(end__isnull=False).first()
        plan_states.append(State(plan, last, tuple(rows.filter(slot__gte=since)[:300]), moment))
    return plan_states
