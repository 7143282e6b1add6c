"""Line-ups: who may set and push them, what a tap changes, and what a proof says of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from msgspec import structs

from ledger import site_log
from ledger.models import HOUSE, Book, LogEntry
from tables.audit import proofs
from tables.log.catalog import read_as
from tables.log.entries.pits import PitSectionSet
from tables.log.entries.rotation import LineUpSet
from tables.log.message import text_of
from tables.models import LineUp, Staff, Table
from tables.projections.site_rows import LINE_UPS
from tables.refusals import Refused
from tables.roles import Role
from tables.rotation import line_ups, sessions
from tables.rotation.line_ups import Basis, LineUpChange
from tables.setup import pit_assignments, pits
from tables.setup.pit_assignments import AssignmentChange
from tests import floor
from tests.floor import Hand

NONE = Basis(0)


@pytest.fixture
def felt(db: None) -> Hand:
    """Rocket 1, where Dora deals and bets are open; Rocket 2, closed; Dan and Dina deal too."""
    dealer, _ = floor.dealt()
    floor.table("Rocket 2")
    floor.staff(Role.DEALER, "dan", "102")
    floor.staff(Role.DEALER, "dina", "103")
    return dealer


def bella() -> Staff:
    return Staff.objects.get(username="bella")


def change(**facts: Any) -> LineUpChange:
    """A string of two tables and one break, with a push that is due now."""
    moment = timezone.now()
    return LineUpChange(
        **{
            "string": "A",
            "tables": ("Rocket 1", "Rocket 2"),
            "dealers": ("dora", "dan", "dina"),
            "turn_minutes": 20,
            "push_at": moment,
            "ends": moment + timedelta(hours=8),
        }
        | facts
    )


def events() -> list[LineUpSet]:
    """The entries of line-ups, in their order."""
    bodies = LogEntry.objects.filter(book__name=HOUSE, subject=LineUpSet.subject).order_by("seq")
    return [read_as(LineUpSet, entry.body) for entry in bodies]


def refusal(act: Callable[[], Any]) -> str:
    with pytest.raises(Refused) as refused:
        act()
    return refused.value.code


def fault() -> str:
    site_log.flush_queue()
    flaw = proofs.verify(Book.objects.get(name=HOUSE)).fault
    return flaw.what if flaw else ""


def test_a_line_up_is_set_pushed_and_verified(felt: Hand) -> None:
    """Harm: a push loses a dealer, or the record cannot say who was due where."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    current = line_ups.of_string("A")
    assert current.line_up.dealers == ("dora", "dan", "dina")
    line_ups.push("A", by=bella(), basis=current.basis)
    assert line_ups.of_string("A").line_up.dealers == ("dina", "dora", "dan")
    assert fault() == ""
    assert [text_of(event.description()) for event in events()] == [
        "String A: 20 minutes a turn; Rocket 1 Dora, Rocket 2 Dan",
        "String A is pushed: Rocket 1 Dina, Rocket 2 Dora",
    ]


def test_two_pit_bosses_who_push_at_once_produce_one_push(felt: Hand) -> None:
    """Harm: a string is pushed twice, and every dealer stands at the wrong table."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    seen = line_ups.of_string("A").basis
    line_ups.push("A", by=bella(), basis=seen)
    second = floor.staff(Role.PIT_BOSS, "boris", "203")
    assert refusal(lambda: line_ups.push("A", by=second, basis=seen)) == "moved_on"
    assert LineUp.objects.filter(pushed=True).count() == 1


def test_a_relief_at_the_table_moves_the_line_up_on(felt: Hand) -> None:
    """Harm: the relief taps in, the pit boss pushes what has moved already, and the string skips a turn."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    seen = line_ups.of_string("A").basis
    floor.relieve(felt.table, Staff.objects.get(username="dina"))
    assert line_ups.of_string("A").line_up.dealers == ("dina", "dora", "dan")
    assert refusal(lambda: line_ups.push("A", by=bella(), basis=seen)) == "moved_on"
    line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)
    assert line_ups.of_string("A").line_up.dealers == ("dan", "dina", "dora")
    assert fault() == ""


WRONG = (
    ({"tables": ("Rocket 1", "Rocket 9")}, "tables"),
    ({"tables": ()}, "tables"),
    ({"dealers": ("dora", "bella", "dina")}, "dealers"),
    ({"dealers": ("dora", "dora", "dina")}, "dealers"),
    ({"dealers": ("dora",)}, "dealers"),
    ({"turn_minutes": 0}, "turn_minutes"),
    ({"string": ""}, "string"),
    ({"string": " A"}, "string"),
    ({"string": "A\nB"}, "string"),
    ({"string": ".."}, "string"),
    ({"push_at": timezone.now() + timedelta(days=2)}, "push_at"),
    ({"reason": "x" * 201}, "reason"),
)


@pytest.mark.parametrize(("facts", "field"), WRONG)
def test_a_line_up_that_cannot_be_dealt_is_refused_by_field(felt: Hand, facts: dict[str, Any], field: str) -> None:
    """Harm: a line-up names a table or a person that is not there, and a table is left alone at the next push."""
    with pytest.raises(Refused) as refused:
        line_ups.set_line_up(change(**facts), by=bella(), basis=NONE)
    assert list(refused.value.facts["fields"]) == [field]
    assert not LineUp.objects.exists()


