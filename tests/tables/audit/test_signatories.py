"""`verify` names each signed entry that one person signed twice, or that another person wrote than the one it names.

The forger writes as the ledger does: numbers, hashes and transfers fit. Only the signer is another.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from msgspec import structs

from ledger import cage, log
from ledger.log import Draft
from ledger.models import HOUSE, Book, LogEntry
from ledger.proof.moves import Move
from tables.approvals import proposals
from tables.audit import proofs
from tables.cage import cage_desk
from tables.floor import recorder
from tables.floor.inputs import (
    BeginBackEntry,
    BeginSlip,
    DeclineCorrection,
    EndBackEntry,
    Input,
    LockRack,
    ProposeCorrection,
    SignCorrection,
    SignSlip,
    UnlockRack,
)
from tables.log.catalog import read
from tables.log.entries.corrections import CorrectionProposed
from tables.log.event import Event
from tables.log.signatory import Signatory
from tables.models import DayClose, Proposal, ProposalEnd, Staff
from tables.reports import day_close, gaming_hours
from tables.roles import Role
from tables.setup import policies
from tables.setup.dual_control import ProposalDraft
from tables.staff import codes, staffing
from tests import floor
from tests.clock import Clock
from tests.database import rollback
from tests.floor import Hand, crew, dealt
from tests.ready import ready_made
from tests.tables.floor.acts import refusal, verify
from tests.tables.reports.test_figures import box, plays
from tests.tables.staff.test_codes import reset
from tests.terms import read_again

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

TWICE = "its two signatures are not of two people"
GHOST = "999 Ghost"


@dataclass(frozen=True)
class Honest:
    """An entry as the floor wrote it, before it was rolled back."""

    book_id: int
    event: Event
    by: str
    round: int | None
    moves: Sequence[Move]


def honest(book_id: int, act: Callable[[], object]) -> Honest:
    """The entry that an act writes. The act is rolled back."""
    with rollback():
        act()
        row = LogEntry.objects.filter(book_id=book_id).latest("seq")
        event = read(row.subject, row.kind, bytes(row.body), house=row.book.name == HOUSE)
        moves = [posted.move for posted in cage.transfers_of(book_id, [row.seq])]
        assert proofs.verify(row.book).fault is None
        return Honest(book_id, event, row.by, row.round, moves)


def fault_of(
    entry: Honest, *, by: str | None = None, row: Callable[[int], object] | None = None, **changes: Any
) -> str:
    """Append the entry with these changes, and return the fault that names it. ``row``: makes the rows of the entry."""
    with rollback():
        draft = Draft.of(structs.replace(entry.event, **changes), by or entry.by, round=entry.round)
        with transaction.atomic():
            seq = cage.post(log.lock(entry.book_id), draft, entry.moves).seq
            if row is not None:
                row(seq)
        fault = proofs.verify(Book.objects.get(pk=entry.book_id)).fault
        assert fault is not None, "the forgery was believed"
        assert fault.seq == seq, fault
        return fault.what


def wrote(entry: Honest) -> str:
    """The fault of an entry that another person wrote than the one it names."""
    return f"it is signed by {entry.by}, and {GHOST} wrote it"


def signed_by(person: Staff) -> dict[str, Any]:
    """The fields of an entry that names a person as its author."""
    return structs.asdict(person.signatory)


def enter(hand: Hand, by: Staff, entered: Input) -> None:
    recorder.record(hand.table, entered, by=by, key=uuid.uuid4(), expected_seq=None)


@pytest.fixture
@ready_made
def felt() -> Hand:
    """A table at which seat 1 won 20 and seat 4 lost."""
    dealer, _ = dealt(options={"decks": 6})
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 9)
    dealer("choose", seat=4, choice="fold")
    dealer.cards(10)
    dealer.pay()
    return dealer


@pytest.fixture
def boss(felt: Hand) -> Staff:
    """The pit boss of the table, with a badge."""
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    return staffing.change_staff(Staff.objects.get(username="bella"), {"badge": "201"}, by=olga)


def house_id() -> int:
    return Book.objects.get(name=HOUSE).pk


# --- one test for each signed thing ------------------------------------------------------------------------------


def test_a_step_of_a_slip(felt: Hand, boss: Staff) -> None:
    """Harm: one person requests chips from the cage and gives them out, or signs for a person who was not there."""
    table = felt.table
    floor.signs(table, boss, BeginSlip("fill", ((100, 50),)))
    slip = felt.now.slips[-1].name
    entry = honest(table.book_id, lambda: floor.signs(table, crew("issued"), SignSlip(slip, "issued")))
    again = signed_by(boss) | {"role": "cashier"}
    assert "signed on this slip already: another person has to" in fault_of(entry, by=boss.signature, **again)
    assert fault_of(entry, by=GHOST) == wrote(entry)


def test_a_step_of_a_slip_of_the_house(felt: Hand) -> None:
    """Harm: the log of the house names a cashier for a signature that another person gave; no other rule compares
    them."""
    cashiers = [floor.staff(Role.CASHIER, name, badge) for name, badge in (("cora", "401"), ("carl", "402"))]
    chips = ((100, 50_000),)

    def sign(by: Staff, entered: Any) -> str:
        return cage_desk.sign(entered, by=by, key=uuid.uuid4())

    begun = honest(house_id(), lambda: sign(cashiers[0], BeginSlip("cage", chips)))
    assert fault_of(begun, by=GHOST) == wrote(begun)
    slip = sign(cashiers[0], BeginSlip("cage", chips))
    entry = honest(house_id(), lambda: sign(cashiers[1], SignSlip(slip, "recounted", chips)))
    again = signed_by(cashiers[0])
    assert "signed on this slip already" in fault_of(entry, by=cashiers[0].signature, **again)
    assert fault_of(entry, by=GHOST) == wrote(entry)


def test_a_dealer_with_a_new_badge_signs_a_slip_as_they_signed_in(felt: Hand, boss: Staff) -> None:
    """Harm: an honest evening is not verified because the dealer who received a fill got another badge that day."""
    table = felt.table
    floor.signs(table, crew("requested"), BeginSlip("fill", ((100, 50),)))
    slip = felt.now.slips[-1].name
    for stage in ("issued", "carried"):
        floor.signs(table, crew(stage), SignSlip(slip, stage))
    staffing.change_staff(Staff.objects.get(username="dora"), {"badge": "117"}, by=Staff.objects.get(username="olga"))
    floor.signs(table, Staff.objects.get(username="dora"), SignSlip(slip, "received"))
    assert LogEntry.objects.filter(book_id=table.book_id).latest("seq").by == "101 Dora"
    verify(table)


def test_a_correction(felt: Hand, boss: Staff) -> None:
    """Harm: the pit boss who proposed a correction signs it, under a second user name with the badge of the first."""
    bruno, slip = _proposed_correction(felt, boss)
    entry = honest(felt.table.book_id, lambda: enter(felt, bruno, SignCorrection(slip)))
    assert TWICE in fault_of(entry, by=boss.signature, **signed_by(boss))
    alias = structs.replace(boss.signatory, username="bernd", name="Bernd")
    assert TWICE in fault_of(entry, by=alias.signature, **structs.asdict(alias))
    assert fault_of(entry, by=GHOST) == wrote(entry)


def test_the_first_signature_on_a_correction(felt: Hand, boss: Staff) -> None:
    """Harm: a correction is proposed in the name of a pit boss who knows nothing of it, so that its author may sign."""
    bruno = floor.staff(Role.PIT_BOSS, "bruno", "202")
    propose = ProposeCorrection(round=1, seat=1, handed_cents=0, reason="Seat 1 was passed over")
    entry = honest(felt.table.book_id, lambda: enter(felt, boss, propose))
    assert fault_of(entry, by=GHOST) == wrote(entry)
    assert isinstance(entry.event, CorrectionProposed)
    named = structs.replace(entry.event.correction, proposed_by="bruno", proposed_as=bruno.signature)
    assert 'its correction.proposed_as is "202 Bruno"' in fault_of(entry, correction=named, open=(named,))
    assert "may not propose it as cashier" in fault_of(entry, role="cashier")


def test_a_correction_that_is_declined(felt: Hand, boss: Staff) -> None:
    """Harm: the pit boss who proposed a correction takes it back under the rules for a second person, or a cashier
    declines it."""
    bruno, slip = _proposed_correction(felt, boss)
    entry = honest(felt.table.book_id, lambda: enter(felt, bruno, DeclineCorrection(slip, "The camera shows it")))
    assert TWICE in fault_of(entry, by=boss.signature, **signed_by(boss))
    assert fault_of(entry, by=GHOST) == wrote(entry)
    assert "may not sign it as cashier" in fault_of(entry, role="cashier")


def test_a_correction_that_is_signed_with_a_pin_that_was_reset(felt: Hand, boss: Staff) -> None:
    """Harm: two operators reset the PIN of a pit boss and sign a correction in that name, and no proof finds it."""
    bruno, slip = _proposed_correction(felt, boss)
    entry = honest(felt.table.book_id, lambda: enter(felt, bruno, SignCorrection(slip)))
    bruno = reset(bruno, Staff.objects.get(username="olga"), floor.staff(Role.OPERATOR, "omar", "302"))
    assert refusal(enter, felt, bruno, SignCorrection(slip)).code == "barred"
    assert "bruno signs a paper that was open when their PIN was reset" in fault_of(entry)


def _proposed_correction(felt: Hand, boss: Staff) -> tuple[Staff, str]:
    """Another pit boss, and the correction that waits for the signature of one."""
    bruno = floor.staff(Role.PIT_BOSS, "bruno", "202")
    enter(felt, boss, ProposeCorrection(round=1, seat=1, handed_cents=0, reason="Seat 1 was passed over"))
    return bruno, LogEntry.objects.filter(book_id=felt.table.book_id).latest("seq").content["correction"]["slip"]


def test_the_floor_refuses_the_badge_of_the_first_signer(felt: Hand, boss: Staff) -> None:
    """Harm: the floor takes a second signature that the proof rejects: a badge was given to another user name in
    between."""
    olga, bruno = Staff.objects.get(username="olga"), floor.staff(Role.PIT_BOSS, "bruno", "202")
    enter(felt, boss, ProposeCorrection(round=1, seat=1, handed_cents=0, reason="Seat 1 was passed over"))
    slip = LogEntry.objects.filter(book_id=felt.table.book_id).latest("seq").content["correction"]["slip"]
    nina = staffing.add_staff(username="nina", name="Nina", role="dealer", by=olga)
    code = codes.ask(nina, "password", by=staffing.change_staff(olga, {"badge": "309"}, by=olga)).code
    for person, badge in ((boss, "209"), (bruno, "201"), (olga, "310")):
        staffing.change_staff(person, {"badge": badge}, by=olga)
    bruno.refresh_from_db()
    refused = refusal(enter, felt, bruno, SignCorrection(slip))
    assert (refused.code, refused.sentence) == (
        "signed_already",
        "Bella proposed it under badge 201, which Bruno has: another person has to sign.",
    )
    staffing.change_staff(bruno, {"badge": "309"}, by=olga)
    bruno.refresh_from_db()
    assert refusal(codes.confirm, code, by=bruno).code == "own_code"


def test_a_pair_of_back_entry(felt: Hand, boss: Staff, clock: Clock) -> None:
    """Harm: one pit boss alone enters rounds from paper, with an invented second person."""
    carl = floor.staff(Role.CASHIER, "carl", "402")
    clock.stand(timezone.now() + timedelta(hours=2))
    since, until = (timezone.now() - timedelta(minutes=minutes) for minutes in (65, 5))
    begin = BeginBackEntry(since=since, until=until, reason="server", note="away", second="carl")
    for entered in (begin, EndBackEntry("carl")):
        entry = honest(felt.table.book_id, lambda entered=entered: enter(felt, boss, entered))
        assert TWICE in fault_of(entry, second=structs.replace(boss.signatory, role="cashier"))
        assert TWICE in fault_of(entry, second=structs.replace(carl.signatory, badge=boss.badge))
        assert fault_of(entry, by=GHOST) == wrote(entry)
        enter(felt, boss, entered)


def test_the_second_signature_on_an_irregularity(felt: Hand, boss: Staff) -> None:
    """Harm: the person who locked a rack unlocks it alone, and signs twice."""
    gus = floor.staff(Role.SECURITY, "gus", "502")
    enter(felt, boss, LockRack("a seal is broken"))
    entry = honest(felt.table.book_id, lambda: enter(felt, boss, UnlockRack("it was found", gus.username)))
    assert TWICE in fault_of(entry, second=structs.replace(boss.signatory, role="security"))
    assert TWICE in fault_of(entry, second=structs.replace(gus.signatory, badge=boss.badge))
    assert fault_of(entry, by=GHOST) == wrote(entry)


def test_the_approval_of_a_reopened_round(felt: Hand, boss: Staff) -> None:
    """Harm: a dealer reopens a settled round with an approval under their own user name and an invented badge."""
    dealer, _ = felt, boss
    dealer.bets(seat1=2_000)
    dealer.cards(9, 3)
    entry = honest(dealer.table.book_id, dealer.reopens)
    invented = Signatory("dora", "Dora", "999", "pit_boss")
    assert "may not approve the reopening" in fault_of(entry, second=invented)
    assert "may not approve the reopening" in fault_of(entry, second=Signatory("zoe", "Zoe", "101", "pit_boss"))


def test_the_approval_of_a_proposal(felt: Hand, boss: Staff) -> None:
    """Harm: one operator proposes a table's limits and approves them, under a second user name."""
    olga, omar = Staff.objects.get(username="olga"), floor.staff(Role.OPERATOR, "omar", "302")
    policies.change({"two_people": True, "two_people_limit_cents": 20_000}, by=olga)
    read_again()
    draft = ProposalDraft("terms", "", {"proposal_hours": 48}, {"proposal_hours": 24})
    proposal = proposals.propose(draft, "", by=olga)
    entry = honest(house_id(), lambda: proposals.decline(proposal, "not now", by=omar))
    assert fault_of(entry, by=GHOST).endswith(f"and {GHOST} wrote it")
    assert "as it is kept beside the log, is another" in fault_of(
        entry, by=olga.signature, username="olga", name="Olga"
    )
    alias = Signatory("otto", "Otto", olga.badge, "operator")
    end_row = lambda seq: _end_row(proposal, seq, alias)  # noqa: E731
    assert TWICE in fault_of(entry, by=alias.signature, row=end_row, username="otto", name="Otto")


