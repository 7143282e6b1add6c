"""Two people for settings that move money: proposed by one, approved by another, done with the approval, proved."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from ledger import log, site_log
from ledger.log import Draft as Entry
from ledger.models import HOUSE, Book, LogEntry
from tables.approvals import proposals
from tables.audit import proofs, row_comparison
from tables.cage import denominations
from tables.limits import plans
from tables.log.entries.chips import DenominationAdded
from tables.log.entries.house_terms import TermsChanged
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.pits import PitSectionSet
from tables.log.entries.proposals import ProposalApproved
from tables.log.entries.service_accounts import ServiceAccountSet
from tables.log.entries.settings import TableSet
from tables.log.entries.staff import StaffAdded, StaffChanged
from tables.log.limit_plans import Always
from tables.models import Denomination, HouseTerms, PayTable, Post, Proposal, ProposalEnd, Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import pay_tables, pit_assignments, pits, policies, service_accounts, table_settings
from tables.setup.dual_control import HANDLERS, ProposalDraft
from tables.setup.service_accounts import Access
from tables.staff import staffing
from tables.state import table_state
from tests import database, floor
from tests.clock import Clock
from tests.ready import ready_made
from tests.terms import read_again

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

TIE = {"tie": {"tie": "9:1"}}
LOUNGE = Access(
    purpose="Shows the boards", scopes=("read:board",), expires=timezone.now() + timedelta(days=30, microseconds=1)
)
SETTINGS = [matter for matter in HANDLERS if matter not in ("call_off", "edge")]
"""A wager in the player's favour takes two people in any house: ``test_table_settings.py``."""
"""What is set; to call off what was approved is about one of these (test_dated_proposals)."""


@pytest.fixture
def olga(db: None) -> Staff:
    return operator("olga", "301")


@pytest.fixture
def omar(db: None) -> Staff:
    return operator("omar", "302")


def operator(name: str, badge: str) -> Staff:
    return Staff.objects.filter(username=name).first() or floor.staff(Role.OPERATOR, name, badge)


@pytest.fixture
def open_house(db: None) -> Table:
    """A site in operation with a table and dual control. A test that names this fixture first starts from its saved
    rows."""
    table = _house_of_two_people()
    read_again()
    return table


@ready_made
def _house_of_two_people() -> Table:
    operator("omar", "302")
    floor.staff(Role.PIT_BOSS, "bella", "201")
    table = floor.table()
    policies.change({"two_people": True, "two_people_limit_cents": 20_000}, by=operator("olga", "301"))
    return table


def fault() -> str:
    """What a proof of every book finds, and of the rows beside them."""
    faults = [proofs.verify(book).fault for book in Book.objects.order_by("pk")]
    return " ".join([fault.what for fault in faults if fault] + row_comparison.compare().faults)


def kinds() -> list[str]:
    """The kinds of the entries about proposals, in log order."""
    rows = LogEntry.objects.filter(book__name=HOUSE, subject="proposal").order_by("seq")
    return list(rows.values_list("kind", flat=True))


@contextmanager
def rollback() -> Iterator[None]:
    """Undo what is written here, in the database and in the caches of this process."""
    with database.rollback():
        yield
    table_state.cache.clear()
    read_again()


SEASON = LimitPlanSet(
    name="Season", version=0, scope="house", schedule=Always(), values={"max_cents": 30_000}, effective=""
)


def more_than_a_pit(table: Table) -> pit_assignments.AssignmentChange:
    """The whole floor for a pit boss who has run one pit so far."""
    by = Staff.objects.filter(role=Role.OPERATOR)[0]
    if not Post.objects.exists():
        pits.set_section(PitSectionSet(pit="Pit 1", tables=(table.name,)), by=by)
        pit_assignments.set_post(pit_assignments.AssignmentChange("paul", ("Pit 1",)), by=by)
    return pit_assignments.AssignmentChange("paul", whole_floor=True)