def test_a_line_up_ends_with_its_shift_and_frees_its_tables(felt: Hand) -> None:
    """Harm: the line-up of the day before holds the tables and the dealers of today."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    other = change(string="B", tables=("Rocket 2",), dealers=("",))
    assert refusal(lambda: line_ups.set_line_up(other, by=bella(), basis=NONE)) == "bad_line_up"
    line_ups.end("A", by=bella(), basis=line_ups.of_string("A").basis)
    line_ups.set_line_up(other, by=bella(), basis=NONE)
    assert [each.row.string for each in line_ups.in_force()] == ["B"]
    assert line_ups.in_force(timezone.now() + timedelta(hours=9)) == []
    assert fault() == ""


def test_a_pit_boss_takes_no_table_out_of_the_string_of_another_pit(felt: Hand) -> None:
    """Harm: a pit boss ends the rotation of another pit by setting its string up with tables of their own pit."""
    operator = floor.staff(Role.OPERATOR, "olga", "701")
    pits.set_section(PitSectionSet(pit="Pit 1", tables=("Rocket 1",)), by=operator)
    pits.set_section(PitSectionSet(pit="Pit 2", tables=("Rocket 2",)), by=operator)
    line_ups.set_line_up(change(tables=("Rocket 1",)), by=bella(), basis=NONE)
    boris = floor.staff(Role.PIT_BOSS, "boris", "203")
    pit_assignments.set_post(AssignmentChange("boris", ("Pit 2",)), by=operator)
    seen = line_ups.of_string("A").basis
    taken = change(tables=("Rocket 2",))
    assert refusal(lambda: line_ups.set_line_up(taken, by=boris, basis=seen)) == "not_your_pit"
    assert refusal(lambda: line_ups.push("A", by=boris, basis=seen)) == "not_your_pit"
    assert refusal(lambda: line_ups.end("A", by=boris, basis=seen)) == "not_your_pit"


def test_deactivated_dealers_and_a_retired_table_do_not_block_moves(felt: Hand) -> None:
    """Harm: two dealers went home for good, and none of them can be taken out of the line-up."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    Staff.objects.filter(username__in=("dan", "dina")).update(is_active=False)
    Table.objects.filter(name="Rocket 2").update(retired_at=timezone.now())
    line_ups.rearrange("A", ("dora", "", "dina"), by=bella(), basis=line_ups.of_string("A").basis)
    row = line_ups.rearrange("A", ("dora", "", ""), by=bella(), basis=line_ups.of_string("A").basis)
    assert row.dealers == ["dora", "", ""]
    seen = line_ups.of_string("A").basis
    back = ("dora", "dan", "")
    assert refusal(lambda: line_ups.rearrange("A", back, by=bella(), basis=seen)) == "bad_line_up"


@pytest.mark.django_db(transaction=True)
def test_pushes_of_several_threads_at_once_produce_one_push() -> None:
    """Harm: two pit bosses press in the same instant, and the string moves on twice."""
    floor.dealt()
    floor.table("Rocket 2")
    floor.staff(Role.DEALER, "dan", "102")
    floor.staff(Role.DEALER, "dina", "103")
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    seen, boss, start = line_ups.of_string("A").basis, bella(), threading.Barrier(4, timeout=60)

    def press(_: int) -> str:
        start.wait()
        try:
            line_ups.push("A", by=boss, basis=seen)
        except Refused as refused:
            return refused.code
        finally:
            connection.close()
        return "pushed"

    with ThreadPoolExecutor(4) as threads:
        outcomes = sorted(threads.map(press, range(4)))
    assert outcomes == ["moved_on"] * 3 + ["pushed"]
    assert line_ups.of_string("A").line_up.dealers == ("dina", "dora", "dan")
    assert LineUp.objects.filter(pushed=True).count() == 1
    assert fault() == ""


def test_only_a_pit_boss_sets_a_line_up(felt: Hand) -> None:
    """Harm: a dealer gives herself a break."""
    dora = Staff.objects.get(username="dora")
    assert refusal(lambda: line_ups.set_line_up(change(), by=dora, basis=NONE)) == "not_permitted"


def test_a_forged_push_is_a_finding(felt: Hand) -> None:
    """Harm: who had the break is rewritten afterwards as a push."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    event = structs.replace(events()[0], pushed=True, dealers=("dan", "dora", "dina"))
    with transaction.atomic():
        LINE_UPS.append(site_log.lock(), event, bella().signature)
    assert "a push moves each dealer" in fault()


def test_the_cost_does_not_grow_with_history(felt: Hand) -> None:
    """Harm: the page of the rotation gets slower with every push of the year."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    with CaptureQueriesContext(connection) as first:
        line_ups.in_force()
    for _ in range(5):
        line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)
    with CaptureQueriesContext(connection) as later:
        line_ups.in_force()
    assert len(later) == len(first) <= 4


def test_the_sessions_of_dealers_come_from_their_taps(felt: Hand) -> None:
    """Harm: the hours of a dealer who was relieved go on."""
    start = timezone.now() - timedelta(hours=1)
    floor.relieve(felt.table, Staff.objects.get(username="dina"))
    now = timezone.now()
    dealt = sessions.sessions(start, now + timedelta(hours=1), now)
    assert [(session.username, session.table) for session in dealt] == [("dora", "Rocket 1"), ("dina", "Rocket 1")]
    assert dealt[0].end == dealt[1].start
    assert dealt[1].end == now