def _end_row(proposal: Proposal, seq: int, by: Signatory) -> None:
    facts = {"outcome": "declined", "text": "not now", "by": by.signature, "at": timezone.now()}
    ProposalEnd.objects.create(
        proposal=proposal, seq=seq, proposed_by=proposal.proposed_by, ended_by=by.username, **facts
    )


def test_the_confirmation_of_a_one_time_code(felt: Hand, boss: Staff) -> None:
    """Harm: one operator asks for a code and confirms it, and so makes the PIN of a dealer."""
    olga = Staff.objects.get(username="olga")
    nina = staffing.add_staff(username="nina", name="Nina", role="dealer", by=olga)
    code = codes.ask(nina, "password", by=olga).code
    entry = honest(house_id(), lambda: codes.confirm(code, by=boss))
    assert "is not of two people" in fault_of(entry, by=olga.signature, signer="olga", signer_role="operator")
    assert fault_of(entry, by=GHOST) == wrote(entry)
    assert fault_of(entry, by="bob Bob") == "it is signed by bella Bob, and bob Bob wrote it"


def test_the_close_of_a_day(felt: Hand, boss: Staff, clock: Clock) -> None:
    """Harm: the pit boss who signed a day's figures closes the day, under a second user name."""
    on = _over(felt, boss, clock)
    olga = Staff.objects.get(username="olga")
    first = day_close.propose(on, by=boss)
    entry = honest(house_id(), lambda: day_close.close(on, by=olga, digest=first.digest))
    assert TWICE in fault_of(entry, by="201 Bella", **boss.signatory.unbadged | {"role": "operator"})
    assert fault_of(entry, by="bob Bob") == "it is signed by olga Olga, and bob Bob wrote it"


