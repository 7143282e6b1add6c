"""What a day's figures say, held against what the house won round by round; and what they cost to ask for."""

import uuid
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tables.floor import inputs, recorder
from tables.models import Staff, Table
from tables.reports import figures
from tables.reports import gaming_hours as shifts
from tables.reports.figures import COUNTED, EXPECTED, LEDGER, Figures
from tables.roles import Role
from tables.state import table_state
from tests import floor
from tests.clock import Clock
from tests.floor import Hand, dealt, for_pot, signs

pytestmark = pytest.mark.django_db


def today() -> figures.SpanFigures:
    return figures.day(shifts.day_of(timezone.now()))


def line() -> Figures:
    [row] = today().lines
    return row


def plays(dealer: Hand, *, seat1: int = 2_000, seat4: int = 5_000) -> int:
    """One round; what the house won of it."""
    dealer.bets(seat1=seat1, seat4=seat4)
    dealer.cards(8, 4, 10, 8, 7, 10)
    won = dealer.now.round
    assert won is not None
    net = won.house_net_cents
    dealer.pay()
    return net


def somebody(role: Role, name: str) -> Staff:
    return Staff.objects.filter(username=name).first() or floor.staff(role, name)


def box(table: Table, *, cash: tuple[tuple[int, int], ...], counted: bool = True) -> None:
    """The drop box is carried away, and counted twice unless somebody waits for it."""
    carriers = [somebody(Role.SECURITY, "sam"), somebody(Role.SECURITY, "sue")]
    signs(table, carriers[0], inputs.BeginSlip("drop", (), "B1"))
    slip = next(slip.name for slip in table_state.of(table).slips if slip.series.name == "drop")
    signs(table, carriers[1], inputs.SignSlip(slip, "witnessed"))
    if counted:
        count(table, slip, cash)


def count(table: Table, slip: str, cash: tuple[tuple[int, int], ...]) -> None:
    for stage, name in (("counted", "carl"), ("recounted", "cora")):
        signs(table, somebody(Role.COUNTER, name), inputs.SignSlip(slip, stage, cash))


@pytest.fixture
def dealer() -> Hand:
    return dealt(options={"decks": 6})[0]


# --- The formula ----------------------------------------------------------------------------------------------


def test_win_by_the_formula_is_what_the_rounds_won(dealer: Hand) -> None:
    """Harm: operators are judged by a figure that the rounds do not support, or luck is mistaken for skill."""
    won = plays(dealer) + plays(dealer)
    dealer("sell_chips", amount_cents=30_000)
    row = line()
    assert row.win_cents == won
    assert (row.drop_cents, row.drop_is) == (30_000, EXPECTED)
    assert (row.handle_cents, row.rounds) == (14_000, 2)
    assert (row.opener_is, row.closer_is) == (COUNTED, LEDGER)
    edge = figures.edge_of(dealer.table)
    assert edge is not None
    assert row.theoretical == edge * 14_000


def test_fills_and_counts_do_not_change_what_was_won_but_a_variance_does(dealer: Hand) -> None:
    """Harm: chips brought to the table look like a win, or chips missing at the closer like none."""
    won = plays(dealer)
    floor.relieve(dealer.table, floor.crew("received"))
    floor.fill(dealer.table, ((500, 20),))
    floor.relieve(dealer.table, dealer.by)
    assert line().fills_cents == 10_000
    assert line().win_cents == won
    boss = Hand(dealer.table, Staff.objects.get(username="bella"))
    floor.counted(boss, "closer", -500)
    row = line()
    assert row.win_cents == won - 500
    assert row.closer_is == COUNTED
    boss("open_table")
    assert line().win_cents == won - 500


def test_a_counted_box_replaces_the_expected_drop(dealer: Hand) -> None:
    """Harm: cash that never reached the count room is reported as won, or cash still under the table as counted."""
    won = plays(dealer)
    dealer("sell_chips", amount_cents=30_000)
    box(dealer.table, cash=(), counted=False)
    assert line().drop_is == EXPECTED
    slip = table_state.of(dealer.table).slips[-1].name
    count(dealer.table, slip, ((10_000, 2), (5_000, 1)))
    row = line()
    assert (row.drop_cents, row.drop_is) == (25_000, COUNTED)
    assert row.win_cents == won - 5_000
    assert row.hold_permille == round(row.win_cents * 1000 / 25_000)
    dealer("sell_chips", amount_cents=5_000)
    assert (line().drop_is, line().drop_cents) == (EXPECTED, 30_000)


