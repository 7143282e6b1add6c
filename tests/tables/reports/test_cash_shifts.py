"""The house's cash by shift: what each opened with, what two people counted at its end, and what is owed."""

import re
import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from ledger.models import HOUSE, Alert, Book, LogEntry
from tables.audit import proofs, watch
from tables.cage import cage_desk
from tables.floor.inputs import BeginSlip, SignSlip
from tables.log.catalog import read_as
from tables.log.entries.days import DayClosed
from tables.models import Staff
from tables.refusals import Refused
from tables.reports import cash_shifts, day_close, gaming_hours
from tables.roles import Role
from tables.setup import cash_policies
from tests import floor
from tests.clock import Clock
from tests.ready import ready_made
from tests.tables.reports.forged_closes import fault_of_close

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

ROLES = {"cora": Role.CASHIER, "mona": Role.CAGE_MANAGER, "olga": Role.OPERATOR, "pam": Role.PIT_BOSS}


@pytest.fixture
def morning(clock: Clock) -> datetime:
    """An hour into a day to come: shifts begin at 6, 14 and 22."""
    day = gaming_hours.day_of(timezone.now()) + timedelta(days=1)
    clock.stand(gaming_hours.span(day).start + timedelta(hours=1))
    return timezone.now()


@pytest.fixture
@ready_made
def book(morning: datetime) -> Book:
    """A house with one table, and cash for 1,000 in the cage."""
    floor.table()
    usernames = set(Staff.objects.values_list("username", flat=True))
    for name in ROLES.keys() - usernames:
        floor.staff(ROLES[name], name)
    return Book.objects.get(name=HOUSE)


def crew_member(name: str) -> Staff:
    return Staff.objects.get(username=name)