def draft_of(matter: str, table: Table) -> ProposalDraft:
    """A change of each matter, as its form would propose it."""
    chip = Denomination.objects.order_by("pk").first()
    drafts: dict[str, Callable[[], ProposalDraft | None]] = {
        "terms": lambda: policies.draft({"pin_digits_min": 8}),
        "profile": lambda: policies.draft({"pin_digits_min": 8}, profile="neutral"),
        "limits": lambda: table_settings.draft_of_change(table, {"max_cents": 30_000}),
        "take": lambda: table_settings.draft_of_new("Regent 1", a_table(rake_permille=50)),
        "pays": lambda: table_settings.draft_of_change(table, {"options": {"decks": 2}}),
        "pay_table": lambda: pay_tables.draft("baccarat", "Nine to one", TIE),
        "chips": lambda: denominations.draft(chip, 0, {"colour": "lilac", "face": "#aa00aa"}),
        "staff": lambda: staffing.draft("dan", {"name": "Dan", "role": "dealer", "badge": "102"}),
        "service_account": lambda: service_accounts.draft("Lounge", LOUNGE),
        "limit_plan": lambda: plans.draft_of(SEASON, expected_version=0),
        "post": lambda: pit_assignments.draft(more_than_a_pit(table)),
    }
    draft = drafts[matter]()
    assert draft is not None
    return draft


def alone(matter: str, table: Table, by: Staff) -> None:
    """The same by one person."""
    chip = Denomination.objects.order_by("pk").first()
    assert chip is not None
    deeds: dict[str, Callable[[], object]] = {
        "terms": lambda: policies.change({"pin_digits_min": 8}, by=by),
        "profile": lambda: policies.change({"pin_digits_min": 8}, by=by, profile="neutral"),
        "limits": lambda: table_settings.change_table(table, {"max_cents": 30_000}, by=by),
        "take": lambda: table_settings.create_table("Regent 1", a_table(rake_permille=50), by=by),
        "pays": lambda: table_settings.change_table(table, {"options": {"decks": 2}}, by=by),
        "pay_table": lambda: pay_tables.make("baccarat", "Nine to one", TIE, by=by),
        "chips": lambda: denominations.change_denomination(chip, {"colour": "lilac", "face": "#aa00aa"}, by=by),
        "staff": lambda: staffing.add_staff(username="dan", name="Dan", role="dealer", badge="102", by=by),
        "service_account": lambda: service_accounts.set_account("Lounge", LOUNGE, by=by),
        "limit_plan": lambda: plans.set_plan(SEASON, expected_version=0, by=by),
        "post": lambda: pit_assignments.set_post(more_than_a_pit(table), by=by),
    }
    deeds[matter]()


def a_table(**settings: Any) -> table_settings.Settings:
    chosen = {
        "game": "regent", "options": {}, "seats": 4, "unit_cents": 100, "min_cents": 1_000, "max_cents": 10_000,
        "denominations": (100, 500),
    } | settings  # fmt: skip
    return table_settings.Settings(**chosen)


def rows() -> dict[str, int]:
    """What an approval may change, counted."""
    return {
        model.__name__: model.objects.count()
        for model in (HouseTerms, PayTable, Staff, Table, Denomination, Proposal, ProposalEnd, LogEntry)
    }


@pytest.mark.parametrize("matter", SETTINGS)
def test_one_person_is_refused_and_two_do_it(matter: str, open_house: Table, olga: Staff, omar: Staff) -> None:
    """Harm: one person moves what the house pays, takes, allows or trusts; or two cannot."""
    if matter == "post":
        more_than_a_pit(open_house)
    before = rows()
    with pytest.raises(Refused) as refused:
        alone(matter, open_house, olga)
    assert refused.value.code == "second_person"
    assert rows() == before, "something half done stays"

    proposal = proposals.propose(draft_of(matter, open_house), "For the season", by=olga)
    assert proposal.matter == matter
    assert proposals.waiting_for(omar) == [proposal]
    assert proposals.waiting_for(olga) == []
    assert all(part for line in proposals.changes(proposal) for part in line)
    end = proposals.approve(proposal, by=omar)
    assert (end.outcome, end.ended_by) == ("approved", "omar")
    assert not proposals.waiting().exists()
    if matter in ("terms", "profile"):
        read_again()
        assert policies.number("pin_digits_min") == 8
    assert fault() == ""
    with pytest.raises(Refused, match="approved by"):
        proposals.approve(proposal, by=omar)


