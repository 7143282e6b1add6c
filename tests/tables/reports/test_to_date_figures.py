"""Month and year to date: the same as one report over all their rounds, without reading those of closed days."""

from datetime import date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ledger.models import HOUSE, Book
from tables.audit import proofs
from tables.floor import inputs, recorder
from tables.models import Staff
from tables.reports import day_close, figures, gaming_hours, to_date_figures
from tables.roles import Role
from tests import floor
from tests.clock import Clock
from tests.floor import Hand, dealt
from tests.tables.reports.test_figures import box, plays, record

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


class House:
    """One table that is dealt a round a day at noon; each day ends with a closer and its box."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.noon = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0) + DAY
        self.go(self.noon)
        self.dealer = dealt(options={"decks": 6})[0]
        self.boss = Staff.objects.get(username="bella")
        self.bert = floor.staff(Role.PIT_BOSS, "bert")
        self.operator = floor.staff(Role.OPERATOR, "olga")
        self.first = gaming_hours.day_of(self.noon)

    def go(self, moment: datetime) -> None:
        self.clock.stand(moment)

    def play(self, number: int) -> None:
        """The day of that number, but for its end."""
        self.go(self.noon + number * DAY)
        if number:
            Hand(self.dealer.table, self.boss)("open_table")
            recorder.sign_in(self.dealer.table, self.dealer.by)
            self.dealer.ready_shoe()
        plays(self.dealer, seat1=1_000 * (number + 1))
        self.dealer("sell_chips", amount_cents=10_000)

    def finish(self, variance_cents: int = 0) -> None:
        self.dealer("retire_shoe")
        recorder.sign_out(self.dealer.table, self.dealer.by)
        floor.counted(Hand(self.dealer.table, self.boss), "closer", variance_cents)
        box(self.dealer.table, cash=((10_000, 1),))

    def close(self, number: int) -> None:
        on = self.first + number * DAY
        day_close.close(on, by=self.operator, digest=day_close.propose(on, by=self.boss).digest)

    def correct(self, round_: int, slip: int) -> None:
        """The seat was paid 3 less than it should have been."""
        lost = inputs.ProposeCorrection(round_, 1, -1_000 * round_ + 300, "Paid wrong by 3")
        record(self.dealer.table, lost, self.boss)
        name = f"correction/{timezone.localtime().year}/{slip}"
        record(self.dealer.table, inputs.SignCorrection(name), self.bert)


def two_ways(first_day: date, last_day: date) -> tuple[list[Any], list[Any]]:
    """From what was signed; and from all rows."""
    calendar = gaming_hours.calendar()
    long = figures.between(calendar.span(first_day).start, calendar.span(last_day).end)
    return [line.row() for line in to_date_figures.whole(first_day, last_day).lines], [
        line.row() for line in long.lines
    ]


@pytest.mark.slow("deals and closes several days")
def test_to_date_is_the_long_span_whatever_arrives_later(clock: Clock) -> None:
    """Harm: a year's win is another number than its rounds', or a mispay found after the close is in no total."""
    house = House(clock)
    for number in range(3):
        house.play(number)
        house.finish(variance_cents=-500 * number)
    house.play(3)
    last_day = house.first + 3 * DAY
    house.close(1)
    house.close(0)
    short, long = two_ways(house.first, last_day)
    assert short == long
    house.correct(1, slip=1)
    short, corrected = two_ways(house.first, last_day)
    assert short == corrected
    closed_day = day_close.closed(house.first)
    assert closed_day is not None
    assert closed_day.current.lines[0].win_cents != closed_day.as_closed[0]["win_cents"]
    house.close(2)
    house.correct(2, slip=2)
    short, long = two_ways(house.first, last_day)
    assert short == long
    closed_days = [day_close.closed(house.first + number * DAY) for number in range(3)]
    assert [len(closed_day.adjustments) if closed_day else None for closed_day in closed_days] == [1, 1, 0]
    for number in range(3):
        span = house.first, house.first + number * DAY
        short, long = two_ways(*span)
        assert short == long
    wins = [pit.win_cents for _, pit in to_date_figures.daily(house.first, last_day)]
    assert sum(wins) == to_date_figures.whole(house.first, last_day).pit.win_cents
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_closed_days_are_not_read_again(clock: Clock) -> None:
    """Harm: a year to date that adds up every round of the year; or one without a box found late."""
    house = House(clock)
    house.play(0)
    house.finish()
    house.go(house.noon + DAY)
    house.close(0)
    with CaptureQueriesContext(connection) as queries:
        to_date_figures.whole(house.first, house.first)
    assert not [query for query in queries if "ledger_transfer" in query["sql"]]
    before = to_date_figures.whole(house.first, house.first).pit
    box(house.dealer.table, cash=((2_000, 1),))
    short, long = two_ways(house.first, house.first)
    assert short == long
    assert short[0]["drop_cents"] == before.drop_cents + 2_000
