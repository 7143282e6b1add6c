"""Who runs which pit: posts, cover, every act on the floor, and what a proof says of who had no such pit."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from msgspec import structs

from ledger import alerts, log, site_log
from ledger.models import HOUSE, Alert, Book, LogEntry
from tables.alerts import inbox
from tables.approvals import proposals
from tables.audit import proofs, row_comparison
from tables.floor import inputs, recorder, restored_tables
from tables.floor.handlers import HANDLINGS
from tables.limits import emergency
from tables.log import dual_control
from tables.log.entries.pits import PitSectionSet
from tables.log.entries.posts import CoverSet, PostSet
from tables.log.exception_categories import POSTS
from tables.models import PitCover, Post, Staff, Table
from tables.refusals import Refused
from tables.reports import exceptions, gaming_hours
from tables.roles import Role
from tables.setup import pit_assignments, pits, policies, table_settings
from tables.setup.dual_control import ProposalDraft
from tables.setup.pit_assignments import AssignmentChange
from tables.state import table_state
from tests import floor, terms
from tests.clock import Clock
from tests.floor import Hand
from tests.ready import ready_made
from tests.tables.approvals.test_proposals import rollback

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
@ready_made
def felt() -> Hand:
    """Rocket 1 in Pit 1, where bets are open; Rocket 2 in Pit 2. Bella runs Pit 2."""
    dealer, _ = floor.dealt(options={"decks": 6})
    floor.table("Rocket 2")
    for number in (1, 2):
        section(f"Pit {number}", f"Rocket {number}")
    pit_assignments.set_post(AssignmentChange("bella", ("Pit 2",)), by=olga())
    return dealer


def olga() -> Staff:
    return Staff.objects.filter(username="olga").first() or floor.staff(Role.OPERATOR, "olga", "301")


def bella() -> Staff:
    return Staff.objects.get(username="bella")


def section(pit: str, *tables: str) -> None:
    pits.set_section(PitSectionSet(pit=pit, tables=tables), by=olga())


def fault(book: str = HOUSE) -> str:
    site_log.flush_queue()
    flaw = proofs.verify(Book.objects.get(name=book)).fault
    return flaw.what if flaw else ""


def enter(felt: Hand, by: str, entered: Any) -> None:
    """Somebody enters something at the table, on the newest sequence number."""
    person = Staff.objects.get(username=by)
    recorder.record(felt.table, entered, by=person, key=uuid.uuid4(), expected_seq=felt.now.seq)


LOCK = inputs.LockRack("A quarrel")


def refusal(act: Callable[[], Any]) -> Refused:
    with pytest.raises(Refused) as refused:
        act()
    return refused.value


# --- what may be done at tables ----------------------------------------------------------------------------------


def _input(kind: type) -> Any:
    """Any input of a kind: who may enter it is asked before what it says."""
    fields = {"str": "", "int": 1, "bool": False}
    values = {
        field.name: fields.get(str(getattr(field.type, "__name__", field.type)), ())
        for field in structs.fields(kind)
        if field.required
    }
    return kind(**values)


ACTS = [kind for kind in HANDLINGS if kind not in restored_tables.SHOWN]
"""But for what a screen of any pit shows: nobody enters that."""


FLOOR_ACTS = {
    "LockRack", "OpenDispute", "NoteDispute", "RuleDispute", "CloseDispute", "ProposeCorrection", "SignCorrection",
    "DeclineCorrection", "BeginSlip", "SignSlip", "VoidSlip", "VoidRound", "AbandonTable", "UnlockRack", "TakeBack",
    "RetireShoe", "IssueSeatPage", "AcceptBet", "ForgiveCommission", "BeginBackEntry", "EndBackEntry", "ComparePaper",
    "ReopenRound", "RuleOnHand",
}  # fmt: skip


def test_no_act_of_a_pit_boss_is_accepted_at_a_table_of_another_pit(felt: Hand) -> None:
    """Harm: an act added later omits the check of the pit; or a pit boss reads "not permitted" without learning which
    pit the table is in."""
    before = LogEntry.objects.filter(book_id=felt.table.book_id).count()
    assert {kind.__name__ for kind in ACTS} >= FLOOR_ACTS
    for kind in ACTS:
        answer = refusal(lambda kind=kind: enter(felt, "bella", _input(kind)))  # type: ignore[misc]
        assert answer.status in (403, 409), (kind, answer.code)
        if kind.__name__ in FLOOR_ACTS:
            assert answer.code == "not_your_pit", (kind, answer.sentence)
            assert answer.sentence == (
                "Rocket 1 stands in Pit 1: Bella runs Pit 2, and nobody has it as a post. Take Pit 1 over on the"
                " floor's page to act there."
            )
    assert LogEntry.objects.filter(book_id=felt.table.book_id).count() == before


def test_a_relief_is_confirmed_by_the_pit_that_the_table_stands_in(felt: Hand) -> None:
    """Harm: a pit boss hands over tables of a colleague, by a PIN beside the dealer's."""
    relief = floor.staff(Role.DEALER, "rita", "102")
    refused = refusal(lambda: recorder.relieve(felt.table, relief, "dora", confirmed_by=bella()))
    assert refused.code == "not_your_pit"
    pit_assignments.take_over("Pit 1", timezone.now() + timedelta(hours=1), "Ann is ill", by=bella())
    recorder.relieve(felt.table, relief, "dora", confirmed_by=bella())
    assert fault(felt.table.name) == ""


