"""What a house chose for its roles: the floor obeys it, and a proof knows what held at each entry."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone

from ledger import log, site_log
from ledger.log import Draft as Entry
from ledger.models import HOUSE, Book
from tables.audit import proofs
from tables.cage import cage_desk
from tables.floor.inputs import BeginSlip, SignSlip
from tables.log import role_choices
from tables.log.entries.staff import StaffChanged
from tables.log.role_choices import CHOICES, STRIKES
from tables.models import OneTimeCode, Staff
from tables.refusals import Refused
from tables.roles import PERMISSIONS, WORDS, Role
from tables.setup import policies
from tables.setup import role_choices as choices
from tables.staff import codes, staffing
from tests import floor
from tests.clock import Clock
from tests.terms import read_again

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
def olga(db: None) -> Staff:
    floor.table()
    floor.staff(Role.OPERATOR, "omar", "302")
    return floor.staff(Role.OPERATOR, "olga", "301")


def chosen(by: Staff, **terms: tuple[str, ...]) -> None:
    choices.change(terms, None, by=by)
    read_again()


def fault() -> str:
    faults = [proofs.verify(book).fault for book in Book.objects.order_by("pk")]
    return " ".join(fault.what for fault in faults if fault)


def test_every_choice_is_of_a_permission_that_there_is() -> None:
    """Harm: a box on the page that changes nothing; or one that gives what no role has."""
    permitted = {permission for permissions in PERMISSIONS.values() for permission in permissions}
    for choice in CHOICES:
        assert choice.permission in permitted
        assert choice.permission in WORDS
        assert choice.given is (choice.permission in PERMISSIONS[Role(choice.role)])
    assert len({choice.word for choice in CHOICES}) == len(CHOICES)
    assert set(role_choices.ROLES) == set(Role.values)


def test_no_choice_lets_anybody_move_chips_or_give_access() -> None:
    """Harm: a house makes itself laxer than what separates duties."""
    moves = {"tables.run_cage", "tables.carry", "tables.deal", "tables.run_floor", "tables.count_boxes"}
    gives = {"tables.change_staff", "tables.enrol_terminal", "tables.add_houseterms", "tables.change_table"}
    assert not {choice.permission for choice in CHOICES} & (moves | gives)
    assert not {strike.role for strike in STRIKES} & {Role.OPERATOR, Role.SURVEILLANCE}


def test_a_revoked_permission_is_refused_with_a_sentence_and_a_granted_one_takes_effect(olga: Staff) -> None:
    """Harm: the page says that pit bosses confirm no codes, and they do; or a choice has no effect."""
    boss, nia = floor.staff(Role.PIT_BOSS, "bella", "201"), floor.staff(Role.DEALER, "nia", "601")
    chloe = floor.staff(Role.CASHIER, "chloe", "701")
    codes.ask(nia, "pin", by=olga)
    code = OneTimeCode.objects.get()
    chosen(olga, role_permissions=("pit_boss-confirm_code",))
    with pytest.raises(Refused, match="second operator or a pit boss"):
        codes.confirm(code, by=boss)
    chosen(olga, role_permissions=("cashier+watch_chips",))
    codes.confirm(code, by=boss)
    assert chloe.has_perm("tables.watch_chips")
    assert fault() == ""


def test_a_role_that_was_struck_signs_no_more_and_what_it_signed_stays_right(olga: Staff, clock: Clock) -> None:
    """Harm: a cashier goes on signing what only the cage manager signs here; or yesterday's slips are called forged."""
    cara, carl = floor.staff(Role.CASHIER, "chloe", "701"), floor.staff(Role.CAGE_MANAGER, "cosmo", "702")
    cage_desk.sign(BeginSlip("deposit", ((10_000, 1),)), by=cara, key=uuid4())
    clock.stand(timezone.now() + timedelta(minutes=1))
    chosen(olga, signers_struck=("deposit.requested-cashier",))
    with pytest.raises(Refused, match="in this house this step is signed by a cage manager"):
        cage_desk.sign(BeginSlip("deposit", ((10_000, 1),)), by=cara, key=uuid4())
    slip = cage_desk.sign(BeginSlip("deposit", ((10_000, 1),)), by=carl, key=uuid4())
    cage_desk.sign(SignSlip(slip, "approved"), by=floor.staff(Role.PIT_BOSS, "bella", "201"), key=uuid4())
    assert fault() == ""


def test_a_signature_of_a_struck_role_is_found(olga: Staff, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: who has the application's database role signs as somebody whom the house had struck."""
    cara = floor.staff(Role.CASHIER, "chloe", "701")
    chosen(olga, signers_struck=("deposit.requested-cashier",))
    clock.stand(timezone.now() + timedelta(minutes=1))
    with monkeypatch.context() as patched:
        patched.setattr(choices, "refuse_signer", lambda *_: None)
        cage_desk.sign(BeginSlip("deposit", ((10_000, 1),)), by=cara, key=uuid4())
    assert "the house had struck cashier" in fault()


def test_a_code_that_was_confirmed_without_the_permission_is_found(
    olga: Staff, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the second half of a code comes from a role that the house took it from."""
    boss, nia = floor.staff(Role.PIT_BOSS, "bella", "201"), floor.staff(Role.DEALER, "nia", "601")
    codes.ask(nia, "pin", by=olga)
    code = OneTimeCode.objects.get()
    chosen(olga, role_permissions=("pit_boss-confirm_code",))
    clock.stand(timezone.now() + timedelta(minutes=1))
    with monkeypatch.context() as patched:
        patched.setattr(Staff, "require", lambda *_: None)
        codes.confirm(code, by=boss)
    assert "may not sign it as pit_boss" in fault()


def test_roles_that_this_house_keeps_apart_are_given_to_nobody(olga: Staff) -> None:
    """Harm: a house that forbids dual rates takes one on."""
    entered = {"username": "dual", "name": "Dual Rate", "role": "dealer", "further": ["pit_boss"], "badge": "555"}
    later = timezone.now() + timedelta(days=2)
    choices.change({"roles_apart": ("dealer+pit_boss",)}, later, by=olga)
    read_again()
    with pytest.raises(Refused, match="this house keeps them apart"):
        staffing.add_staff(**entered, by=olga)  # type: ignore[arg-type]
    choices.change({"roles_apart": ()}, later, by=olga)
    read_again()
    choices_of_now = policies.words("roles_apart", later + timedelta(seconds=1))
    assert choices_of_now == ()


@pytest.mark.parametrize("further", ["cashier", "pit_boss"])
def test_an_entry_that_joins_what_is_apart_is_found(olga: Staff, clock: Clock, further: str) -> None:
    """Harm: roles that nobody has together are written past the functions that ask."""
    nia = staffing.add_staff(username="nia", name="Nia", role="dealer", badge="601", by=olga)
    chosen(olga, roles_apart=("dealer+pit_boss",))
    clock.stand(timezone.now() + timedelta(minutes=1))
    with transaction.atomic():
        changed = StaffChanged(
            username="nia", new=(), secrets=nia.digests, before={"further": []}, after={"further": [further]}
        )
        log.append(site_log.lock(), Entry.of(changed, olga.signature))
        Staff.objects.filter(username="nia").update(further=[further])
    fault = proofs.verify(Book.objects.get(name=HOUSE)).fault
    assert fault is not None
    assert "kept apart" in fault.what
