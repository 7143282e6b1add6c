"""Who has which key and when it is due back, and which drop boxes are due: looked at by people, and by the watch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from ledger import cage, clock_corrections
from ledger.alerts import raise_alert
from ledger.models import Account, Book, SlipSignature
from ledger.proof.chips import DROP_BOX
from tables.cage import custody_items, key_register
from tables.cage.key_register import Schedule
from tables.log.entries.custody import OPENS
from tables.log.slip_workflow import Slip
from tables.models import Table
from tables.reports import gaming_hours
from tables.reports.gaming_hours import DAY, Calendar
from tables.setup import cash_policies

EARLY: Final = timedelta(hours=2)
"""A box that was taken so long before its hour was taken for it."""
AHEAD: Final = 8
"""Days that cover each weekday."""


# --- Keys ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Key:
    """A key on the register, and where it is."""

    name: str
    opens: str
    dual: bool
    slip: Slip | None = None
    """With which it was signed out; None while it hangs in the cabinet."""
    holders: tuple[str, ...] = ()
    since: datetime | None = None
    due_back: datetime | None = None
    """The end of the shift in which it was taken."""
    is_late: bool = False
    lost: Slip | None = None
    """The slip that reported the key lost; a lost key is not issued again."""

    @property
    def is_out(self) -> bool:
        return self.slip is not None


def register(moment: datetime) -> list[Key]:
    """Every key that the house has; and those that were retired while they were out."""
    rows, out, lost = key_register.keys(), custody_items.keys_out(), key_register.lost()
    calendar, grace = gaming_hours.calendar(), cash_policies.key_grace()
    listed = [
        replace(_key(name, OPENS[row.lock], row.dual, out.get(name), calendar, moment - grace), lost=lost.get(name))
        for name, row in rows.items()
    ]
    return listed + [
        _key(name, "retired", len(key.holders) > 1, key, calendar, moment - grace)
        for name, key in out.items()
        if name not in rows
    ]


def _key(
    name: str, opens: str, dual: bool, out: custody_items.KeyOut | None, calendar: Calendar, late_before: datetime
) -> Key:
    if out is None:
        return Key(name, opens, dual)
    due_back = calendar.shift_of(out.since).end
    return Key(name, opens, dual, out.slip, out.holders, out.since, due_back, is_late=due_back < late_before)


# --- Drops -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Drop:
    """A box that is due at an hour."""

    table: str
    name: str
    due: datetime
    who: str
    is_late: bool = False


def next_drops(moment: datetime) -> list[Drop]:
    """Of each table and schedule the drop that is due: the last one where it was not made, or else the next."""
    calendar = gaming_hours.calendar()
    schedules = key_register.schedules(calendar.day_of(moment) + DAY)
    if not schedules:
        return []
    tables = {table.name: table for table in Table.objects.select_related("book")}
    drops = []
    for schedule in schedules:
        for name in key_register.due_tables(schedule, tables):
            drops += list(_due(schedule, tables[name], calendar, moment))
    return sorted(drops, key=lambda drop: (drop.due, drop.table))


def _due(schedule: Schedule, table: Table, calendar: Calendar, moment: datetime) -> Iterator[Drop]:
    hours_due = list(_hours(schedule, calendar, moment))
    past = [due for due in hours_due if due <= moment]
    if past and not _was_made(table, past[-1]):
        is_late = past[-1] + cash_policies.drop_grace() < moment
        yield Drop(table.name, schedule.name, past[-1], schedule.who, is_late)
        return
    ahead = next((due for due in hours_due if due > moment), None)
    if ahead is not None:
        yield Drop(table.name, schedule.name, ahead, schedule.who)


def _hours(schedule: Schedule, calendar: Calendar, moment: datetime) -> Iterator[datetime]:
    """Its hours about a moment, by the house's clock, from when it was set on."""
    today = calendar.day_of(moment)
    for number in range(-AHEAD, AHEAD + 1):
        date = today + number * DAY
        due = datetime.combine(date, schedule.due_at, ZoneInfo(calendar.hours_of(date).time_zone))
        begun = date >= schedule.from_day and (schedule.set_at is None or due >= schedule.set_at)
        if date.weekday() in schedule.weekdays and begun:
            yield due


def _was_made(table: Table, due: datetime) -> bool:
    """Whether a box was taken for that hour, or there is nothing in it to be taken."""
    signatures = SlipSignature.objects.filter(book_id=table.book_id, stage="witnessed").order_by("-seq")
    seq = signatures.values_list("seq", flat=True).first()
    if seq is not None and clock_corrections.time_of(table.book_id, seq) >= due - EARLY:
        return True
    return cage.balance(Account.objects.get(book_id=table.book_id, place=DROP_BOX)) == 0


# --- The watch -------------------------------------------------------------------------------------------------


def check_overdue(moment: datetime) -> int:
    """An alert for each key that is not back, and for each drop that is late; how many there are."""
    house = Book.objects.site()
    late_keys = [key for key in register(moment) if key.is_late]
    for key in late_keys:
        message = (
            f"Key {key.name} is not back: signed out by {' and '.join(key.holders)}, {key.since:%Y-%m-%d %H:%M} UTC"
        )
        raise_alert(house, "key_out", message, {"key": key.name, "slip": key.slip.name if key.slip else ""})
    late_drops = [drop for drop in next_drops(moment) if drop.is_late]
    books = dict(Table.objects.values_list("name", "book_id"))
    for drop in late_drops:
        message = f"The drop of {drop.table} is late ({drop.name}): it was due {drop.due:%Y-%m-%d %H:%M}, by {drop.who}"
        raise_alert(Book.objects.get(pk=books[drop.table]), "drop_late", message, {"due": drop.due.isoformat()})
    return len(late_keys) + len(late_drops)