def test_limits_are_tightened_and_alerts_acknowledged_in_ones_own_pit(felt: Hand) -> None:
    """Harm: what is not entered at the table is forgotten by the rule."""
    refused = refusal(lambda: emergency.tighten(felt.table, {"max_cents": 5_000}, "A run", by=bella()))
    assert refused.code == "not_your_pit"
    alert = alerts.raise_alert(felt.table.book, "negative", "The rack holds less than nothing", {})
    assert refusal(lambda: inbox.acknowledge([alert.pk], "Counted", by=bella())).code == "not_your_pit"
    assert Alert.objects.filter(acknowledgement=None).count() == 1
    own = alerts.raise_alert(Book.objects.get(name="Rocket 2"), "negative", "The rack holds less than nothing", {})
    assert inbox.acknowledge([own.pk], "Counted", by=bella()).alerts == [own]
    assert fault() == ""


def test_other_limits_are_proposed_and_decided_for_tables_of_ones_own_pit(felt: Hand) -> None:
    """Harm: a pit boss who may act at no table of another pit has its limits changed all the same, by a proposal."""

    def limits(table: Table) -> ProposalDraft:
        return table_settings.draft_for_later(table, {"max_cents": 20_000})

    def plan(scope: str, of: str) -> ProposalDraft:
        facts = {"version": 1, "scope": scope, "of": of, "values": {"max_cents": 20_000}}
        return ProposalDraft(dual_control.PLAN, f"Busy {of}", {"version": 0}, facts)

    other, own = felt.table, Table.objects.get(name="Rocket 2")
    for draft in (limits(other), plan("table", other.name), plan("pit", "Pit 1")):
        assert refusal(lambda draft=draft: proposals.propose(draft, "", by=bella())).code == "not_your_pit"
    for draft in (limits(own), plan("pit", "Pit 2"), plan("house", "")):
        proposals.propose(draft, "", by=bella())
    proposal = proposals.propose(limits(other), "", by=olga())
    bounded = bella()
    bounded.has_perm = lambda _: True  # type: ignore[method-assign, assignment]  # a house that lets pit bosses decide
    for end in (proposals.approve, lambda row, by: proposals.decline(row, "no", by=by)):
        assert refusal(lambda end=end: end(proposal, by=bounded)).code == "not_your_pit"
    assert proposals.waiting().filter(pk=proposal.pk).exists()
    assert fault() == ""


def test_a_slip_asks_the_pit_boss_s_pit_and_nobody_else_s(felt: Hand) -> None:
    """Harm: the posts of the floor bound the cage and the dealer, too; or a slip gets round them."""
    paul, fill = Staff.objects.get(username="paul"), inputs.BeginSlip("fill", ((100, 10),))
    pit_assignments.set_post(AssignmentChange("paul", ("Pit 2",)), by=olga())
    pit_assignments.set_post(AssignmentChange("pia", ("Pit 1",)), by=olga())
    refused = refusal(lambda: floor.signs(felt.table, paul, fill))
    assert (refused.code, "Paul runs Pit 2, and Pia runs it." in refused.sentence) == ("not_your_pit", True)
    floor.signs(felt.table, Staff.objects.get(username="pia"), fill)
    slip = table_state.of(felt.table).slips[-1].name
    for stage in ("issued", "carried"):
        floor.signs(felt.table, floor.crew(stage), inputs.SignSlip(slip, stage))
    felt.bets(seat1=2_000)
    assert fault(felt.table.name) == ""


# --- posts -------------------------------------------------------------------------------------------------------


def test_without_a_post_the_whole_floor_is_run_as_ever(felt: Hand) -> None:
    """Harm: an upgrade locks a house out of its tables."""
    enter(felt, "paul", LOCK)
    assert fault(felt.table.name) == ""


