"""Separation of duties: what nobody is at once, who signs no papers, and the review of access."""

from datetime import timedelta
from itertools import combinations
from typing import Any
from uuid import uuid4

import pytest

from ledger.models import HOUSE, Book, LogEntry
from tables.audit import proofs, row_comparison
from tables.cage import cage_desk
from tables.floor.inputs import BeginSlip, SignSlip
from tables.log import duties
from tables.log.slip_types import SLIP_TYPES, VOID
from tables.models import Staff
from tables.refusals import Refused
from tables.reports import access_review
from tables.roles import Role
from tables.staff import staffing
from tests import floor
from tests.clock import Clock
from tests.ready import ready_made

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
@ready_made
def olga() -> Staff:
    floor.table()
    floor.staff(Role.OPERATOR, "omar")
    return floor.staff(Role.OPERATOR, "olga")


def refused(deed: object) -> Refused:
    entries = LogEntry.objects.count()
    with pytest.raises(Refused) as raised:
        deed()  # type: ignore[operator]
    assert LogEntry.objects.count() == entries
    return raised.value


def sound() -> None:
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
    assert row_comparison.compare().faults == []


def test_no_paper_that_moves_chips_or_cash_is_signed_by_an_operator() -> None:
    """Harm: whoever gives access gives out chips too."""
    for record in (*SLIP_TYPES.values(),):
        for stage in (*record.stages, *VOID):
            assert duties.ADMINISTERS not in stage.roles, (record.name, stage.name)


def test_incompatible_roles_are_not_given_together(olga: Staff) -> None:
    """Harm: a cashier deals, an auditor counts, or an operator has a key to the cage."""
    together = {pair for pair in combinations(Role.values, 2) if not duties.conflicts(set(pair))}
    assert {frozenset(pair) for pair in together} == {
        frozenset(pair) for pair in (("dealer", "pit_boss"), ("cashier", "cage_manager"), ("security", "counter"))
    }
    facts: dict[str, Any] = {"username": "dual", "name": "Dual Rate", "role": "dealer", "badge": "555"}
    assert "at once" in refused(lambda: staffing.add_staff(**facts, further=["cashier"], by=olga)).sentence
    assert staffing.add_staff(**facts, further=["pit_boss"], by=olga).roles == ("dealer", "pit_boss")


def test_a_dual_rate_works_as_one_or_the_other(olga: Staff) -> None:
    """Harm: somebody signs a fill as pit boss and as dealer in one breath, or in a role that nobody gave them."""
    dual = staffing.add_staff(
        username="dual", name="Dual Rate", role="dealer", further=["pit_boss"], badge="555", by=olga
    )
    assert not dual.has_perm("tables.run_floor")
    assert refused(lambda: staffing.work_as(dual, "cashier")).code == "not_permitted"
    boss = staffing.work_as(dual, "pit_boss")
    assert (boss.role, boss.further) == ("pit_boss", ["dealer"])
    assert boss.has_perm("tables.run_floor")
    assert not boss.has_perm("tables.deal")
    entry = LogEntry.objects.filter(subject="staff").latest("seq")
    assert entry.content["after"] == {"role": "pit_boss", "further": ["dealer"]}
    sound()


def test_whoever_stands_at_a_table_taps_out_first(olga: Staff) -> None:
    """Harm: a table without a dealer in mid-round, or a dealer who signs the floor's step of a fill at it."""
    dealer, _ = floor.dealt(name="Rocket 2")
    staffing.change_staff(dealer.by, {"further": ["pit_boss"]}, by=olga)
    assert refused(lambda: staffing.work_as(dealer.by, "pit_boss")).code == "at_a_table"


def test_who_administered_signs_nothing_in_that_shift(olga: Staff, clock: Clock) -> None:
    """Harm: an operator makes themselves a cashier, gives chips out, and is an operator again."""
    cara = staffing.change_staff(olga, {"role": "cashier", "badge": "777"}, by=olga)
    begin = BeginSlip("deposit", ((10_000, 1),))
    assert "administered" in refused(lambda: cage_desk.sign(begin, by=cara, key=uuid4())).sentence
    clock.pass_until(cara.administered_until + timedelta(hours=7, minutes=59))
    assert "administered" in refused(lambda: cage_desk.sign(begin, by=cara, key=uuid4())).sentence
    clock.pass_until(cara.administered_until + timedelta(hours=8, minutes=1))
    slip = cage_desk.sign(begin, by=Staff.objects.get(pk=cara.pk), key=uuid4())
    omar = Staff.objects.get(username="omar")
    assert refused(lambda: cage_desk.sign(SignSlip(slip, "approved"), by=omar, key=uuid4())).code == "wrong_role"
    sound()


def test_a_review_says_who_granted_what_and_is_signed_by_an_auditor(olga: Staff) -> None:
    """Harm: nobody can say who made somebody a pit boss; or the one who did reviews it."""
    staffing.add_staff(username="nia", name="Nia", role="dealer", badge="601", by=olga)
    staffing.change_staff(Staff.objects.get(username="nia"), {"role": "pit_boss"}, by=olga)
    lines = access_review.review()
    nia = next(line for line in lines if line.username == "nia")
    assert (nia.role, nia.granted_by) == ("pit_boss", olga.signature)
    assert "run the floor" in " ".join(nia.may)
    digest = access_review.digest_of(lines)
    assert refused(lambda: access_review.sign(digest, "", by=olga)).code == "not_permitted"
    ada = floor.staff(Role.AUDITOR, "ada")
    assert refused(lambda: access_review.sign(digest, "", by=ada)).code == "changed"
    access_review.sign(access_review.digest_of(access_review.review()), "as it should be", by=ada)
    review = access_review.last_review()
    assert review is not None
    assert review[1] == ada.signature
    sound()
