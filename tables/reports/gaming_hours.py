"""The house's gaming day and its shifts: when they begin, by the house's own clock, on every day of the calendar.

A day runs from its start to the start of the next, so days join without gap or overlap whatever clocks do; it has 23
or 25 hours when they change. Hours are set for days to come and stand for good: what was a day stays that day.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple
from zoneinfo import available_timezones

from django.conf import settings
from django.db import transaction
from msgspec import structs

from ledger import site_log
from ledger.proof.chain import Entry
from tables.floor.handlers import checks
from tables.log.entries.settings import HoursSet, SetHours
from tables.log.event import AuditFailure
from tables.log.wall_clock import moment_of
from tables.models import HouseHours, Staff
from tables.projections import site_rows
from tables.refusals import Faults, Refused

DAY: Final = timedelta(days=1)
FURTHEST: Final = timedelta(days=366)
"""How far ahead hours can be set."""
SHORTEST: Final = timedelta(hours=1)
"""How long the last day under the old hours has to be."""
MOST_SHIFTS: Final = 6


class Span(NamedTuple):
    """From one moment up to another, which is not in it. Both in UTC."""

    start: datetime
    end: datetime


class Shift(NamedTuple):
    """A shift of a particular gaming day. Both moments are in UTC, and its end is not in it."""

    name: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Hours:
    """What the house's day is, from one gaming day on."""

    from_day: date
    time_zone: str
    day_starts: time
    shifts: tuple[tuple[str, time], ...]
    """Name and start of each, in order; the first one starts with the day."""

    def spelled(self) -> SetHours:
        """As the log has them: days and times as text."""
        shifts = tuple((name, f"{starts:%H:%M}") for name, starts in self.shifts)
        return SetHours(self.from_day.isoformat(), self.time_zone, f"{self.day_starts:%H:%M}", shifts)

    @classmethod
    def read(cls, event: HoursSet) -> Hours:
        """The hours of an entry of the log; the reverse of ``spelled``."""
        shifts = tuple((name, time.fromisoformat(starts)) for name, starts in event.shifts)
        day, starts = date.fromisoformat(event.from_day), time.fromisoformat(event.day_starts)
        return cls(day, event.time_zone, starts, shifts)


@dataclass(frozen=True)
class Calendar:
    """Every gaming day and shift that the house has, had and will have."""

    periods: tuple[Hours, ...]
    """In order of their first days; the first of them has no beginning."""

    @cached_property
    def _from_days(self) -> list[date]:
        return [hours.from_day for hours in self.periods]

    def hours_of(self, day: date) -> Hours:
        """The hours in force on a gaming day."""
        return self.periods[max(bisect_right(self._from_days, day) - 1, 0)]

    def span(self, day: date) -> Span:
        """When a gaming day begins and ends."""
        return Span(self._starts(day), self._starts(day + DAY))

    def day_of(self, moment: datetime) -> date:
        """The gaming day that a moment belongs to.

        It is sought from two days before the moment's date in UTC: the local date can be a day behind that, and the
        gaming day another."""
        day = moment.astimezone(UTC).date() - 2 * DAY
        while self._starts(day + DAY) <= moment:
            day += DAY
        return day

    def shifts_of(self, day: date) -> list[Shift]:
        """The shifts of a gaming day, in order; together they are the day."""
        hours, (start, end) = self.hours_of(day), self.span(day)
        walls = [_wall(hours, day, starts) for _, starts in hours.shifts]
        begins = [min(max(moment_of(hours.time_zone, *wall), start), end) for wall in walls]
        # Where clocks leap over a whole shift, or the hours change, it has no time: the day goes on without it.
        edges = zip(hours.shifts, [start, *begins[1:]], [*begins[1:], end], strict=True)
        return [Shift(name, begin, finish) for (name, _), begin, finish in edges if begin < finish]

    def shift_of(self, moment: datetime) -> Shift:
        return next(shift for shift in self.shifts_of(self.day_of(moment)) if shift.start <= moment < shift.end)

    def with_hours(self, hours: Hours) -> Calendar:
        """The calendar after hours were set; what was set before for the same first day gives way."""
        periods = [period for period in self.periods if period.from_day != hours.from_day]
        return Calendar(tuple(sorted([*periods, hours], key=lambda period: period.from_day)))

    def _starts(self, day: date) -> datetime:
        hours = self.hours_of(day)
        return moment_of(hours.time_zone, day, hours.day_starts)


def _wall(hours: Hours, day: date, starts: time) -> tuple[date, time]:
    """The date and the time of the wall clock that a shift of a gaming day starts at: it may start after midnight."""
    return (day + DAY if starts < hours.day_starts else day), starts


# --- What the house has set ------------------------------------------------------------------------------------


def default() -> Hours:
    """The hours of a house that has set none."""
    starts = (time(6), time(14), time(22))
    return Hours(date.min, settings.TIME_ZONE, starts[0], tuple(zip(("Day", "Swing", "Grave"), starts, strict=True)))


def calendar(before_seq: int | None = None) -> Calendar:
    """The calendar as it is set; or as it was before an entry of the house's book."""
    rows = HouseHours.objects.order_by("seq")
    rows = rows if before_seq is None else rows.filter(seq__lt=before_seq)
    days = Calendar((default(),))
    for row in rows:
        days = days.with_hours(hours_in(row))
    return days


def hours_in(row: HouseHours) -> Hours:
    """The hours that a row has, as the log's entry has them too (``Hours.read``)."""
    shifts = tuple((name, time.fromisoformat(starts)) for name, starts in row.shifts)
    return Hours(row.from_day, row.time_zone, row.day_starts, shifts)