def test_where_the_house_wants_posts_nobody_runs_a_pit_without_one(felt: Hand) -> None:
    """Harm: a house that assigns every shift lets whoever was forgotten run everything."""
    policies.change({"post_required": True}, by=olga())
    terms.read_again()
    assert refusal(lambda: enter(felt, "paul", LOCK)).code == "not_your_pit"
    pit_assignments.set_post(AssignmentChange("paul", whole_floor=True), by=olga())
    enter(felt, "paul", LOCK)
    assert fault(felt.table.name) == ""
    assert fault() == ""


def test_a_post_of_tomorrow_bounds_nobody_today(felt: Hand) -> None:
    """Harm: next week's roster takes tonight's pit away."""
    pit_assignments.set_post(
        AssignmentChange("bella", ("Pit 1",)), effective=timezone.now() + timedelta(days=1), by=olga()
    )
    assert pit_assignments.duty_of(bella()).pits == {"Pit 2"}
    assert pit_assignments.duty_of(bella(), timezone.now() + timedelta(days=2)).pits == {"Pit 1"}
    assert fault() == ""


def test_a_wrong_assignment_is_refused_with_what_would_be_right(felt: Hand) -> None:
    """Harm: a typing error leaves a pit boss without a pit, or gives a pit to a person without permission to run it; or
    a pit boss widens their own assignment."""
    before = Post.objects.count()
    for post, by, sentence in (
        (AssignmentChange("dora", ("Pit 1",)), olga(), "dora runs no floor here"),
        (AssignmentChange("nobody", ("Pit 1",)), olga(), "name an active pit boss"),
        (AssignmentChange("bella", ("Pit 9",)), olga(), "There is no pit Pit 9: there is Pit 1 and Pit 2."),
        (AssignmentChange("bella", ("Pit 1", "Pit 1")), olga(), "Name a pit once"),
        (AssignmentChange("bella", ("Pit 1",), whole_floor=True), olga(), "either pits or the whole floor"),
        (AssignmentChange("bella", whole_floor=True), bella(), "operator"),
    ):
        with pytest.raises(Refused, match=sentence):
            pit_assignments.set_post(post, by=by)
    assert Post.objects.count() == before


def test_of_two_operators_the_second_is_told(felt: Hand) -> None:
    """Harm: two operators make the roster at once, and one half is lost without a word."""
    row = Post.objects.get(username="bella")
    pit_assignments.set_post(AssignmentChange("bella", ("Pit 1",)), basis_seq=row.seq, by=olga())
    omar = floor.staff(Role.OPERATOR, "omar", "302")
    refused = refusal(
        lambda: pit_assignments.set_post(AssignmentChange("bella", ("Pit 1", "Pit 2")), basis_seq=row.seq, by=omar)
    )
    assert refused.code == "changed_meanwhile"
    assert "301 Olga set bella's post meanwhile" in refused.sentence


def test_to_run_more_takes_two_people_where_access_does(felt: Hand) -> None:
    """Harm: one operator alone gives a friend the high limits, in a house where access takes two."""
    omar = floor.staff(Role.OPERATOR, "omar", "302")
    policies.change({"two_people": True}, by=olga())
    assert (
        refusal(lambda: pit_assignments.set_post(AssignmentChange("bella", ("Pit 1", "Pit 2")), by=olga())).code
        == "second_person"
    )
    draft = pit_assignments.draft(AssignmentChange("bella", ("Pit 1", "Pit 2")))
    assert draft is not None
    proposal = proposals.propose(draft, "Ann is away", by=olga())
    proposals.approve(proposal, by=omar)
    assert pit_assignments.duty_of(bella()).pits == {"Pit 1", "Pit 2"}
    pit_assignments.set_post(AssignmentChange("bella", ("Pit 1",)), by=olga())
    assert fault() == ""


# --- cover -------------------------------------------------------------------------------------------------------


def test_a_pit_is_taken_over_in_an_emergency_and_everybody_reads_why(felt: Hand) -> None:
    """Harm: a floor waits for an operator while a table burns; or somebody ran another pit, and nobody can tell why."""
    pit_assignments.take_over("Pit 1", timezone.now() + timedelta(hours=2), "Ann was called away", by=bella())
    enter(felt, "bella", LOCK)
    pit_assignments.give_back("Pit 1", by=bella())
    refused = refusal(lambda: enter(felt, "bella", inputs.RuleDispute(1, "house", "It is over")))
    assert refused.code == "not_your_pit"
    assert fault(felt.table.name) == ""
    assert fault() == ""
    assert row_comparison.compare().faults == []
    report = exceptions.of_day(gaming_hours.day_of(timezone.now()), whole=False)
    lines = [line.says for line in report.lines if line.matter is POSTS]
    assert any("Bella takes over Pit 1 until" in words and "Ann was called away" in words for words in lines)


