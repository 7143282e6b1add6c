"""The report of a day's exceptions and its dealers: what stands in it, for whom, and what it costs."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from ledger import alerts, discrepancies
from ledger.discrepancies import close
from tables.floor import inputs, recorder
from tables.reports import exceptions, gaming_hours
from tables.reports.exceptions import DayExceptions
from tables.roles import Role
from tables.state import table_state
from tests import floor
from tests.clock import Clock
from tests.floor import Hand, counted, dealt, signs
from tests.load import whole as text_of
from tests.ready import ready_made

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
@ready_made
def hands() -> tuple[Hand, Hand]:
    """Two rounds, one key of which was taken back."""
    dealer, boss = dealt(options={"decks": 6})
    for _ in range(2):
        dealer.bets(seat1=1_000)
        dealer.cards(8, 3)
        dealer.pay()
    dealer.bets(seat1=2_000)
    dealer.cards(9)
    dealer("take_back")
    return dealer, boss


def report(*, whole: bool = True, days_ago: int = 0) -> DayExceptions:
    return exceptions.of_day(gaming_hours.day_of(timezone.now()) - timedelta(days=days_ago), whole=whole)


def under(name: str, shown_report: DayExceptions) -> list[str]:
    return [line.says for heading in shown_report.headings if heading.matter.name == name for line in heading.lines]


def test_what_was_taken_back_is_told_with_its_round(hands: tuple[Hand, Hand]) -> None:
    """Harm: keys are taken back all night, and nobody reads of it."""
    [line] = [line for line in report().lines if line.matter.name == "take_backs"]
    assert (line.round, line.place, line.by) == (3, "Rocket 1", "101 Dora")
    assert line.says.startswith("Takes back entry")


def test_the_floor_is_not_told_of_people(hands: tuple[Hand, Hand]) -> None:
    """Harm: whoever runs the floor reads who was locked out, and when an operator made an emergency code."""
    assert any("Dora works here now" in sentence for sentence in under("people", report()))
    floors = report(whole=False)
    assert not {heading.matter.name for heading in floors.headings} & {"people", "lock_outs", "terminals", "keys"}
    assert under("take_backs", floors)


def test_an_alert_stands_there_until_somebody_acknowledges_it(hands: tuple[Hand, Hand]) -> None:
    """Harm: the morning's report repeats what was dealt with in the night."""
    raised = alerts.raise_alert(hands[0].table.book, "a_test", "The rack door stood open")
    assert under("alerts", report()) == [f"Alert {raised.pk}: The rack door stood open"]
    alerts.acknowledge(raised, "bella Bella", "It was the carpenter")
    assert under("alerts", report()) == []


def test_a_discrepancy_stands_there_until_it_has_a_finding(hands: tuple[Hand, Hand]) -> None:
    """Harm: an open difference that fell off the list, or a closed one that stays on it."""
    case = discrepancies.open_(hands[0].table.book, "variance", 200, "The rack is over by 2", key="a test")
    assert len(under("discrepancies", report())) == 1
    close(case, "A chip lay below", username="bella", by="bella Bella")
    assert under("discrepancies", report()) == []


def test_settings_and_voids_are_told(hands: tuple[Hand, Hand]) -> None:
    """Harm: a limit that was raised for an hour, and a fill that was made void afterwards."""
    dealer, _ = hands
    signs(dealer.table, floor.crew("requested"), inputs.BeginSlip("fill", ((100, 20),)))
    slip = table_state.of(dealer.table).slips[-1].name
    signs(dealer.table, floor.crew("issued"), inputs.VoidSlip(slip, "Wrong table"))
    assert any("Wrong table" in sentence for sentence in under("voids", report()))
    assert under("settings", report())


def test_a_signature_that_came_late_and_a_slip_that_waits_are_named(hands: tuple[Hand, Hand], clock: Clock) -> None:
    """Harm: a fill that stood in the aisle for an hour."""
    dealer, _ = hands
    start = timezone.now()
    signs(dealer.table, floor.crew("requested"), inputs.BeginSlip("fill", ((100, 20),)))
    slip = table_state.of(dealer.table).slips[-1].name
    clock.stand(start + timedelta(minutes=10))
    signs(dealer.table, floor.crew("issued"), inputs.SignSlip(slip, "issued"))
    assert under("late", report()) == []
    clock.stand(start + timedelta(minutes=55))
    [waiting] = [line for line in report().lines if line.matter.name == "late"]
    assert waiting.note.startswith("waits for 4")
    signs(dealer.table, floor.crew("carried"), inputs.SignSlip(slip, "carried"))
    [late] = [line for line in report().lines if line.matter.name == "late"]
    assert late.says == f"Fill {table_state.of(dealer.table).slips[-1].number}: carried"
    assert late.note == "45 minutes after the step before"


