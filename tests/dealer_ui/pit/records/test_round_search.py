"""The search of rounds by time, table, seat, dealer and amount."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dealer_ui.pit.records import complaint_text
from dealer_ui.pit.records.round_search import FIELD_FORMAT
from tables.audit import round_search
from tables.audit.round_search import Sought
from tables.floor import inputs
from tables.models import Table
from tables.roles import Role
from tests import floor
from tests.clock import Clock
from tests.floor import Hand, dealt
from tests.tables.floor.acts import enter

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
def evening(clock: Clock) -> tuple[Hand, Hand, datetime]:
    """At Rocket 1, round 1 with seats 1 and 3 at 21:00, round 2 with seat 1 at 22:00. It is noon of the day after."""
    ten = datetime(2026, 11, 24, 22, tzinfo=timezone.get_current_timezone())
    clock.stand(ten - timedelta(hours=2))
    dealer, boss = dealt(options={"decks": 6})
    clock.stand(ten - timedelta(hours=1))
    dealer.bets(seat1=1_000, seat3=3_000)
    dealer.cards(8, 9, 3)
    dealer.pay()
    clock.stand(ten)
    dealer.bets(seat1=2_000)
    dealer.cards(8, 3)
    dealer.pay()
    clock.stand(ten + timedelta(hours=14))
    return dealer, boss, ten


def searched(boss: Hand, status: int = 200, **query: Any) -> str:
    answer = floor.client(boss.by).get(reverse("pit:round-search"), query)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def numbers(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'<th scope="row"><a href="/pit/tables/\d+/rounds/(\d+)/"', page)]


def test_a_complaint_is_found_as_it_is_told(evening: tuple[Hand, Hand, datetime]) -> None:
    """Harm: "yesterday about ten, seat 3, 40 instead of 60": the round is on record, and no search leads to it."""
    dealer, boss, ten = evening
    day = {"since": f"{ten - timedelta(hours=3):{FIELD_FORMAT}}", "until": f"{ten + timedelta(hours=1):{FIELD_FORMAT}}"}
    assert numbers(searched(boss, **day)) == [2, 1]
    assert numbers(searched(boss, **day | {"until": f"{ten:{FIELD_FORMAT}}"})) == [1]
    assert numbers(searched(boss, **day, place=dealer.table.pk, seat=3)) == [1]
    assert numbers(searched(boss, **day, place="rocket", dealer="dORa", seat=1)) == [2, 1]
    assert numbers(searched(boss, **day, amount="30")) == [1]
    assert numbers(searched(boss, **day, amount="7 20.00")) == [2]
    seat = next(view for view in round_search.search(sought(dealer, ten, seat=3)).hits[0].line.seats if view.seat == 3)
    assert seat.payout is not None
    won = abs(seat.payout.net_cents) // 100
    assert 1 in numbers(searched(boss, **day, seat=3, amount=won)), "what was due"


def sought(dealer: Hand, ten: datetime, **named: Any) -> Sought:
    return Sought(ten - timedelta(hours=3), ten + timedelta(hours=1), (dealer.table,), **named)


def test_nothing_found_says_what_was_searched_and_what_is_nearest(evening: tuple[Hand, Hand, datetime]) -> None:
    """Harm: the list for seat 3 at ten is empty, and the patron hears that no such round exists; it was at nine."""
    dealer, boss, ten = evening
    place = dealer.table.pk
    late = {
        "since": f"{ten - timedelta(minutes=5):{FIELD_FORMAT}}",
        "until": f"{ten + timedelta(hours=1):{FIELD_FORMAT}}",
    }
    page = searched(boss, **late, place=place, seat=3)
    assert "No match" in page
    assert "24 Nov 2026 21:55 to 23:00, Rocket 1, seat 3" in page
    assert "Seat 3 played none of them." in page
    assert "another seat" in page
    assert numbers(page) == [2]
    after = {"since": f"{ten + timedelta(hours=1):{FIELD_FORMAT}}"}
    page = searched(boss, **after, place=place, seat=3)
    assert "No round began in this time." in page
    assert re.search(r">Round 1</a>, <time [^>]*>24 Nov 2026 21:00</time>, the last one of seat 3", page)
    assert "another amount" in searched(boss, **late, amount="77")


def test_what_was_paid_by_a_correction_is_found(evening: tuple[Hand, Hand, datetime]) -> None:
    """Harm: the amount that was really paid is on record, and the search knows only what was due."""
    dealer, boss, ten = evening
    lost = inputs.ProposeCorrection(1, 3, -1_234, "Paid wrong")
    enter(boss, lost)
    assert [hit.line.number for hit in round_search.search(sought(dealer, ten, amounts=(1_234,))).hits] == [1]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"since": "tomorrow"}, "Not a date and time from 2000 to 2999"),
        ({"since": "0001-01-01T00:00"}, "Not a date and time from 2000 to 2999"),
        ({"since": "2026-11-25T00:00", "until": "2026-11-24T00:00"}, "has to be later than"),
        ({"amount": "forty"}, "amounts in digits"),
        ({"amount": "1 2 3 4 5"}, "Write up to 4 amounts"),
        ({"seat": "9"}, "The largest table has"),
        ({"seat": "0"}, "greater than or equal to 1"),
        ({"place": "roulette wheel"}, "not one of the available choices"),
        ({"dealer": "x" * 101}, "at most 100"),
        ({"dealer": "\x00"}, "Null characters"),
    ],
)
def test_a_field_that_cannot_be_read_says_so(
    evening: tuple[Hand, Hand, datetime], query: dict[str, str], sentence: str
) -> None:
    """Harm: a mistyped field is left out without a word, and the list is of another search."""
    assert sentence in searched(evening[1], 422, **query)


def test_a_search_of_months_looks_at_a_limited_number_of_rounds(
    evening: tuple[Hand, Hand, datetime], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a search without a table reads all of history and holds a process; or pages leave out rounds."""
    _, boss, ten = evening
    for limit in ("MOST", "AT_ONCE"):
        monkeypatch.setattr(round_search, limit, 1)
    query: dict[str, Any] = {
        "since": f"{ten - timedelta(days=200):{FIELD_FORMAT}}",
        "until": f"{ten + timedelta(days=1):{FIELD_FORMAT}}",
    }
    listed, pages = list[int](), 0
    page = searched(boss, **query)
    while older := re.search(r'id="older" rel="next" href="\?([^"]+)"', page):
        listed += numbers(page)
        pages += 1
        answer = floor.client(boss.by).get(f"{reverse('pit:round-search')}?{older[1].replace('&amp;', '&')}")
        page = " ".join(answer.content.decode().split())
    assert [*listed, *numbers(page)] == [2, 1]
    assert pages == 2


