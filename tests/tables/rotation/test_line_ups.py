"""Line-ups: who may set and push them, what a tap changes, and what a proof says of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
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
from tables.models import Certificate, LineUp, Practice, Staff, Table
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
    basis = line_ups.of_string("A").basis
    line_ups.push("A", by=bella(), basis=basis)
    second = floor.staff(Role.PIT_BOSS, "boris", "203")
    assert refusal(lambda: line_ups.push("A", by=second, basis=basis)) == "moved_on"
    assert LineUp.objects.filter(pushed=True).count() == 1


def test_a_relief_at_the_table_moves_the_line_up_on(felt: Hand) -> None:
    """Harm: the relief taps in, the pit boss pushes what has moved already, and the string skips a turn."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    basis = line_ups.of_string("A").basis
    floor.relieve(felt.table, Staff.objects.get(username="dina"))
    assert line_ups.of_string("A").line_up.dealers == ("dina", "dora", "dan")
    assert refusal(lambda: line_ups.push("A", by=bella(), basis=basis)) == "moved_on"
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
    basis = line_ups.of_string("A").basis
    taken = change(tables=("Rocket 2",))
    assert refusal(lambda: line_ups.set_line_up(taken, by=boris, basis=basis)) == "not_your_pit"
    assert refusal(lambda: line_ups.push("A", by=boris, basis=basis)) == "not_your_pit"
    assert refusal(lambda: line_ups.end("A", by=boris, basis=basis)) == "not_your_pit"


def test_deactivated_dealers_and_a_retired_table_do_not_block_moves(felt: Hand) -> None:
    """Harm: two dealers went home for good, and none of them can be taken out of the line-up."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    Staff.objects.filter(username__in=("dan", "dina")).update(is_active=False)
    Table.objects.filter(name="Rocket 2").update(retired_at=timezone.now())
    line_ups.rearrange("A", ("dora", "", "dina"), by=bella(), basis=line_ups.of_string("A").basis)
    row = line_ups.rearrange("A", ("dora", "", ""), by=bella(), basis=line_ups.of_string("A").basis)
    assert row.dealers == ["dora", "", ""]
    basis = line_ups.of_string("A").basis
    back = ("dora", "dan", "")
    assert refusal(lambda: line_ups.rearrange("A", back, by=bella(), basis=basis)) == "bad_line_up"


@pytest.mark.django_db(transaction=True)
def test_pushes_of_several_threads_at_once_produce_one_push() -> None:
    """Harm: two pit bosses press in the same instant, and the string moves on twice."""
    floor.dealt()
    floor.table("Rocket 2")
    floor.staff(Role.DEALER, "dan", "102")
    floor.staff(Role.DEALER, "dina", "103")
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    basis, boss, start = line_ups.of_string("A").basis, bella(), threading.Barrier(4, timeout=60)

    def press(_: int) -> str:
        start.wait()
        try:
            line_ups.push("A", by=boss, basis=basis)
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


# --- Pushes taken back -----------------------------------------------------------------------------------------


def test_a_push_by_mistake_is_taken_back_by_an_entry(felt: Hand) -> None:
    """Harm: after a push for the wrong string, each dealer has to be moved back by hand, and the log shows moves."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    before = line_ups.of_string("A")
    pushed = line_ups.push("A", by=bella(), basis=before.basis)
    line_ups.take_back("A", by=bella(), basis=line_ups.of_string("A").basis)
    after = line_ups.of_string("A")
    assert (after.line_up.dealers, after.line_up.push_at) == (before.line_up.dealers, before.line_up.push_at)
    assert [(event.pushed, event.takes_back) for event in events()] == [(False, 0), (True, 0), (False, pushed.seq)]
    words = text_of(events()[-1].description())
    assert words == f"The push of string A in entry {pushed.seq} is taken back: Rocket 1 Dora, Rocket 2 Dan"
    assert fault() == ""
    line_ups.push("A", by=bella(), basis=after.basis)
    assert line_ups.of_string("A").line_up.dealers == ("dina", "dora", "dan")
    assert fault() == ""