def test_a_round_that_was_taken_back_is_no_round(dealer: Hand) -> None:
    """Harm: handle and rounds count what was undone."""
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 8, 7, 10)
    dealer.reopens()
    assert (line().rounds, line().handle_cents, line().win_cents) == (0, 0, 0)


def test_a_table_with_a_pot_wins_its_time_charge(clock: Clock) -> None:
    """Harm: what players bring to the table is told as the house's."""
    start = timezone.now()
    dealer, _ = for_pot("goblin_poker", seats={1: 10_000, 2: 10_000}, time_charge_cents=500)
    dealer("buy_in", seat=3, amount_cents=5_000)
    span = (start - timedelta(hours=1), start + timedelta(hours=2))
    assert figures.between(*span).lines[0].win_cents == 0
    clock.stand(start + timedelta(minutes=31))
    dealer("time_charge")
    [row] = figures.between(*span).lines
    assert row.win_cents == 3 * 500
    assert row.drop_cents == 25_000
    assert row.theoretical is None


# --- Spans ----------------------------------------------------------------------------------------------------


def test_spans_that_join_add_up(dealer: Hand, clock: Clock) -> None:
    """Harm: three shifts of which the win is not the day's, over a table that stays open."""
    start, won = timezone.now(), 0
    edges = [start + timedelta(hours=hours) for hours in (0, 4, 8, 12)]
    for hours in (1, 5, 9):
        clock.stand(start + timedelta(hours=hours))
        won += plays(dealer)
        dealer("sell_chips", amount_cents=1_000 * hours)
    clock.stand(start + timedelta(hours=10))
    boss = Hand(dealer.table, Staff.objects.get(username="bella"))
    floor.counted(boss, "closer", 500)
    boss("open_table")
    clock.stand(edges[-1])
    parts = [figures.between(*edge).lines[0] for edge in pairwise(edges)]
    whole = figures.between(edges[0], edges[-1]).lines[0]
    assert sum(part.win_cents for part in parts) == whole.win_cents == won + 500
    assert [part.rounds for part in parts] == [1, 1, 1]
    assert sum(part.open_seconds for part in parts) == whole.open_seconds == 12 * 3600
    assert [part.opener_is for part in parts] == [LEDGER] * 3
    assert parts[0].closer_cents == parts[1].opener_cents


def test_a_correction_belongs_to_the_day_of_its_round(dealer: Hand, clock: Clock) -> None:
    """Harm: yesterday's mispay is today's loss."""
    start = timezone.now()
    plays(dealer)
    dealer.bets(seat1=1_000)
    dealer.cards(5, 3)
    dealer.pay()
    row = line()
    clock.stand(start + timedelta(days=2))
    boss, colleague = Staff.objects.get(username="bella"), floor.staff(Role.PIT_BOSS, "bert")
    number = dealer.now.round.number if dealer.now.round else 0
    handed = dealer.now.round.settled[0].net_cents - 300 if dealer.now.round else 0
    proposed = inputs.ProposeCorrection(number, 1, handed, "Paid 3 too little")
    record(dealer.table, proposed, boss)
    record(dealer.table, inputs.SignCorrection(f"correction/{timezone.localtime().year}/1"), colleague)
    then = figures.between(start - timedelta(hours=1), start + timedelta(days=1))
    later = figures.between(start + timedelta(days=1), start + timedelta(days=3))
    assert then.lines[0].win_cents + later.lines[0].win_cents == row.win_cents
    assert later.lines[0].win_cents == 0


def record(table: Table, entered: Any, by: Staff) -> None:
    recorder.record(table, entered, by=by, key=uuid.uuid4(), expected_seq=table_state.of(table).seq)


# --- What it costs --------------------------------------------------------------------------------------------


def test_a_report_of_many_tables_asks_as_often_as_of_one(dealer: Hand) -> None:
    """Harm: a day's report that gets slower with each table."""
    plays(dealer)
    span = shifts.span(shifts.day_of(timezone.now()))
    figures.between(*span)
    with CaptureQueriesContext(connection) as queries:
        figures.between(*span)
    for number in range(2, 6):
        table = floor.table(f"Rocket {number}", options={"decks": 6})
        Hand(table, Staff.objects.get(username="bella"))("open_table")
    with CaptureQueriesContext(connection) as captured:
        report = figures.between(*span)
    assert len(report.lines) == 5
    assert len(captured) == len(queries) <= 8
    assert report.pit.win_cents == sum(line.win_cents for line in report.lines)
    assert [game.name for game in report.games] == ["Rocket"]