def count(cents: int, series: str = "cagecash") -> str:
    chips = ((100, cents // 100),)
    slip = cage_desk.sign(BeginSlip(series, chips), by=crew_member("cora"), key=uuid.uuid4())
    return cage_desk.sign(SignSlip(slip, "recounted", chips), by=crew_member("mona"), key=uuid.uuid4())


def sell(cents: int) -> None:
    cage_desk.sell(cents, by=crew_member("cora"), key=uuid.uuid4())


def states(day: Any) -> list[tuple[str, str, bool]]:
    return [
        (line.shift.name, line.state, line.is_owed) for line in cash_shifts.day(day) if line.figures.place == "bank"
    ]


def owed() -> list[tuple[str, str, bool]]:
    return [(due.place, due.shift.name, due.is_late) for due in cash_shifts.owed(timezone.now())]


def closes(day: Any) -> DayClosed:
    proposal = day_close.propose(day, by=crew_member("pam"))
    close = day_close.close(day, by=crew_member("olga"), digest=proposal.digest)
    return read_as(DayClosed, bytes(LogEntry.objects.get(book__name=HOUSE, seq=close.seq).body))


def test_each_shift_is_counted_at_its_end(book: Book, morning: datetime, clock: Clock) -> None:
    """Harm: the day shift's cashier takes 50 from the cage, and the morning count blames the night shift; or two
    differing counts complete the count of the shift."""
    day, shifts = gaming_hours.day_of(morning), gaming_hours.shifts_of(gaming_hours.day_of(morning))
    assert owed() == []
    clock.stand(shifts[0].end - timedelta(minutes=30))
    slip = cage_desk.sign(BeginSlip("cagecash", ((100, 999),)), by=crew_member("cora"), key=uuid.uuid4())
    cage_desk.sign(SignSlip(slip, "recounted", ((100, 1_000),)), by=crew_member("mona"), key=uuid.uuid4())
    assert owed() == [("bank", "Day", False)], "two differing counts passed for a count"
    count(95_000)
    assert owed() == []
    clock.stand(shifts[0].end + timedelta(minutes=10))
    sell(20_000)
    clock.stand(shifts[1].end + timedelta(minutes=59))
    assert owed() == [("bank", "Swing", False)]
    count(115_000)
    assert states(day) == [("Day", "counted", True), ("Swing", "counted", True), ("Grave", "not counted", True)]
    rows = {line.shift.name: line.row() for line in cash_shifts.day(day) if line.figures.place == "bank"}
    assert (rows["Day"]["opening_cents"], rows["Day"]["closing_cents"]) == (0, 95_000)
    assert rows["Day"]["moved"] == {"cash_in": 100_000, "cash_short": -5_000}
    assert (rows["Day"]["difference_cents"], rows["Swing"]["difference_cents"]) == (-5_000, 0)
    assert (rows["Swing"]["opening_cents"], rows["Swing"]["closing_cents"]) == (95_000, 115_000)
    assert not any(line.is_owed for line in cash_shifts.day(day) if line.figures.place == "vault_cash"), "it is empty"


def test_what_is_owed_stands_on_the_cages_page_and_the_floor(book: Book, morning: datetime, clock: Clock) -> None:
    """Harm: a count that is hours late, and no page says so."""

    def owed_on(page: str, viewer: str) -> list[str]:
        drawn = floor.client(crew_member(viewer)).get(reverse(page)).content.decode()
        notice = drawn.partition('id="owed"')[2].partition("</ul>")[0]
        return re.findall(r'data-series="(\w+)"><b class="tag tag--now">late</b>', notice)

    clock.stand(gaming_hours.shifts_of(gaming_hours.day_of(morning))[0].end + timedelta(minutes=61))
    assert owed_on("cage", "cora") == owed_on("pit:floor", "pam") == ["cagecash"]
    count(100_000)
    assert owed_on("cage", "cora") == owed_on("pit:floor", "pam") == []


def test_a_count_that_is_late_says_so_and_alerts(book: Book, morning: datetime, clock: Clock) -> None:
    """Harm: nobody counts for two shifts, and nobody notices."""
    day, shifts = gaming_hours.day_of(morning), gaming_hours.shifts_of(gaming_hours.day_of(morning))
    clock.stand(shifts[0].end + timedelta(minutes=61))
    assert owed() == [("bank", "Day", True)]
    assert cash_shifts.check_overdue(timezone.now()) == 0, "a house that never counted is told on its pages alone"
    count(100_000)
    assert owed() == []
    clock.stand(shifts[1].end + timedelta(minutes=61))
    assert watch.look_after_custody() == 1
    alert = Alert.objects.get(kind="cash_not_counted").message
    assert alert.startswith("The cage's cash was not counted at the end of Swing")
    count(100_000)
    assert watch.look_after_custody() == 0
    clock.stand(shifts[2].end + timedelta(minutes=5))
    count(100_000)
    assert states(day) == [("Day", "late", True), ("Swing", "late", True), ("Grave", "counted", True)]
    event = closes(day)
    assert event.cash_by_shift is not None
    assert [row["state"] for row in event.cash_by_shift if row["place"] == "bank"] == ["late", "late", "counted"]
    assert "was counted late" in event.cash_by_shift[0]["says"]
    assert proofs.verify(book).fault is None


def test_a_house_may_count_once_a_day(
    book: Book, morning: datetime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a vault that is opened once a day has to be opened three times."""
    monkeypatch.setattr(cash_policies, "cash_counted_each", lambda place, moment=None: "day")
    day, shifts = gaming_hours.day_of(morning), gaming_hours.shifts_of(gaming_hours.day_of(morning))
    clock.stand(shifts[0].end)
    assert owed() == []
    clock.stand(shifts[2].end - timedelta(minutes=20))
    assert owed() == [("bank", "Grave", False)]
    assert [line[2] for line in states(day)] == [False, False, True]


def test_a_house_may_keep_a_day_open_for_a_shift(
    book: Book, morning: datetime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a day that was never counted is closed where the house's term says no; or it can never be closed."""
    day = gaming_hours.day_of(morning)
    clock.stand(gaming_hours.span(day).end + timedelta(hours=2))
    closes_anyway = day_close.open_matters(day)
    assert closes_anyway == []
    assert len(day_close.problems(cash_shifts.day(day))) == 3
    monkeypatch.setattr(cash_policies, "close_needs_shift_counts", lambda: True)
    with pytest.raises(Refused, match="was not counted at the end of the shift: two people count it") as refused:
        day_close.propose(day, by=crew_member("pam"))
    assert refused.value.code == "day_open"
    count(100_000)
    assert [row["state"] for row in closes(day).cash_by_shift or () if row["place"] == "bank"] == ["late"] * 3
    assert proofs.verify(book).fault is None


def test_a_shift_that_two_people_invented_is_found(book: Book, morning: datetime, clock: Clock) -> None:
    """Harm: a pit boss and an operator sign for a count of a shift that never took place."""
    day = gaming_hours.day_of(morning)
    clock.stand(gaming_hours.span(day).end + timedelta(hours=2))
    count(100_000)
    content = day_close._figures(day)._asdict()
    by_shift = [content["cash_by_shift"][0] | {"state": "counted"}, *content["cash_by_shift"][1:]]
    fault_text = fault_of_close(day, content | {"cash_by_shift": by_shift}, crew_member("pam"), crew_member("olga"))
    assert "not those of the day: Day cage's cash: its state is" in fault_text


def test_shifts_left_out_of_a_later_close_are_found(book: Book, morning: datetime, clock: Clock) -> None:
    """Harm: a day with uncounted shifts is closed without its shifts, as earlier releases allowed."""
    day = gaming_hours.day_of(morning)
    clock.stand(gaming_hours.span(day).end + timedelta(hours=1))
    count(100_000)
    closes(day)
    clock.stand(gaming_hours.span(day).end + timedelta(hours=25))
    count(100_000)
    content = day_close._figures(day + timedelta(days=1))._asdict()
    del content["cash_by_shift"]
    fault_text = fault_of_close(day + timedelta(days=1), content, crew_member("pam"), crew_member("olga"))
    assert "its cash by shift is missing" in fault_text


def test_a_shift_that_waits_for_its_count_is_not_shown_to_who_may_count_it(
    book: Book, morning: datetime, clock: Clock
) -> None:
    """Harm: the counter reads on the report what the count is to find; or nobody sees a shift that was counted."""
    day, shifts = gaming_hours.day_of(morning), gaming_hours.shifts_of(gaming_hours.day_of(morning))
    clock.stand(shifts[0].end + timedelta(minutes=10))
    client = floor.client(crew_member("pam"))
    page = f"/pit/reports/?day={day}"
    assert "By shift" not in client.get(page).text
    count(95_000)
    after = client.get(page).text
    assert "By shift" in after
    assert "950" in after.partition("By shift")[2]
    assert "What should be there now is not shown" in after