def test_a_push_after_a_relief_is_taken_back_to_the_relief(felt: Hand) -> None:
    """Harm: a relief tapped in, a push by mistake is taken back, and the relief stands in the place of the turn
    before."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    floor.relieve(felt.table, Staff.objects.get(username="dina"))
    relieved = line_ups.of_string("A")
    line_ups.push("A", by=bella(), basis=relieved.basis)
    line_ups.take_back("A", by=bella(), basis=line_ups.of_string("A").basis)
    after = line_ups.of_string("A").line_up
    assert (after.dealers, after.push_at) == (("dina", "dora", "dan"), relieved.line_up.push_at)
    assert fault() == ""


def test_two_pit_bosses_who_take_the_same_push_back_take_back_one(felt: Hand) -> None:
    """Harm: two pit bosses notice the same mistake, and the string goes back by two turns."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)
    line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)
    basis = line_ups.of_string("A").basis
    line_ups.take_back("A", by=bella(), basis=basis)
    second = floor.staff(Role.PIT_BOSS, "boris", "203")
    with pytest.raises(Refused, match="has taken back the push of string A meanwhile") as refused:
        line_ups.take_back("A", by=second, basis=basis)
    assert refused.value.code == "moved_on"
    assert line_ups.of_string("A").line_up.dealers == ("dina", "dora", "dan")
    assert refusal(lambda: line_ups.take_back("A", by=second, basis=line_ups.of_string("A").basis)) == "not_taken_back"