def test_while_a_house_is_set_up_one_person_does(olga: Staff) -> None:
    """Harm: a house with one operator cannot be set up, so somebody invents the second."""
    table = floor.table()
    for matter in SETTINGS:
        with rollback():
            with pytest.raises(AssertionError):
                draft_of(matter, table)
            alone(matter, table, olga)
            assert fault() == "", matter


def test_it_takes_two_operators_to_need_two(olga: Staff) -> None:
    """Harm: a house that asks for a second person and has none can change nothing any more."""
    with pytest.raises(Refused, match="take on another operator"):
        policies.change({"two_people": True}, by=olga)


def test_only_two_loosen_it_again(open_house: Table, olga: Staff, omar: Staff) -> None:
    """Harm: who finds it in the way switches it off."""
    for values in ({"two_people": False}, {"two_people_for": ()}, {"two_people_limit_cents": 10**9}):
        with pytest.raises(Refused, match="two people"):
            policies.change(values, by=omar)
    draft = policies.draft({"two_people": False})
    assert draft is not None
    proposals.approve(proposals.propose(draft, "", by=olga), by=omar)
    table_settings.change_table(open_house, {"max_cents": 30_000}, by=olga)
    assert fault() == ""


def test_a_small_change_takes_one_operator(open_house: Table) -> None:
    """Harm: every small change of a setting waits for approval, so that people approve without looking."""
    matters: list[tuple[dict[str, Any], str | None]] = [
        ({"max_cents": 20_000}, None), ({"max_cents": 21_000}, "limits"), ({"min_cents": 2_000}, None),
        ({"cap_cents": 20_000}, None), ({"cap_cents": 50_000}, None),  # it had no exposure limit
        ({"options": {"decks": 2}}, "pays"), ({"seats": 4}, None),
    ]  # fmt: skip
    for changes, matter in matters:
        draft = table_settings.draft_of_change(open_house, changes)
        assert (draft.matter if draft else None) == matter, changes


def test_a_limit_that_falls_takes_one(open_house: Table, olga: Staff, omar: Staff) -> None:
    """Harm: a table that bleeds cannot be bridled before a second person is found."""
    proposals.approve(proposals.propose(draft_of("limits", open_house), "", by=olga), by=omar)
    open_house.refresh_from_db()
    table_settings.change_table(open_house, {"max_cents": 25_000}, by=olga)
    assert fault() == ""


@pytest.mark.parametrize("role", [Role.AUDITOR, Role.DEALER])
def test_only_another_operator_approves(open_house: Table, olga: Staff, role: Role) -> None:
    """Harm: an auditor approves a setting, or a dealer proposes the way in which the next shoe is dealt."""
    proposal = proposals.propose(draft_of("terms", open_house), "", by=olga)
    somebody = floor.staff(role, "somebody", "909")
    for deed in (
        lambda: proposals.approve(proposal, by=somebody),
        lambda: proposals.decline(proposal, "no", by=somebody),
    ):
        with pytest.raises(Refused, match="Only an operator"):
            deed()
    with pytest.raises(Refused, match="another person"):
        proposals.approve(proposal, by=olga)
    with pytest.raises(Refused, match="may not propose"):
        proposals.propose(draft_of("pays", open_house), "", by=somebody)


