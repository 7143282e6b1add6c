"""The house's cash by shift: what each opened with, what came and went, what two people counted at its end; and what
is owed now.

A place is counted at the end of a shift where two people agreed on it within an hour of that end, before or after: the
cage goes on paying while it is counted, and a count is held against what the books have at its own moment. A count that
came later makes up for the shift, and the shift says that it was late.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

from ledger.alerts import raise_alert
from ledger.models import Book
from ledger.proof.chips import called
from ledger.proof.spelling import timestamp
from tables.log.slip_types import CASH_COUNTED, SlipType
from tables.reports import cash, gaming_hours
from tables.reports.cash import CashFigures, PlaceCount
from tables.reports.gaming_hours import DAY, Calendar, Shift
from tables.setup import cash_policies

WINDOW: Final = timedelta(hours=1)
"""How long before the end of a shift, and after it, a count is one of that shift."""

COUNTED: Final = "counted"
LATE: Final = "late"
MISSING: Final = "not counted"
"""How a shift stands."""

_SERIES: Final[Mapping[str, SlipType]] = {
    record.count.place: record for record in CASH_COUNTED if record.count is not None
}


@dataclass(frozen=True, slots=True)
class ShiftCash:
    """One place of cash over one shift."""

    shift: Shift
    figures: CashFigures
    count: PlaceCount | None
    """The first one that two people agreed upon from an hour before its end on."""
    is_owed: bool
    """Whether the house's terms ask for a count at the end of this shift, and there is anything to count."""

    @property
    def state(self) -> str:
        if self.count is None:
            return MISSING
        return COUNTED if self.count.moment <= self.shift.end + WINDOW else LATE

    @property
    def says(self) -> str:
        """What is wrong with it; empty where nothing is, or where no count is asked for."""
        if not self.is_owed or self.state == COUNTED:
            return ""
        about = f"{self.shift.name}, up to {self.shift.end:%Y-%m-%d %H:%M} UTC: the {self.figures.called}"
        if self.count is None:
            return f"{about} was not counted at the end of the shift: two people count it."
        return f"{about} was counted late, {self.count.moment:%Y-%m-%d %H:%M} UTC."

    def row(self) -> dict[str, Any]:
        """As the entry of a closed day keeps it."""
        return {
            **self.figures.beside(self.count),
            "shift": self.shift.name,
            "ends": timestamp(self.shift.end),
            "state": self.state,
            "is_owed": self.is_owed,
            "says": self.says,
        }


def day(gaming_day: date, through: Mapping[str, int] | None = None, house_seq: int | None = None) -> list[ShiftCash]:
    """Every shift of a gaming day and each place of cash in it, as the books were written through these entries."""
    calendar = gaming_hours.calendar()
    shifts = calendar.shifts_of(gaming_day)
    return [line for shift in shifts for line in _shift(shift, shift == shifts[-1], through, house_seq)]


def _shift(
    shift: Shift, is_last: bool, through: Mapping[str, int] | None, house_seq: int | None
) -> Iterator[ShiftCash]:
    for figures in cash.between(shift.start, shift.end, through, house_seq):
        count = cash.first_count(figures.place, _opens(shift), house_seq)
        has_cash = bool(figures.moved or figures.opening_cents)
        yield ShiftCash(shift, figures, count, has_cash and asks(figures.place, shift.end, is_last=is_last))


def asks(place: str, moment: datetime, *, is_last: bool) -> bool:
    """Whether the terms in force at the end of a shift, the ``is_last`` one of its day or not, ask for a count."""
    period = cash_policies.cash_counted_each(place, moment)
    return period == cash_policies.SHIFT or is_last


def _opens(shift: Shift) -> datetime:
    """From when on a count is one of this shift: never of the shift before, however short it is."""
    return max(shift.start, shift.end - WINDOW)


# --- What is owed now ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Owed:
    """A count of cash that two people have to make."""

    place: str
    shift: Shift
    has_ended: bool
    is_late: bool

    @property
    def series(self) -> str:
        """The slip that begins it."""
        return _SERIES[self.place].name

    @property
    def begun_by(self) -> str:
        return _SERIES[self.place].begin_label

    @property
    def called(self) -> str:
        """In sentences."""
        return called(self.place)


def owed(moment: datetime) -> list[Owed]:
    """What is to be counted: for the shift that ends within the hour, or else for the last one that ended."""
    calendar, due = gaming_hours.calendar(), []
    for place in _SERIES:
        shift = _due_shift(calendar, place, moment)
        if shift is None or cash.first_count(place, _opens(shift)) is not None:
            continue
        if _had_cash(place, shift):
            due.append(Owed(place, shift, shift.end <= moment, moment > shift.end + WINDOW))
    return due


def _due_shift(calendar: Calendar, place: str, moment: datetime) -> Shift | None:
    """The newest shift whose count of a place could have been made by now, and is asked for."""
    today = calendar.day_of(moment)
    for gaming_day in (today, today - DAY):
        shifts = calendar.shifts_of(gaming_day)
        for shift in reversed(shifts):
            if _opens(shift) <= moment and asks(place, min(shift.end, moment), is_last=shift == shifts[-1]):
                return shift
    return None


def _had_cash(place: str, shift: Shift) -> bool:
    figures = (line for line in cash.between(shift.start, shift.end) if line.place == place)
    return any(line.moved or line.opening_cents for line in figures)


# --- The watch -------------------------------------------------------------------------------------------------


def check_overdue(moment: datetime) -> int:
    """An alert for each count that was not made within the hour after its shift, in a house that counts."""
    house = Book.objects.site()
    late = [count for count in owed(moment) if count.is_late and cash.first_count(count.place) is not None]
    for count in late:
        message = (
            f"The {count.called} was not counted at the end of {count.shift.name}, {count.shift.end:%Y-%m-%d %H:%M} UTC"
        )
        raise_alert(house, "cash_not_counted", message, {"place": count.place, "ended": timestamp(count.shift.end)})
    return len(late)