def test_a_temporary_assignment_has_an_end_and_a_reason(felt: Hand) -> None:
    """Harm: an emergency lasts for weeks, or a dealer takes over a pit."""
    for pit, hours_ahead, reason, by, sentence in (
        ("Pit 9", 1, "Why not", bella(), "There is no pit Pit 9"),
        ("Pit 1", 13, "Why not", bella(), "within 12 hours"),
        ("Pit 1", -1, "Why not", bella(), "within 12 hours"),
        ("Pit 1", 1, "  ", bella(), "why: the operators read it"),
        ("Pit 2", 1, "Why not", bella(), "Bella runs Pit 2 anyway"),
        ("Pit 1", 1, "Why not", felt.by, "Only who runs the floor"),
    ):
        with pytest.raises(Refused, match=sentence):
            pit_assignments.take_over(pit, timezone.now() + timedelta(hours=hours_ahead), reason, by=by)
    assert not PitCover.objects.exists()


# --- tables that move --------------------------------------------------------------------------------------------


def test_a_table_that_moves_in_mid_shift_is_the_other_pit_s_from_then_on(felt: Hand, clock: Clock) -> None:
    """Harm: a proof of yesterday goes by where the table stands today, and calls honest people liars."""
    floor.staff(Role.PIT_BOSS, "ann", "210")
    pit_assignments.set_post(AssignmentChange("ann", ("Pit 1",)), by=olga())
    enter(felt, "ann", LOCK)
    section("Pit 1")
    section("Pit 2", "Rocket 1", "Rocket 2")
    clock.stand(timezone.now() + timedelta(minutes=1))
    floor.staff(Role.SECURITY, "sid", "401")
    unlock = inputs.UnlockRack("It is over", second="sid")
    assert refusal(lambda: enter(felt, "ann", unlock)).code == "not_your_pit"
    enter(felt, "bella", unlock)
    assert fault(felt.table.name) == ""
    assert fault() == ""


# --- what a proof says -------------------------------------------------------------------------------------------


def test_an_act_that_bypassed_the_rule_is_named(felt: Hand, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a writer to the database bypasses the checks and runs any table under any name, or under a badge alone."""
    felt.bets(seat1=2_000)
    clock.stand(timezone.now() + timedelta(minutes=1))
    monkeypatch.setattr(pit_assignments, "refuse_any", lambda *_: None)
    for act in (lambda: enter(felt, "bella", LOCK), lambda: Hand(felt.table, bella())("take_back")):
        with rollback():
            act()
            assert fault(felt.table.name) == "bella ran the floor at Rocket 1 in Pit 1, which was no pit of theirs then"


def test_forged_posts_are_named(felt: Hand) -> None:
    """Harm: a post is written into the book with another floor, from a moment that was over, or for who runs none."""
    standing_posts = pit_assignments.stands()
    honest = PostSet(
        username="bella", name="Bella", badge=None, pits=("Pit 1",),
        effective=policies.spelled(timezone.now() + timedelta(hours=1)), floor=standing_posts,
    )  # fmt: skip
    cover = CoverSet(
        username="bella", name="Bella", badge=None, role="pit_boss", pit="Pit 1", reason="Ann is ill",
        until=policies.spelled(timezone.now() + timedelta(hours=1)), floor=standing_posts,
    )  # fmt: skip
    forgeries = [
        (structs.replace(honest, floor=standing_posts[:1]), "stood elsewhere"),
        (structs.replace(honest, pits=("Pit 9",)), "no pit Pit 9"),
        (structs.replace(honest, effective="2020-01-01T00:00:00+00:00"), "was over"),
        (structs.replace(cover, until=policies.spelled(timezone.now() + timedelta(days=3))), "too long"),
        (structs.replace(cover, role="dealer"), "a pit boss takes over a pit"),
        (structs.replace(cover, username="ann"), "signed by ann Bella, and bella Bella wrote it"),
    ]
    for forgery, sentence in forgeries:
        with rollback():
            by = bella().signature if isinstance(forgery, CoverSet) else olga().signature
            log.append(site_log.lock(), log.Draft.of(forgery, by))
            assert sentence in fault(), forgery


# --- what it costs -----------------------------------------------------------------------------------------------


def test_the_rule_costs_the_same_however_many_posts_there_were(felt: Hand) -> None:
    """Harm: each act on the floor reads every roster that there ever was."""

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            refusal(lambda: pit_assignments.refuse(bella(), "Rocket 1"))
        return len(captured)

    query_count = queries()
    for number in range(6):
        pit_assignments.set_post(AssignmentChange("bella", ("Pit 2",) if number % 2 else ()), by=olga())
        pit_assignments.set_post(AssignmentChange("paul", (f"Pit {number % 2 + 1}",)), by=olga())
    assert queries() == query_count