# By the calendar as it is set. Each call reads it from the database: who asks often takes ``calendar()`` once.


def day_of(moment: datetime) -> date:
    return calendar().day_of(moment)


def span(day: date) -> Span:
    return calendar().span(day)


def shifts_of(day: date) -> list[Shift]:
    return calendar().shifts_of(day)


def shift_of(moment: datetime) -> Shift:
    return calendar().shift_of(moment)


# --- Setting them ----------------------------------------------------------------------------------------------


def set_hours(hours: Hours, *, by: Staff) -> HouseHours:
    """Set the house's hours from a gaming day on that has not begun. Raises Refused.

    The house's book is locked before the calendar is read, so that no other hours are set in between."""
    by.require("tables.add_househours", "Only an operator sets the house's hours.")
    with transaction.atomic():
        head, days = site_log.lock(), calendar()
        if sentences := faults(hours, days, head.moment):
            raise Refused("bad_hours", " ".join(sentences.values()), 422, fields=sentences)
        before = replace(days.hours_of(hours.from_day), from_day=hours.from_day)
        event = HoursSet(**structs.asdict(hours.spelled()), before=before.spelled())
        return site_rows.GAMING_HOURS.append(head, event, by.signature)


@checks(HoursSet)
def check_hours(event: HoursSet, entry: Entry) -> None:
    """Raises AuditFailure unless hours agree with their row and were set for days to come."""
    hours, days = Hours.read(event), calendar(before_seq=entry.seq)
    if not site_rows.GAMING_HOURS.has_row(event, entry):
        raise AuditFailure("the house's hours, as they are kept beside the log, are others")
    before = replace(days.hours_of(hours.from_day), from_day=hours.from_day).spelled()
    for name, value in structs.asdict(before).items():
        if getattr(event.before, name) != value:
            raise AuditFailure(f"the hours were others before it: its before.{name} is not {value}")
    if entry.at is None or (sentences := faults(hours, days, entry.at)):
        raise AuditFailure(f"it could not be set then: {' '.join(sentences.values())}")


def faults(hours: Hours, days: Calendar, moment: datetime) -> Faults:
    """What is wrong with hours that are set at a moment, by the calendar before: one sentence for each setting."""
    sentences: Faults = {}
    if hours.time_zone not in _zones():
        sentences["time_zone"] = "A time zone is named as in the IANA database: Europe/Berlin, America/New_York, UTC."
    if sentence := _wrong_shifts(hours):
        sentences["shifts"] = sentence
    today = days.day_of(moment)
    earliest, latest = today + DAY, today + FURTHEST
    while "time_zone" not in sentences and moment_of(hours.time_zone, earliest, hours.day_starts) <= moment:
        earliest += DAY  # by the clock to come that day has begun
    if not earliest <= hours.from_day <= latest:
        sentence = f"Hours are set for days that have not begun: from {earliest} on, and no later than {latest}."
        sentences["from_day"] = sentence
    return sentences or _wrong_joins(hours, days)


def _wrong_shifts(hours: Hours) -> str | None:
    names = [name for name, _ in hours.shifts]
    if not 1 <= len(names) <= MOST_SHIFTS:
        return f"A day has 1 to {MOST_SHIFTS} shifts."
    if any(not name.strip() or name != name.strip() or len(name) > 20 for name in names):
        return "A shift is called by a name of 1 to 20 letters: Day, Swing, Grave."
    if len({name.casefold() for name in names}) < len(names):
        return "Two shifts of a day cannot have the same name."
    if any(starts.second or starts.microsecond or starts.tzinfo for _, starts in hours.shifts):
        return "A shift starts on the minute: 06:00."
    if hours.shifts[0][1] != hours.day_starts:
        return f"The first shift starts with the day, at {hours.day_starts:%H:%M}."
    into_day = [(_minutes(starts) - _minutes(hours.day_starts)) % (24 * 60) for _, starts in hours.shifts]
    if any(later <= earlier for earlier, later in pairwise(into_day)):
        return "Shifts are listed in the order in which they start, the first one at the start of the day."
    return None


def _wrong_joins(hours: Hours, days: Calendar) -> Faults:
    """Another clock can cut the day before it short: to nothing, or less."""
    after = days.with_hours(hours)
    for day in (period.from_day for period in after.periods if period.from_day >= hours.from_day):
        start, end = after.span(day - DAY)
        if end - start < SHORTEST:
            sentence = f"The day before, {day - DAY}, would last less than an hour: let the day start later."
            return {"day_starts": sentence}
    return {}


def _minutes(wall_time: time) -> int:
    return wall_time.hour * 60 + wall_time.minute


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones() - {"localtime", "Factory", "posixrules"})


def read_shifts(text: str) -> tuple[tuple[str, time], ...]:
    """Shifts as they are typed, one a line: "Day 06:00". Raises ValueError with a sentence."""
    return tuple(_read_shift(line) for line in text.splitlines() if line.strip())


def _read_shift(line: str) -> tuple[str, time]:
    name, _, starts = line.strip().rpartition(" ")
    try:
        return name.strip(), time.fromisoformat(starts)
    except ValueError:
        raise ValueError(f"Write each shift on a line of its own, name and start: Day 06:00 (not {line!r}).") from None


def say_shifts(shifts: Iterable[tuple[str, time]] | Sequence[Sequence[str]]) -> str:
    """Shifts as ``read_shifts`` reads them, from hours or from what the log has of them."""
    return "\n".join(f"{name} {starts if isinstance(starts, str) else f'{starts:%H:%M}'}" for name, starts in shifts)