def test_a_push_that_a_dealer_followed_is_not_taken_back(felt: Hand) -> None:
    """Harm: the reliefs sit at their new tables, and the line-up sends them back on paper only."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)
    floor.relieve(felt.table, Staff.objects.get(username="dina"))
    with pytest.raises(Refused, match="Dina has tapped in at Rocket 1 since the push") as refused:
        line_ups.take_back("A", by=bella(), basis=line_ups.of_string("A").basis)
    assert refused.value.code == "not_taken_back"
    assert len(events()) == 2


def test_a_push_that_a_move_or_the_next_relief_followed_is_not_taken_back(felt: Hand) -> None:
    """Harm: taking a push back undoes a move that another pit boss has made since."""
    line_ups.set_line_up(change(dealers=("dora", "dan", "dina")), by=bella(), basis=NONE)
    line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)
    basis = line_ups.of_string("A").basis
    line_ups.rearrange("A", ("dina", "dora", ""), by=bella(), basis=basis)
    assert refusal(lambda: line_ups.take_back("A", by=bella(), basis=basis)) == "moved_on"
    current = line_ups.of_string("A").basis
    assert refusal(lambda: line_ups.take_back("A", by=bella(), basis=current)) == "not_taken_back"


def test_a_cover_for_some_minutes_does_not_keep_a_push_from_being_taken_back(felt: Hand) -> None:
    """Harm: any sign-in at a table of the string makes a mistaken push final."""
    line_ups.set_line_up(change(dealers=("dora", "dan", "")), by=bella(), basis=NONE)
    line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)
    floor.relieve(felt.table, Staff.objects.get(username="dina"))
    line_ups.take_back("A", by=bella(), basis=line_ups.of_string("A").basis)
    assert line_ups.of_string("A").line_up.dealers == ("dora", "dan", "")


def test_a_forged_correction_of_a_push_is_a_finding(felt: Hand) -> None:
    """Harm: dealers are put into other positions, and the log calls it the correction of a push."""
    row = line_ups.set_line_up(change(), by=bella(), basis=NONE)
    pushed = line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)
    first = events()[0]
    for forged in (
        structs.replace(first, takes_back=row.seq),
        structs.replace(first, takes_back=pushed.seq, dealers=("dan", "dora", "dina")),
        structs.replace(first, takes_back=pushed.seq, pushed=True),
    ):
        with transaction.atomic():
            LINE_UPS.append(site_log.lock(), forged, bella().signature)
            assert "a push is taken back by the next entry" in fault()
            transaction.set_rollback(True)
    assert fault() == ""


@pytest.mark.django_db(transaction=True)
def test_take_backs_of_several_threads_at_once_produce_one() -> None:
    """Harm: two pit bosses take a push back in the same instant, and the log has two corrections of it."""
    floor.dealt()
    floor.table("Rocket 2")
    floor.staff(Role.DEALER, "dan", "102")
    floor.staff(Role.DEALER, "dina", "103")
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)
    basis, boss = line_ups.of_string("A").basis, bella()
    outcomes = at_once(4, lambda: line_ups.take_back("A", by=boss, basis=basis))
    assert outcomes == ["done"] + ["moved_on"] * 3
    assert sum(bool(event.takes_back) for event in events()) == 1
    assert fault() == ""


@pytest.mark.django_db(transaction=True)
def test_a_push_and_its_take_back_at_once_produce_one_change() -> None:
    """Harm: one pit boss pushes on while another takes back, and the string is where neither of them put it."""
    floor.dealt()
    floor.table("Rocket 2")
    floor.staff(Role.DEALER, "dan", "102")
    floor.staff(Role.DEALER, "dina", "103")
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)
    basis, boss = line_ups.of_string("A").basis, bella()
    changes = iter((line_ups.take_back, line_ups.push, line_ups.take_back, line_ups.push))
    outcomes = at_once(4, lambda: next(changes)("A", by=boss, basis=basis))
    assert outcomes == ["done"] + ["moved_on"] * 3
    assert len(events()) == 3
    assert fault() == ""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_take_back", [False, True])
def test_a_relief_during_a_push_or_its_take_back_moves_the_string_once(is_take_back: bool) -> None:
    """Harm: the relief taps in in the instant of a push, and the string is a turn ahead; or a push is taken back in
    the instant in which its relief taps in, and the relief sits at a table of the turn before."""
    dealer, _ = floor.dealt()
    floor.table("Rocket 2")
    floor.staff(Role.DEALER, "dan", "102")
    dina = floor.staff(Role.DEALER, "dina", "103")
    line_ups.set_line_up(change(push_at=timezone.now() + timedelta(minutes=9)), by=bella(), basis=NONE)
    if is_take_back:
        line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)
    basis, boss = line_ups.of_string("A").basis, bella()
    act = line_ups.take_back if is_take_back else line_ups.push
    changes = iter((lambda: act("A", by=boss, basis=basis), lambda: floor.relieve(dealer.table, dina)))
    outcomes = at_once(2, lambda: next(changes)())
    assert outcomes in (["done", "done"], ["done", "not_taken_back"], ["done", "moved_on"])
    assert line_ups.of_string("A").line_up.dealers == ("dina", "dora", "dan")
    assert fault() == ""


def at_once(count: int, act: Callable[[], object]) -> list[str]:
    """What several threads that do something in the same instant came to, in order: "done" or a code."""
    start = threading.Barrier(count, timeout=60)

    def press(_: int) -> str:
        start.wait()
        try:
            act()
        except Refused as refused:
            return refused.code
        finally:
            connection.close()
        return "done"

    with ThreadPoolExecutor(count) as threads:
        return sorted(threads.map(press, range(count)))


# --- Tables that are closed ------------------------------------------------------------------------------------


def test_a_string_sleeps_while_its_tables_are_closed(felt: Hand) -> None:
    """Harm: a string whose tables are closed is late all night, and its push is hours late when a table opens again."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    string = line_ups.of_string("A")
    assert not string.line_up.is_dormant
    felt("sign_out")
    pit = Hand(felt.table, bella())
    pit("close_table")
    assert line_ups.of_string("A").line_up.is_dormant
    pit("open_table")
    awake = line_ups.of_string("A").line_up
    assert not awake.is_dormant
    assert timedelta(minutes=19) < awake.push_at - timezone.now() <= timedelta(minutes=20)
    with pytest.raises(Refused, match="A table of string A has opened: its next push is due at") as refused:
        line_ups.push("A", by=bella(), basis=string.basis)
    assert refused.value.code == "moved_on"


def test_a_string_of_tables_that_never_opened_is_dormant(felt: Hand) -> None:
    """Harm: a string that is set up before its tables open raises an alert about a push."""
    line_ups.set_line_up(change(tables=("Rocket 2",), dealers=("dan", "dina")), by=bella(), basis=NONE)
    assert line_ups.of_string("A").line_up.is_dormant