def test_a_dealers_rounds_are_those_of_their_stints(hands: tuple[Hand, Hand]) -> None:
    """Harm: the relief is charged with the rounds and take-backs of the previous dealer; or a dealer is called slow
    after three rounds."""
    dealer, boss = hands
    dealer.cards(8, 3)
    dealer.pay()
    floor.relieve(dealer.table, floor.staff(Role.DEALER, "dan", "102"))
    relief = Hand(dealer.table, dealer.by.__class__.objects.get(username="dan"))
    relief.bets(seat1=1_000)
    relief.cards(8, 3)
    relief.pay()
    counted(boss, "rack", over_cents=100)
    lines = {line.username: line for line in report().dealers}
    assert {name: (line.rounds, line.take_backs.value) for name, line in lines.items()} == {
        "dora": (3, 1),
        "dan": (1, 0),
    }
    assert {(line.counts, line.shared_cents, line.variance_cents) for line in lines.values()} == {(1, 100, 0)}
    assert {line.says for line in lines.values()} == {"Too few rounds to say."}


def test_another_day_is_another_report(hands: tuple[Hand, Hand]) -> None:
    """Harm: yesterday's page lists what happened today."""
    assert report(days_ago=1).lines == []
    assert report(days_ago=1).dealers == []


def test_a_report_of_many_tables_and_lines_asks_as_often_as_of_one(hands: tuple[Hand, Hand]) -> None:
    """Harm: a report that gets slower with each table and each line of it."""
    dealer, boss = hands
    alerts.raise_alert(dealer.table.book, "a_test", "One")
    report()
    with CaptureQueriesContext(connection) as queries:
        report()
    for number in range(2, 5):
        table = floor.table(f"Rocket {number}", options={"decks": 6})
        Hand(table, boss.by)("open_table")
        recorder.sign_in(table, floor.staff(Role.DEALER, f"dealer{number}", f"30{number}"))
    for _ in range(6):
        dealer.cards(9)
        dealer("take_back")
        alerts.raise_alert(dealer.table.book, "a_test", f"Another {uuid.uuid4()}")
    with CaptureQueriesContext(connection) as captured:
        full = report()
    assert len(under("take_backs", full)) == 7
    assert len(captured) == len(queries) <= 20


# --- The page ----------------------------------------------------------------------------------------------------


def page(hand: Hand, **query: str) -> str:
    answer = floor.client(hand.by).get(reverse("pit:exceptions"), query)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_the_page_shows_the_floor_its_part_and_an_auditor_all(hands: tuple[Hand, Hand]) -> None:
    """Harm: a role reads what is not its own, or misses what is."""
    dealer, boss = hands
    auditor = Hand(dealer.table, floor.staff(Role.AUDITOR, "ada"))
    operator = floor.staff(Role.OPERATOR, "olga")
    assert "Take-backs" in page(boss)
    assert "works here now" not in page(boss)
    assert "works here now" in page(auditor)
    assert "works here now" in page(Hand(dealer.table, operator))
    for nonsense in ("x", "9999-12-31", "2026-02-30"):
        assert "Exceptions" in page(auditor, day=nonsense)


def test_the_lists_are_files_too(hands: tuple[Hand, Hand]) -> None:
    """Harm: an auditor copies a page by hand."""
    client = floor.client(hands[1].by)
    for name in ("exceptions-csv", "exceptions-dealers-csv"):
        rows = text_of(client.get(reverse(f"pit:{name}"))).decode("utf-8-sig").splitlines()
        assert len(rows) > 1
        assert text_of(client.get(reverse(f"pit:{name}"), {"as": "xlsx"})).startswith(b"PK")


def lets_stand(boss: Hand) -> None:
    """A pit boss accepts a bet over the limit."""
    accepted = inputs.AcceptBet(2, 15_000)
    recorder.record(boss.table, accepted, by=boss.by, key=uuid.uuid4(), expected_seq=boss.now.seq)


def test_a_bet_over_the_limit_that_stood_is_told(hands: tuple[Hand, Hand]) -> None:
    """Harm: a pit boss lets bets over the limit stand, and the morning's report does not know."""
    dealer, boss = hands
    void = inputs.VoidRound("misdeal", "two cards stuck together")
    recorder.record(boss.table, void, by=boss.by, key=uuid.uuid4(), expected_seq=boss.now.seq)
    lets_stand(boss)
    [line] = [line for line in report(whole=False).lines if line.matter.name == "over_limit"]
    assert (line.place, line.round, line.by, line.seq) == (dealer.table.name, 4, boss.by.signature, dealer.now.seq)


def test_who_let_a_bet_stand_is_named_whatever_the_table_is_called() -> None:
    """Harm: at a table whose name contains a colon, the report names another person than the one who let a bet over
    the limit stand."""
    _, boss = dealt(name="Pit 1: Rocket")
    lets_stand(boss)
    [line] = [line for line in report(whole=False).lines if line.matter.name == "over_limit"]
    assert (line.place, line.by) == ("Pit 1: Rocket", boss.by.signature)