def test_a_search_over_more_tables_costs_no_more_queries(evening: tuple[Hand, Hand, datetime]) -> None:
    """Harm: the search of forty tables asks the database forty times as often."""
    dealer, _, ten = evening
    others = [floor.table(f"Rocket {number}") for number in range(20, 24)]

    def cost(tables: list[Table]) -> int:
        with CaptureQueriesContext(connection) as captured:
            round_search.search(Sought(ten - timedelta(hours=3), ten, tuple(tables), amounts=(1,)))
        return len(captured)

    assert cost([dealer.table]) == cost([dealer.table, *others])


NOW = datetime(2026, 11, 25, 12, tzinfo=timezone.get_current_timezone())
TABLES = ((1, "Rocket 1"), (11, "Rocket 11"))


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (
            "Yesterday about 10 pm, Rocket 1, seat 3, paid 40 instead of 60",
            {"place": "1", "seat": "3", "since": "2026-11-24T21:30", "until": "2026-11-24T22:30", "amount": "40 60"},
        ),
        ("rocket 11 22:05", {"place": "11", "since": "2026-11-24T21:35", "until": "2026-11-24T22:35"}),
        ("11.30 am", {"since": "2026-11-25T11:00", "until": "2026-11-25T12:00"}),
        ("seat 2 1,000", {"seat": "2", "amount": "1,000"}),
        ("22.50", {"amount": "22.50"}),
        ("2026-02-30 seat 2", {"seat": "2"}),
        ("rocket 1", {}),
        ("rocket 1 12 dora", {}),
        ("round 12", {}),
        ("fill 3", {}),
        ("dora", {}),
    ],
)
def test_find_reads_a_complaint(text: str, fields: dict[str, str]) -> None:
    """Harm: a complaint typed into Find gives no result; or every number offers a search."""
    assert complaint_text.fields_of(text.casefold(), TABLES, NOW) == fields


def test_find_leads_to_the_search_filled_in(
    evening: tuple[Hand, Hand, datetime], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: an amount typed into Find leads nowhere; or a cashier is led to rounds that they may not see."""
    _, boss, _ = evening
    client = floor.client(boss.by)
    [find] = client.get(reverse("pit:find"), {"q": "yesterday 9 pm rocket 1 seat 3 30"}).context["finds"]
    assert find.title == "Rounds: 24 Nov 2026 20:30 to 21:30, Rocket 1, seat 3, amount 30"
    assert numbers(client.get(find.address).content.decode()) == [1]
    monkeypatch.setattr("dealer_ui.pit.floor.search.MOST", 2)
    assert [find.what for find in client.get(reverse("pit:find"), {"q": "1"}).context["finds"]] == [
        "Table",
        "Search rounds",
    ]
    cashier = floor.client(floor.staff(Role.CASHIER, "carla", "401"))
    assert not cashier.get(reverse("pit:find"), {"q": "seat 3 30"}).context["finds"]
    assert cashier.get(reverse("pit:round-search")).status_code == 403