def test_the_first_signature_under_a_day(felt: Hand, boss: Staff, clock: Clock) -> None:
    """Harm: a day's figures are signed first in the name of a pit boss who never saw them, or by a dealer."""
    on = _over(felt, boss, clock)
    entry = honest(house_id(), lambda: day_close.propose(on, by=boss))
    assert fault_of(entry, by="bob Bob") == "it is signed by bella Bella, and bob Bob wrote it"
    assert "may not sign it as dealer" in fault_of(entry, role="dealer")


def test_a_day_that_is_closed_with_a_pin_that_was_reset(felt: Hand, boss: Staff, clock: Clock) -> None:
    """Harm: two people reset the PIN of an operator and close a day in that name, and no proof finds it."""
    on = _over(felt, boss, clock)
    olga, omar = Staff.objects.get(username="olga"), floor.staff(Role.OPERATOR, "omar", "302")
    first = day_close.propose(on, by=boss)
    entry = honest(house_id(), lambda: day_close.close(on, by=olga, digest=first.digest))
    clock.stand(timezone.now() + timedelta(hours=1))
    olga = reset(olga, omar, boss)
    assert refusal(day_close.close, on, by=olga, digest=first.digest).code == "barred"
    row = {"day": on, "proposed_by": "bella", "closed_by": "olga", "at": timezone.now()}
    close_row = lambda seq: DayClose.objects.create(seq=seq, **row)  # noqa: E731
    assert "olga signs a paper that was open when their PIN was reset" in fault_of(entry, row=close_row)


def _over(felt: Hand, boss: Staff, clock: Clock) -> date:
    """A day that is over, with everything counted."""
    noon = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=1)
    clock.stand(noon)
    plays(felt)
    Hand(felt.table, boss)("close_table")
    box(felt.table, cash=())
    clock.stand(noon + timedelta(days=2))
    return gaming_hours.day_of(noon)
