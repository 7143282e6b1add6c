"""The gaming day and its shifts, on days when clocks change and days when the house changes its hours."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from ledger import alerts, cage, log, site_log
from ledger.log import Draft
from ledger.models import HOUSE, Book, LogEntry
from tables.audit import proofs
from tables.log.catalog import described, read
from tables.log.message import text_of
from tables.models import HouseHours, Staff
from tables.refusals import Refused
from tables.reports import gaming_hours as shifts
from tables.reports import site_clock
from tables.reports.gaming_hours import DAY, Calendar, Hours
from tables.roles import Role
from tests.database import rollback
from tests.tables.at_once import at_once

HOUR = timedelta(hours=1)
THREE = (("Day", time(6)), ("Swing", time(14)), ("Grave", time(22)))


def hours(zone: str = "UTC", starts: time = time(6), named: Any = THREE, from_day: date = date.min) -> Hours:
    return Hours(from_day, zone, starts, named)


def calendar(*periods: Hours) -> Calendar:
    return Calendar(periods)


# --- Days and shifts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "day", "length", "third"),
    [
        ("Europe/Berlin", date(2026, 3, 28), 23 * HOUR, 7 * HOUR),
        ("Europe/Berlin", date(2026, 10, 24), 25 * HOUR, 9 * HOUR),
        ("Europe/Berlin", date(2026, 10, 25), 24 * HOUR, 8 * HOUR),
        ("America/New_York", date(2026, 3, 7), 23 * HOUR, 7 * HOUR),
        ("America/New_York", date(2026, 10, 31), 25 * HOUR, 9 * HOUR),
        ("Australia/Lord_Howe", date(2026, 4, 4), 24.5 * HOUR, 8.5 * HOUR),
        ("Australia/Lord_Howe", date(2026, 10, 3), 23.5 * HOUR, 7.5 * HOUR),
    ],
)
def test_a_day_is_as_long_as_the_clocks_make_it(zone: str, day: date, length: timedelta, third: timedelta) -> None:
    """Harm: an hour of a night's play that belongs to two days, or to none."""
    days = calendar(hours(zone))
    start, end = days.span(day)
    assert end - start == length
    assert [shift.end - shift.start for shift in days.shifts_of(day)] == [8 * HOUR, 8 * HOUR, third]


def test_a_start_that_clocks_leap_over_is_the_moment_of_the_leap() -> None:
    """Harm: at 2:30, which that night does not have, nobody knows which shift it is; or the next one starts earlier."""
    days = calendar(hours("America/New_York", time(2, 30), (("Night", time(2, 30)), ("Late", time(3)))))
    leap = datetime(2026, 3, 8, 7, tzinfo=UTC)
    assert days.span(date(2026, 3, 8)).start == leap
    assert days.shifts_of(date(2026, 3, 8))[0] == ("Late", leap, days.span(date(2026, 3, 8)).end)
    assert [shift.name for shift in days.shifts_of(date(2026, 3, 9))] == ["Night", "Late"]


def test_a_start_that_clocks_show_twice_is_the_first_one() -> None:
    """Harm: the day begins twice."""
    days = calendar(hours("America/New_York", time(1, 30), (("Night", time(1, 30)),)))
    assert days.span(date(2026, 11, 1)).start == datetime(2026, 11, 1, 5, 30, tzinfo=UTC)


def test_a_date_that_a_calendar_leaves_out_has_no_time() -> None:
    """Harm: Samoa's 30 December 2011, which never was, takes a day's play with it."""
    days = calendar(hours("Pacific/Apia", time(0), (("Day", time(0)),)))
    start, end = days.span(date(2011, 12, 30))
    assert start == end
    assert days.day_of(start) == date(2011, 12, 31)
    assert days.day_of(start - timedelta(microseconds=1)) == date(2011, 12, 29)
    assert days.shifts_of(date(2011, 12, 30)) == []


def test_a_shift_after_midnight_belongs_to_the_day_before() -> None:
    """Harm: the win of a Friday night is told on Saturday."""
    days = calendar(hours("UTC", time(14), (("Evening", time(14)), ("Night", time(2)))))
    late = datetime(2026, 5, 2, 3, tzinfo=UTC)
    assert days.day_of(late) == date(2026, 5, 1)
    assert days.shift_of(late) == (
        "Night",
        datetime(2026, 5, 2, 2, tzinfo=UTC),
        datetime(2026, 5, 2, 14, tzinfo=UTC),
    )