def test_a_pit_boss_proposes_limits_and_nothing_else(open_house: Table, omar: Staff) -> None:
    """Harm: a pit boss who notices a wrong limit can report it only by word of mouth, or sets it alone."""
    boss = Staff.objects.get(username="bella")
    draft = table_settings.draft_for_later(open_house, {"min_cents": 2_000})
    proposal = proposals.propose(draft, "A full house", by=boss)
    with pytest.raises(Refused, match="may not propose"):
        proposals.propose(draft_of("terms", open_house), "", by=boss)
    with pytest.raises(Refused, match="Only an operator"):
        proposals.approve(proposal, by=boss)
    assert proposals.next_changes("Rocket 1") == [proposal]
    proposals.approve(proposal, by=omar)
    open_house.refresh_from_db()
    assert open_house.min_cents == 2_000
    assert fault() == ""


def test_declined_and_withdrawn_with_a_reason(open_house: Table, olga: Staff, omar: Staff) -> None:
    """Harm: a proposal vanishes, and nobody can say who was against it."""
    declined = proposals.propose(draft_of("terms", open_house), "", by=olga)
    with pytest.raises(Refused, match="Say why"):
        proposals.decline(declined, "  ", by=omar)
    proposals.decline(declined, "Not in the season", by=omar)
    withdrawn = proposals.propose(draft_of("terms", open_house), "", by=olga)
    with pytest.raises(Refused, match="withdraws it"):
        proposals.withdraw(withdrawn, "mine", by=omar)
    proposals.withdraw(withdrawn, "A mistake", by=olga)
    assert [end.outcome for end in ProposalEnd.objects.order_by("seq")] == ["declined", "withdrawn"]
    for proposal in (declined, withdrawn):
        with pytest.raises(Refused, match="already"):
            proposals.approve(proposal, by=omar)
    assert fault() == ""


def test_one_waits_at_a_time(open_house: Table, olga: Staff, omar: Staff) -> None:
    """Harm: two proposals of one table, of which the second undoes the first unseen."""
    proposals.propose(draft_of("limits", open_house), "", by=olga)
    with pytest.raises(Refused, match="Proposal 1 waits already"):
        proposals.propose(draft_of("limits", open_house), "", by=omar)


def test_what_was_changed_meanwhile_makes_it_stale(open_house: Table, olga: Staff, omar: Staff) -> None:
    """Harm: the second person approves what they read, and something else happens."""
    proposal = proposals.propose(draft_of("limits", open_house), "", by=olga)
    table_settings.change_table(open_house, {"max_cents": 15_000}, by=olga)
    with pytest.raises(Refused, match="150 now"):
        proposals.approve(proposal, by=omar)
    assert proposals.waiting_for(omar) == [proposal]
    assert fault() == ""


def test_what_cannot_be_done_any_more_leaves_it_waiting(open_house: Table, olga: Staff, omar: Staff) -> None:
    """Harm: half of it is done: approved, and not changed."""
    proposal = proposals.propose(draft_of("staff", open_house), "", by=olga)
    house_terms_before = rows()
    floor.staff(Role.DEALER, "dana", "102")
    with pytest.raises(Refused, match="badge 102"):
        proposals.approve(proposal, by=omar)
    assert rows()["ProposalEnd"] == house_terms_before["ProposalEnd"]
    assert proposals.waiting_for(omar) == [proposal]


def test_it_expires(open_house: Table, olga: Staff, omar: Staff, clock: Clock) -> None:
    """Harm: a proposal of last year is approved by who finds it."""
    proposal = proposals.propose(draft_of("terms", open_house), "", by=olga)
    assert proposals.expire_due() == 0
    clock.stand(timezone.now() + timedelta(hours=73))
    with pytest.raises(Refused, match="has expired"):
        proposals.approve(proposal, by=omar)
    assert proposals.expire_due() == 1
    assert ProposalEnd.objects.get().outcome == "expired"
    assert fault() == ""


