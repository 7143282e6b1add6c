"""The register of keys and the schedule of drops: rows that never change, each with its log entry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Final

from django.db import transaction

from ledger import site_log
from ledger.models import LogEntry
from ledger.proof.chain import Entry
from tables.log.catalog import read_as
from tables.log.entries.custody import OPENS, DropScheduled, HouseKeySet
from tables.log.entries.slips import HouseSlipSigned
from tables.log.slip_types import EVERY_KEY, SLIPS
from tables.log.slip_workflow import Slip
from tables.models import DropSchedule, HouseKey, Staff, Table
from tables.projections import site_rows
from tables.refusals import Refused

Faults = dict[str, str]
LONGEST = 40


# --- Keys ------------------------------------------------------------------------------------------------------


def keys(through_seq: int | None = None) -> dict[str, HouseKey]:
    """The keys in use, by name, as of an entry of the site's log."""
    rows = HouseKey.objects.order_by("seq")
    rows = rows if through_seq is None else rows.filter(seq__lte=through_seq)
    newest = {row.name: row for row in rows}
    return {name: row for name, row in sorted(newest.items()) if row.in_use}


def lost(through_seq: int | None = None) -> dict[str, Slip]:
    """The keys that two people signed as lost, with their slips, by name, as of an entry of the site's log."""
    rows = LogEntry.objects.of_site().filter(subject=HouseSlipSigned.subject, kind__in=_LOST)
    rows = rows if through_seq is None else rows.filter(seq__lte=through_seq)
    slips = [
        read_as(HouseSlipSigned, bytes(body)).after for body in rows.order_by("seq").values_list("body", flat=True)
    ]
    return {slip.facts[slip.series.field_of_kind(EVERY_KEY)]: slip for slip in slips}


_LOST: Final = [
    f"{series.name}_{series.stages[-1].name}" for series in SLIPS.values() if series.field_of_kind(EVERY_KEY)
]
"""The entry kinds that report a key lost."""


def set_key(event: HouseKeySet, *, by: Staff) -> HouseKey:
    """Add a key to the register, change its lock, or retire it. Raises Refused."""
    by.require("tables.add_housekey", "Only an operator keeps the register of keys.")
    with transaction.atomic():
        head = site_log.lock()
        if sentences := key_faults(event):
            raise Refused("bad_key", " ".join(sentences.values()), 422, fields=sentences)
        return site_rows.KEYS.append(head, event, by.signature)


def key_faults(event: HouseKeySet, before_seq: int | None = None) -> Faults:
    """The faults of a key's new state, by field; judged before entry ``before_seq`` if that is given."""
    wrong: Faults = {}
    if sentence := _name_fault(event.name):
        wrong["name"] = f"A key's mark {sentence}"
    if event.lock not in OPENS:
        wrong["lock"] = f"A key opens one of: {', '.join(OPENS.values())}."
    through = None if before_seq is None else before_seq - 1
    known_keys = keys(through)
    if event.in_use and (slip := lost(through).get(event.name)):
        wrong["name"] = f"Key {event.name} was lost ({slip.label}): the new key has a mark of its own."
    if not event.in_use and event.name not in known_keys:
        wrong["in_use"] = f"There is no key {event.name} to retire."
    return wrong


def _name_fault(name: str) -> str:
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > LONGEST:
        return f"has 1 to {LONGEST} characters, and no space before or after it."
    return ""


# --- Drops -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Schedule:
    """The boxes that are due on certain weekdays, from a day on."""

    name: str
    from_day: date
    tables: tuple[str, ...]
    weekdays: tuple[int, ...]
    due_at: time
    who: str
    set_at: datetime | None = None

    @classmethod
    def read(cls, event: DropScheduled) -> Schedule:
        """The schedule of an entry. Raises ValueError for an invalid date or time."""
        day, hour = date.fromisoformat(event.from_day), time.fromisoformat(event.due_at)
        return cls(event.name, day, event.tables, event.weekdays, hour, event.who)

    def spelled(self) -> DropScheduled:
        """The schedule as a log entry."""
        return DropScheduled(
            name=self.name,
            from_day=self.from_day.isoformat(),
            tables=self.tables,
            weekdays=self.weekdays,
            due_at=f"{self.due_at:%H:%M}",
            who=self.who,
        )


def schedules(day: date) -> list[Schedule]:
    """The schedules in force on a day: for each name the latest that has begun."""
    newest: dict[str, Schedule] = {}
    for row in DropSchedule.objects.filter(from_day__lte=day).order_by("from_day", "seq"):
        newest[row.name] = schedule_in(row)
    return [schedule for schedule in newest.values() if schedule.weekdays]


def schedule_in(row: DropSchedule) -> Schedule:
    """The schedule of a row."""
    return Schedule(row.name, row.from_day, tuple(row.tables), tuple(row.weekdays), row.due_at, row.who, row.at)


def set_schedule(schedule: Schedule, *, by: Staff, today: date) -> DropSchedule:
    """Set when boxes are due, from today or a later day on. Raises Refused."""
    by.require("tables.add_dropschedule", "Only an operator sets when boxes are due.")
    with transaction.atomic():
        head = site_log.lock()
        if sentences := schedule_faults(schedule, today):
            raise Refused("bad_schedule", " ".join(sentences.values()), 422, fields=sentences)
        return site_rows.DROP_SCHEDULES.append(head, schedule.spelled(), by.signature)


def schedule_faults(schedule: Schedule, today: date | None) -> Faults:
    """The faults of a schedule, by field. It may not begin before ``today``; None skips that check."""
    wrong = _form_faults(schedule)
    known_tables = set(Table.objects.values_list("name", flat=True))
    if strange := [name for name in schedule.tables if name not in known_tables]:
        wrong["tables"] = f"There is no table {strange[0]}."
    if today is not None and schedule.from_day < today:
        wrong["from_day"] = f"A schedule begins on {today} or later: what was due before is past."
    return wrong


def _form_faults(schedule: Schedule) -> Faults:
    wrong: Faults = {}
    if sentence := _name_fault(schedule.name):
        wrong["name"] = f"A schedule's name {sentence}"
    if sentence := _name_fault(schedule.who):
        wrong["who"] = f"Who takes the boxes: it {sentence}"
    if any(number not in range(7) for number in schedule.weekdays) or _repeats(schedule.weekdays):
        wrong["weekdays"] = "Weekdays are named once each, Monday to Sunday."
    if _repeats(schedule.tables):
        wrong["tables"] = "A table is named once."
    if schedule.due_at.second or schedule.due_at.microsecond or schedule.due_at.tzinfo:
        wrong["due_at"] = "A drop is due on the minute: 05:30."
    return wrong


def _repeats(values: Sequence[object]) -> bool:
    return len(set(values)) < len(values)


def due_tables(schedule: Schedule, names: Iterable[str]) -> list[str]:
    """The tables of a schedule, among ``names``. A schedule without tables covers all."""
    return [name for name in names if not schedule.tables or name in schedule.tables]


def entry_fault(event: HouseKeySet | DropScheduled, entry: Entry) -> str:
    """The fault of a logged key or schedule, as a sentence; empty if it is valid."""
    if isinstance(event, HouseKeySet):
        return " ".join(key_faults(event, entry.seq).values())
    try:
        return " ".join(_form_faults(Schedule.read(event)).values())
    except ValueError as wrong:
        return str(wrong)