ZONES = st.sampled_from(
    ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "UTC",
     *sorted(available_timezones() - {"localtime", "Factory", "posixrules"})[::37]]
)  # fmt: skip
MINUTES = st.integers(0, 24 * 60 - 1)


@st.composite
def any_hours(draw: st.DrawFn, from_day: date = date.min) -> Hours:
    """A house that starts its day and its shifts whenever it likes."""
    starts = draw(MINUTES)
    later = sorted(draw(st.sets(st.integers(1, 24 * 60 - 1), max_size=4)))
    clocks = [divmod((starts + minutes) % (24 * 60), 60) for minutes in (0, *later)]
    named = tuple((f"Shift {number}", time(*clock)) for number, clock in enumerate(clocks, 1))
    return Hours(from_day, draw(ZONES), named[0][1], named)


MOMENTS = st.datetimes(datetime(1995, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(any_hours(), MOMENTS)
def test_every_moment_belongs_to_one_day_and_one_shift(period: Hours, moment: datetime) -> None:
    """Harm: chips that are counted in two shifts, or in none."""
    days = calendar(period)
    day = days.day_of(moment)
    start, end = days.span(day)
    assert start <= moment < end
    assert days.span(day + DAY).start == end
    day_shifts = days.shifts_of(day)
    assert day_shifts[0].start == start
    assert day_shifts[-1].end == end
    assert all(earlier.end == later.start for earlier, later in pairwise(day_shifts))
    assert sum(shift.start <= moment < shift.end for shift in day_shifts) == 1
    assert days.shift_of(moment) in day_shifts


@given(any_hours(), any_hours(from_day=date(2026, 6, 1)), st.integers(-80 * 60, 80 * 60))
def test_days_join_where_the_hours_change(before: Hours, after: Hours, minutes: int) -> None:
    """Harm: a house that moves its clock loses the hours between the old day and the new one."""
    days = calendar(before)
    if shifts.faults(after, days, datetime(2026, 5, 20, tzinfo=UTC)):
        return
    days = days.with_hours(after)
    moment = days.span(date(2026, 6, 1)).start + timedelta(minutes=minutes)
    start, end = days.span(days.day_of(moment))
    assert start <= moment < end
    assert sum(shift.start <= moment < shift.end for shift in days.shifts_of(days.day_of(moment))) == 1


# --- What may be set ------------------------------------------------------------------------------------------

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changed", "setting", "sentence"),
    [
        ({"time_zone": "Berlin"}, "time_zone", "IANA"),
        ({"time_zone": "../../etc/passwd"}, "time_zone", "IANA"),
        ({"from_day": date(2026, 5, 20)}, "from_day", "from 2026-05-21 on"),
        ({"from_day": date(2028, 1, 1)}, "from_day", "no later than"),
        ({"shifts": ()}, "shifts", "1 to 6 shifts"),
        ({"shifts": (("Day", time(6)), ("day", time(14)))}, "shifts", "same name"),
        ({"shifts": (("", time(6)),)}, "shifts", "called by a name"),
        ({"shifts": (("Day", time(7)),)}, "shifts", "first shift starts with the day"),
        ({"shifts": (("A", time(6)), ("B", time(22)), ("C", time(14)))}, "shifts", "in the order"),
        ({"shifts": (("A", time(6)), ("B", time(6)))}, "shifts", "in the order"),
        ({"shifts": (("A", time(6)), ("B", time(6, 0, 30)))}, "shifts", "on the minute"),
    ],
)
def test_hours_that_make_no_day_are_refused(changed: dict[str, Any], setting: str, sentence: str) -> None:
    """Harm: a day that nobody can say the beginning of."""
    faults = shifts.faults(replace(hours(from_day=date(2026, 6, 1)), **changed), calendar(hours()), NOW)
    assert sentence in faults[setting]


def test_a_clock_that_would_leave_no_time_for_the_day_before_is_refused() -> None:
    """Harm: from Honolulu's clock to Kiritimati's, a whole day's figures have no hours to be made in."""
    days = calendar(hours("Pacific/Honolulu"))
    moved = hours("Pacific/Kiritimati", from_day=date(2026, 6, 1))
    assert "less than an hour" in shifts.faults(moved, days, NOW)["day_starts"]
    later = hours("Pacific/Kiritimati", time(14), (("Day", time(14)),), date(2026, 6, 1))
    assert shifts.faults(later, days, NOW) == {}


# --- In the house ---------------------------------------------------------------------------------------------


@pytest.fixture
def utc(settings: Any) -> None:
    """The casino keeps UTC until it sets its hours, whatever the tests run with."""
    settings.TIME_ZONE = "UTC"


@pytest.fixture
def operator(db: None) -> Staff:
    cage.open_house()
    return Staff.objects.create_staff("omar", name="Omar", role=Role.OPERATOR)


def soon() -> date:
    """A day that has not begun by any clock."""
    return shifts.day_of(timezone.now()) + 2 * DAY


def test_a_house_that_set_nothing_has_three_shifts_from_six(utc: None, operator: Staff) -> None:
    """Harm: a report that needs a setting which nobody has made yet."""
    moment = datetime(2026, 5, 20, 5, 59, tzinfo=UTC)
    assert shifts.day_of(moment) == date(2026, 5, 19)
    assert shifts.shift_of(moment).name == "Grave"
    assert [shift.name for shift in shifts.shifts_of(date(2026, 5, 19))] == ["Day", "Swing", "Grave"]


def test_hours_change_only_for_future_days(utc: None, operator: Staff) -> None:
    """Harm: a reported day changes its bounds and its win afterwards, or a typing error in the hours cannot be
    corrected before its day comes."""
    today = shifts.span(shifts.day_of(timezone.now()))
    berlin = replace(hours("Europe/Berlin"), from_day=soon())
    row = shifts.set_hours(berlin, by=operator)
    assert shifts.calendar().periods[-1] == berlin
    assert shifts.span(shifts.day_of(timezone.now())).start == today.start
    entry = LogEntry.objects.get(seq=row.seq, book__name=HOUSE)
    assert (entry.subject, entry.kind, entry.by) == ("hours", "changed", "omar Omar")
    assert entry.content["before"]["time_zone"] == "UTC"
    assert text_of(described(read("hours", "changed", entry.body, house=True))).endswith(
        "the day starts at 06:00 in Europe/Berlin: Day 06:00, Swing 14:00, Grave 22:00"
    )
    with pytest.raises(Refused, match="have not begun"):
        shifts.set_hours(replace(berlin, from_day=soon() - 2 * DAY), by=operator)
    shifts.set_hours(hours("Europe/Paris", from_day=soon()), by=operator)
    assert shifts.calendar().hours_of(soon()).time_zone == "Europe/Paris"
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_a_day_that_has_begun_by_the_clock_to_come_is_none_to_come() -> None:
    """Harm: a clock an hour ahead ends the day that goes on, and what was dealt in its last hour is the next one's."""
    days, moment = calendar(hours("UTC")), datetime(2026, 11, 22, 5, 17, tzinfo=UTC)
    assert days.day_of(moment) == date(2026, 11, 21)
    wrong = shifts.faults(hours("Europe/Berlin", from_day=date(2026, 11, 22)), days, moment)
    assert wrong["from_day"].startswith("Hours are set for days that have not begun: from 2026-11-23 on")
    assert shifts.faults(hours("Europe/Berlin", from_day=date(2026, 11, 23)), days, moment) == {}
    assert shifts.faults(hours("UTC", from_day=date(2026, 11, 22)), days, moment) == {}


def test_only_an_operator_sets_hours(operator: Staff) -> None:
    """Harm: a person who is judged by a day's figures chooses the end of the day."""
    for role in set(Role) - {Role.OPERATOR}:
        with pytest.raises(Refused) as refusal:
            shifts.set_hours(hours(from_day=soon()), by=Staff(username="other", name="Other", role=role))
        assert refusal.value.code == "not_permitted", role


@pytest.mark.django_db(transaction=True)
def test_two_operators_at_once_are_both_written_in_one_order(transactional_db: None) -> None:
    """Harm: the log tells one order, the house lives by another."""
    cage.open_house()
    by = Staff.objects.create_staff("omar", name="Omar", role=Role.OPERATOR)
    day = soon() + timedelta(days=1)  # by no clock of these has it begun
    choices = [hours(zone, from_day=day) for zone in ("Europe/Berlin", "Europe/Paris", "Asia/Tokyo")]
    rows = at_once(*[lambda choice=choice: shifts.set_hours(choice, by=by) for choice in choices])
    newest = max(rows, key=lambda row: row.seq)
    assert shifts.calendar().hours_of(day).time_zone == newest.time_zone
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


# --- What a forger may try ------------------------------------------------------------------------------------


def house_fault() -> str:
    breach = proofs.verify(Book.objects.get(name=HOUSE)).fault
    assert breach is not None, "the forgery was believed"
    return breach.what


def forge_entry(period: Hours, **content: Any) -> int:
    """An entry about hours as the ledger would write it, with no more care than that."""
    before = asdict(shifts.default().spelled()) | {"from_day": str(period.from_day)}
    with transaction.atomic():
        draft = Draft("hours", "changed", "omar Omar", {**asdict(period.spelled()), "before": before, **content})
        return log.append(site_log.lock(), draft).seq


def forge_row(period: Hours, seq: int) -> None:
    facts = {"time_zone": period.time_zone, "day_starts": period.day_starts, "shifts": period.spelled().shifts}
    entry = LogEntry.objects.filter(book__name=HOUSE, seq=seq).first()
    at = entry.at if entry else timezone.now()
    HouseHours.objects.create(seq=seq, from_day=period.from_day, by="omar Omar", at=at, **facts)


def test_forged_hours_are_found(utc: None, operator: Staff) -> None:
    """Harm: an owner of the database moves yesterday's end, applies hours that the log does not know, or makes a change
    look smaller than it was."""
    berlin = hours("Europe/Berlin", from_day=soon())
    early = replace(berlin, from_day=soon() - 2 * DAY)
    with rollback():
        forge_row(early, forge_entry(early))
        assert "have not begun" in house_fault()
    with rollback():
        shifts.set_hours(berlin, by=operator)
        forge_row(hours("Asia/Tokyo", from_day=soon()), 10_000)
        assert "a row of gaming day and shifts names it" in house_fault()
    with rollback():
        forge_row(replace(berlin, time_zone="Asia/Tokyo"), forge_entry(berlin))
        assert "beside the log, are others" in house_fault()
    with rollback():
        forge_row(berlin, forge_entry(berlin, before=asdict(berlin.spelled())))
        assert "the hours were others before it: its before.time_zone" in house_fault()


# --- In the admin ---------------------------------------------------------------------------------------------


def signed_in(staff: Staff) -> Client:
    client = Client()
    client.force_login(staff, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_an_operator_sets_hours_in_the_admin(operator: Staff) -> None:
    """Harm: a setting that only a programmer can make."""
    client, page = signed_in(operator), reverse("admin:tables_househours_add")
    form = client.get(page).content.decode()
    assert "Day 06:00\nSwing 14:00\nGrave 22:00" in form
    typed = {"from_day": str(soon()), "time_zone": "Europe/Berlin", "day_starts": "08:00", "shifts": "Day 06:00"}
    answer = client.post(page, typed)
    assert "starts with the day, at 08:00" in answer.content.decode()
    assert "on a line of its own" in client.post(page, typed | {"shifts": "Early bird"}).content.decode()
    answer = client.post(page, typed | {"shifts": "Early bird 08:00\nNight 20:00"})
    assert answer.status_code == 302, dict(answer.context["adminform"].form.errors)
    row = HouseHours.objects.get()
    assert row.shifts == [["Early bird", "08:00"], ["Night", "20:00"]]
    assert "Early bird 08:00, Night 20:00" in client.get(reverse("admin:tables_househours_changelist")).content.decode()
    assert client.post(reverse("admin:tables_househours_change", args=[row.pk]), typed).status_code == 403


# --- The house's clock on its pages -----------------------------------------------------------------------------


def test_pages_tell_the_time_as_the_house_does(operator: Staff) -> None:
    """Harm: a slip that says 03:10 beside a gaming day that ended at 06:00, because the server stands elsewhere."""
    auckland = replace(hours("Pacific/Auckland"), from_day=date(2020, 1, 1)).spelled()
    rows = {name: getattr(auckland, name) for name in ("from_day", "time_zone", "day_starts", "shifts")}
    site_clock.forget()
    HouseHours.objects.create(seq=1, at=timezone.now(), **rows)
    alert = alerts.raise_alert(None, "test", "Something to look at")
    page = signed_in(operator).get(reverse("pit:alerts")).content.decode()
    assert f"{alert.at.astimezone(ZoneInfo('Pacific/Auckland')):%H:%M:%S}" in page
    assert f"{alert.at.astimezone(UTC):%H:%M:%S}" not in page