def test_terms_hold_from_when_the_proposal_says(open_house: Table, olga: Staff, omar: Staff, clock: Clock) -> None:
    """Harm: what two people approved for Monday holds on Sunday."""
    tomorrow = timezone.now() + timedelta(days=1)
    draft = policies.draft({"pin_digits_min": 8}, tomorrow)
    assert draft is not None
    proposals.approve(proposals.propose(draft, "", by=olga), by=omar)
    read_again()
    assert policies.number("pin_digits_min") == 6
    clock.stand(tomorrow + timedelta(seconds=1))
    assert policies.number("pin_digits_min") == 8
    assert fault() == ""


def test_the_database_itself_wants_two(open_house: Table, olga: Staff) -> None:
    """Harm: the same person approves past the functions that ask."""
    proposal = proposals.propose(draft_of("terms", open_house), "", by=olga)
    with pytest.raises(IntegrityError, match="by_two"), transaction.atomic():
        ProposalEnd(
            proposal=proposal, seq=99_999, outcome="approved", proposed_by="olga", ended_by="olga", by="x",
            at=timezone.now(),
        ).save()  # fmt: skip


# --- What a proof finds ----------------------------------------------------------------------------------------


def forge(event: Any, by: str = "301 Olga", book: str = HOUSE) -> int:
    """An entry that is added with fitting hashes."""
    with transaction.atomic():
        head = site_log.lock() if book == HOUSE else log.lock(Book.objects.get(name=book).pk)
        return log.append(head, Entry.of(event, by)).seq


FORGED: dict[str, Callable[[Table], Any]] = {
    "terms": lambda table: _forged_terms(),
    "limits": lambda table: forge(
        TableSet(before={"max_cents": 10_000}, after={"max_cents": 500_000}), book=table.name
    ),
    "chips": lambda table: forge(DenominationAdded(value_cents=7, colour="grey", face="#777777")),
    "staff": lambda table: forge(StaffAdded(username="mal", name="Mal", role="operator", badge=None, new=())),
    "service_account": lambda table: forge(
        ServiceAccountSet(name="Mole", purpose="x", scopes=("read:board",), expires=policies.spelled(LOUNGE.expires))
    ),
    "role": lambda table: forge(
        StaffChanged(username="dora", new=(), before={"role": "dealer"}, after={"role": "operator"})
    ),
}


def _forged_terms() -> None:
    with transaction.atomic():
        head = site_log.lock()
        moment = policies.spelled(head.moment)
        event = TermsChanged(effective=moment, before={"two_people": True}, after={"two_people": False})
        entry = log.append(head, Entry.of(event, "301 Olga"))
        HouseTerms(seq=entry.seq, effective=head.moment, values=event.after, by="301 Olga", at=head.moment).save()


def test_a_change_without_its_approval_is_found(open_house: Table) -> None:
    """Harm: whoever has the application's database role changes what takes two, with fitting hashes."""
    assert fault() == ""
    for matter, forgery in FORGED.items():
        with rollback():
            forgery(open_house)
            assert "it took two people, and no second one approved it" in fault(), matter


LOOSER: list[dict[str, Any]] = [
    {"wager_limits": {}},
    {"wager_limits": {"tie": (1_000, 30_000)}},
    {"seat_max_cents": 30_000},
    {"seat_max_cents": None},
    {"cap_cents": 5_000_000},
    {"cap_cents": None},
    {"max_cents": 60_000},
]


@pytest.fixture
def baccarat(open_house: Table, olga: Staff, omar: Staff) -> Table:
    """A table with every limit, which two people approved."""
    settings = replace(
        table_settings.settings_of(open_house), game="baccarat", options={}, max_cents=50_000, seat_max_cents=20_000,
        cap_cents=4_000_000, wager_limits={"tie": (1_000, 2_000)},
    )  # fmt: skip
    draft = table_settings.draft_of_new("Baccarat 1", settings)
    assert draft is not None
    proposals.approve(proposals.propose(draft, "", by=olga), by=omar)
    return Table.objects.get(name="Baccarat 1")