# --- Certificates ----------------------------------------------------------------------------------------------


def certified(username: str, through: date) -> None:
    """A dealer's certificate for Rocket."""
    dealer, number = Staff.objects.get(username=username), Certificate.objects.count() + 1
    practice = Practice.objects.create(dealer=dealer, course={})
    Certificate.objects.create(
        number=number, seq=number, practice=practice, dealer=dealer, game="rocket", rules_version="1", answers_right=1,
        answers_asked=1, signed_by=bella(), signed_as="x", on_day=through, valid_through=through,
    )  # fmt: skip


@pytest.fixture
def expiring(felt: Hand, terms: Callable[..., None]) -> Hand:
    """String A, whose dealers all had a certificate; the one of Dina ended yesterday. Dina is on a break."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    terms(certificate_games=("rocket",))
    for username, days in (("dora", 30), ("dan", 30), ("dina", -1)):
        certified(username, timezone.localdate() + timedelta(days=days))
    return felt


def test_a_push_to_a_table_without_a_certificate_is_refused_with_the_dealer(expiring: Hand) -> None:
    """Harm: a push sends a dealer to a table where the tap is refused, and the dealer there has no relief."""
    with pytest.raises(Refused) as refused:
        line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)
    assert (refused.value.code, refused.value.status) == ("not_certified", 409)
    day = timezone.localdate() - timedelta(days=1)
    assert refused.value.sentence.startswith(
        f"Dina may not deal at Rocket 1: the certificate for Rocket ended on {day}."
    )
    assert len(events()) == 1


def test_a_push_without_the_dealer_leaves_a_gap_and_moves_the_others(expiring: Hand) -> None:
    """Harm: one certificate that has ended keeps all other dealers of the string at their tables."""
    line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis, without=("dina",))
    assert line_ups.of_string("A").line_up.dealers == ("", "dora", "dan")
    leaves, pushed = events()[1:]
    assert (leaves.dealers, leaves.pushed) == (("dora", "dan", ""), False)
    assert leaves.reason.startswith("Dina may not deal at Rocket 1")
    assert (pushed.dealers, pushed.pushed) == (("", "dora", "dan"), True)
    assert fault() == ""


def test_a_dealer_who_goes_on_a_break_needs_no_certificate(felt: Hand, terms: Callable[..., None]) -> None:
    """Harm: a push is refused although the dealer without a certificate only goes on a break."""
    line_ups.set_line_up(change(), by=bella(), basis=NONE)
    terms(certificate_games=("rocket",))
    for username in ("dora", "dina"):
        certified(username, timezone.localdate())
    line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)
    assert line_ups.of_string("A").line_up.dealers == ("dina", "dora", "dan")
    with pytest.raises(Refused, match="Dan may not deal at Rocket 1: a certificate for Rocket is required, and there"):
        line_ups.push("A", by=bella(), basis=line_ups.of_string("A").basis)


def test_consent_to_leave_one_dealer_out_leaves_no_other_one_out(expiring: Hand) -> None:
    """Harm: a pit boss agrees to push without one dealer, and another one is taken out of the line-up unseen."""
    basis = line_ups.of_string("A").basis
    assert refusal(lambda: line_ups.push("A", by=bella(), basis=basis, without=("dora", "dan"))) == "not_certified"
    line_ups.push("A", by=bella(), basis=basis, without=("dina", "dan", "dora"))
    assert line_ups.of_string("A").line_up.dealers == ("", "dora", "dan"), "those who may deal are pushed"


def test_a_move_to_another_table_examines_the_certificate(expiring: Hand) -> None:
    """Harm: two dealers change places, and one of them may not deal at the new table."""
    with pytest.raises(Refused, match="Dina may not deal at Rocket 2"):
        line_ups.rearrange("A", ("dora", "dina", "dan"), by=bella(), basis=line_ups.of_string("A").basis)
    line_ups.rearrange("A", ("dan", "dora", "dina"), by=bella(), basis=line_ups.of_string("A").basis)
    line_ups.rearrange("A", ("dan", "dora", ""), by=bella(), basis=line_ups.of_string("A").basis)
    assert line_ups.of_string("A").line_up.dealers == ("dan", "dora", "")