def test_every_limit_that_is_raised_or_removed_takes_two_people(baccarat: Table, olga: Staff, omar: Staff) -> None:
    """Harm: one operator raises or removes a limit alone, or decides it alone for later, though dual control is on."""
    for changes in LOOSER:
        with rollback():
            with pytest.raises(Refused) as refusal:
                table_settings.change_table(baccarat, changes, by=olga)
            assert refusal.value.code == "second_person", changes
            with pytest.raises(Refused, match="two people"):
                proposals.decide(table_settings.draft_for_later(baccarat, changes), "", by=olga)
            draft = table_settings.draft_of_change(baccarat, changes)
            assert draft is not None
            proposals.approve(proposals.propose(draft, "", by=olga), by=omar)
            assert fault() == ""


def test_a_limit_that_was_raised_alone_is_found_but_in_entries_of_before(baccarat: Table, open_house: Table) -> None:
    """Harm: an intruder with access to the database removes a limit and recomputes the hashes; or a site of an earlier
    release, whose rule let one person remove a limit, fails verification after an upgrade."""
    for changes in LOOSER:
        before = {name: getattr(baccarat, name) for name in changes}
        with rollback():
            Table.objects.filter(pk=baccarat.pk).update(**changes)
            forge(TableSet(before=before, after=changes), book=baccarat.name)
            assert "it took two people, and no second one approved it" in fault(), changes
    with rollback():
        Table.objects.filter(pk=open_house.pk).update(seat_max_cents=90_000)
        forge(TableSet(before={"seat_max_cents": None}, after={"seat_max_cents": 90_000}), book=open_house.name)
        Table.objects.filter(pk=open_house.pk).update(seat_max_cents=None)
        changed = {"before": {"seat_max_cents": 90_000}, "after": {"seat_max_cents": None}}
        forge(TableSet(**changed), book=open_house.name)
        assert fault() == ""


def test_an_approval_of_something_else_is_found(open_house: Table, olga: Staff, omar: Staff) -> None:
    """Harm: two people approved one thing, and another was entered under its number."""
    proposals.approve(proposals.propose(draft_of("limits", open_house), "", by=olga), by=omar)
    event = TableSet(before={"max_cents": 30_000}, after={"max_cents": 900_000}, proposal=1)
    forge(event, book=open_house.name)
    assert "it is not what proposal 1 says" in fault()


def test_a_forged_approval_is_found(open_house: Table, olga: Staff) -> None:
    """Harm: the second signature is the first one's, or of somebody who may not, or stands for nothing."""
    proposal = proposals.propose(draft_of("terms", open_house), "", by=olga)
    for username, role, sentence in (
        ("olga", "operator", "is another"),
        ("ada", "auditor", "may not approve it as auditor"),
        ("omar", "operator", "nothing was done"),
    ):
        with rollback():
            signature = f"302 {username.title()}"
            event = ProposalApproved(number=1, username=username, name=username.title(), role=role)
            # The row names the same approver as the entry, except where the database refuses it.
            _forge_end(proposal, forge(event, by=signature), username if username != "olga" else "nobody", signature)
            assert sentence in fault(), username
    with rollback():
        event = ProposalApproved(number=1, username="dora", name="Dora", role="operator")
        _forge_end(proposal, forge(event, by="102 Maria Dora"), "dora", "102 Maria Dora")
        assert "signed by 102 Dora, and 102 Maria Dora wrote it" in fault()


def _forge_end(proposal: Proposal, seq: int, username: str, signature: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO tables_proposalend (proposal_id, seq, outcome, proposed_by, ended_by, text, by, at)"
            " VALUES (%s, %s, 'approved', 'olga', %s, '', %s, now())",
            [proposal.pk, seq, username, signature],
        )
