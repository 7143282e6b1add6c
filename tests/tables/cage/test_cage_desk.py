"""The cage: chips for cash and back, the vault behind it, and counts of what it holds."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ledger import cage
from ledger.models import HOUSE, Account, Book, Discrepancy, LogEntry, Slip
from tables.audit import proofs
from tables.cage import cage_desk
from tables.floor.inputs import BeginSlip, SignSlip, VoidSlip
from tables.log.slip_types import SLIPS
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tests import floor
from tests.clock import Clock
from tests.intruder import at_work
from tests.ready import ready_made
from tests.tables.at_once import at_once

CHIPS = ((10_000, 10),)


@pytest.fixture
@ready_made
def house(db: None) -> Book:
    """A house with one table, chips in the cage and none in the vault."""
    floor.table()
    return Book.objects.get(name=HOUSE)


def someone(role: Role, name: str) -> Staff:
    return Staff.objects.filter(username=name).first() or floor.staff(role, name)


def place_sums() -> dict[str, int]:
    sums: dict[str, int] = {}
    net = cage.net_effect(cage.all_books())
    for account, place in Account.objects.values_list("pk", "place"):
        sums[place] = sums.get(place, 0) + net.get(account, 0)
    return sums


def changed(before: dict[str, int]) -> dict[str, int]:
    return {place: cents - before[place] for place, cents in place_sums().items() if cents != before[place]}


def sign(by: Staff, entered: Any) -> str:
    return cage_desk.sign(entered, by=by, key=uuid.uuid4())


def refusal_of(act: Callable[..., object], *args: Any, **facts: Any) -> Refused:
    """Make a call that writes nothing, and return its refusal."""
    before = LogEntry.objects.count(), Slip.objects.count()
    with pytest.raises(Refused) as raised:
        act(*args, **facts)
    assert (LogEntry.objects.count(), Slip.objects.count()) == before
    return raised.value


def test_chips_are_sold_and_redeemed_for_cash(house: Book) -> None:
    """Harm: chips leave the cage, and the cash for them is nowhere."""
    cashier, before = someone(Role.CASHIER, "carmen"), place_sums()
    cage_desk.sell(50_000, by=cashier, key=uuid.uuid4())
    assert changed(before) == {"cage": -50_000, "players": 50_000, "cash": -50_000, "bank": 50_000}
    key = uuid.uuid4()
    for _ in range(2):
        cage_desk.redeem(20_000, by=cashier, key=key)
    assert changed(before) == {"cage": -30_000, "players": 30_000, "cash": -30_000, "bank": 30_000}
    assert proofs.verify(house).fault is None


def test_a_key_is_valid_for_one_input_of_one_person(house: Book) -> None:
    """Harm: a form with another amount, or another person's form, is confirmed as done although no chips moved or that
    person did not sign."""
    cashier, colleague = someone(Role.CASHIER, "carmen"), someone(Role.CASHIER, "cora")
    sale, slip_key, deposit = uuid.uuid4(), uuid.uuid4(), BeginSlip("deposit", CHIPS)
    cage_desk.sell(10_000, by=cashier, key=sale)
    slip = cage_desk.sign(deposit, by=cashier, key=slip_key)
    assert cage_desk.sign(deposit, by=cashier, key=slip_key) == slip
    repeats = [
        refusal_of(cage_desk.sell, 70_000, by=cashier, key=sale),
        refusal_of(cage_desk.redeem, 10_000, by=cashier, key=sale),
        refusal_of(cage_desk.sell, 10_000, by=colleague, key=sale),
        refusal_of(cage_desk.sign, deposit, by=cashier, key=sale),
        refusal_of(cage_desk.sign, deposit, by=colleague, key=slip_key),
        refusal_of(cage_desk.sign, BeginSlip("deposit", ()), by=cashier, key=slip_key),
        refusal_of(cage_desk.sign, SignSlip(slip, "approved"), by=cashier, key=slip_key),
    ]
    assert {repeat.code for repeat in repeats} == {"key_reused"}


def test_the_cage_gives_what_it_has_and_chips_can_make(house: Book) -> None:
    cashier = someone(Role.CASHIER, "carmen")
    for amount in (0, -100, 150 + 1, 10**15, 9_000_000):
        for exchange in (cage_desk.sell, cage_desk.redeem):
            assert refusal_of(exchange, amount, by=cashier, key=uuid.uuid4()).code == "bad_amount", amount


def test_only_the_cage_sells_chips(house: Book) -> None:
    for role in set(Role) - {Role.CASHIER, Role.CAGE_MANAGER}:
        signatory = Staff(username="other", name="Other", role=role)
        assert refusal_of(cage_desk.sell, 100, by=signatory, key=uuid.uuid4()).code == "wrong_role", role


def test_the_vault_opens_for_two(house: Book) -> None:
    """Harm: a cashier takes the casino's chips from the vault alone."""
    cashier, boss, before = someone(Role.CASHIER, "carmen"), someone(Role.PIT_BOSS, "boris"), place_sums()
    slip = sign(cashier, BeginSlip("deposit", CHIPS))
    assert changed(before) == {}
    assert refusal_of(sign, cashier, SignSlip(slip, "approved")).code == "wrong_role"
    sign(boss, SignSlip(slip, "approved"))
    assert changed(before) == {"cage": -100_000, "vault": 100_000}
    slip = sign(cashier, BeginSlip("withdrawal", CHIPS))
    sign(boss, SignSlip(slip, "approved"))
    assert changed(before) == {}
    assert refusal_of(sign, cashier, BeginSlip("withdrawal", CHIPS)).code == "bad_amount"
    assert proofs.verify(house).fault is None


def test_the_vault_is_asked_again_when_its_chips_move(house: Book) -> None:
    """Harm: two slips take the same chips or cash, which were in the vault when both were requested."""
    cashier, boss = someone(Role.CASHIER, "carmen"), someone(Role.PIT_BOSS, "boris")
    sign(boss, SignSlip(sign(cashier, BeginSlip("deposit", CHIPS)), "approved"))
    slip, next_slip = (sign(cashier, BeginSlip("withdrawal", CHIPS)) for _ in range(2))
    sign(boss, SignSlip(slip, "approved"))
    refusal = refusal_of(sign, boss, SignSlip(next_slip, "approved"))
    assert (refusal.code, refusal.status) == ("bad_amount", 422)
    assert refusal.sentence == "The vault holds less than 1,000."


def test_chips_on_their_way_to_the_vault_are_not_in_the_cage(house: Book) -> None:
    """Harm: chips that were brought to the vault are sold at the counter, brought a second time, or given out to a
    table before the vault has taken them in."""
    cashier, boss, cage_cents = someone(Role.CASHIER, "carmen"), someone(Role.PIT_BOSS, "boris"), place_sums()["cage"]
    slip = sign(cashier, BeginSlip("deposit", ((100, cage_cents // 100),)))
    aside = f"50,000 is set aside for Deposit {slip.split('/')[2]}"
    refusal = refusal_of(sign, cashier, BeginSlip("deposit", CHIPS))
    assert refusal.sentence == f"The cage holds less than 1,000: {aside}."
    assert refusal_of(cage_desk.sell, 10_000, by=cashier, key=uuid.uuid4()).sentence == (
        f"The cage holds less than 100: {aside}."
    )
    refusal = refusal_of(floor.signs, Table.objects.get(), boss, BeginSlip("fill", CHIPS))
    assert refusal.sentence == f"The cage holds less than 1,000: 0 is available, {aside}."
    sign(boss, VoidSlip(slip, "by mistake"))
    sign(someone(Role.SECURITY, "sue"), SignSlip(slip, "voided"))
    slip = sign(cashier, BeginSlip("deposit", ((100, cage_cents // 100),)))
    sign(boss, SignSlip(slip, "approved"))
    refusal = refusal_of(sign, someone(Role.PIT_BOSS, "petra"), VoidSlip(slip, "by mistake"))
    assert refusal.sentence.endswith(" is complete, and not made void. What it moved goes back by another slip.")
    assert (place_sums()["cage"], place_sums()["vault"]) == (0, cage_cents)
    assert proofs.verify(house).fault is None


def test_slips_of_the_house_are_those_of_no_table(house: Book) -> None:
    cashier = someone(Role.CASHIER, "carmen")
    ours = [name for name, record in SLIPS.items() if record.in_house]
    refusal = refusal_of(sign, cashier, BeginSlip("fill", CHIPS))
    assert refusal.sentence == f"A slip of the house is one of {', '.join(ours)}."
    unknown = refusal_of(sign, cashier, SignSlip("deposit", "approved"))
    assert (unknown.code, unknown.status) == ("unknown_slip", 404)
    for name, stage in (("rack/2026/1", "recounted"), ("deposit/2026/999", "requested")):
        refusal = refusal_of(sign, cashier, SignSlip(name, stage))
        assert (refusal.code, refusal.status) == ("unknown_slip", 409)
    slip = sign(cashier, BeginSlip("bankin", CHIPS))
    assert refusal_of(sign, cashier, VoidSlip(slip, "twice")).code == "not_voidable"


@pytest.mark.parametrize("over", [0, -100])
def test_the_cage_is_counted_by_two_and_what_differs_is_a_discrepancy(house: Book, over: int) -> None:
    """Harm: what is missing from the cage is found at the end of the year."""
    before, chips = place_sums(), ((100, (5_000_000 + over) // 100),)
    slip = sign(someone(Role.CASHIER, "carmen"), BeginSlip("cage", chips))
    sign(someone(Role.CASHIER, "carlos"), SignSlip(slip, "recounted", chips))
    assert changed(before) == ({"cage": over, "over_short": -over} if over else {})
    assert [discrepancy.amount_cents for discrepancy in Discrepancy.objects.all()] == ([over] if over else [])
    assert proofs.verify(house).fault is None


@pytest.mark.parametrize(
    ("lie", "sentence"),
    [
        (
            {"_expected": lambda head, read, place: 4_000_000},
            "it expects 4000000 in the cage, the transfers of all books left",
        ),
        ({"_read_so_far": lambda: {"Rocket 1": (1, 999)}}, "Rocket 1 has no entry 999"),
    ],
)
def test_a_count_against_less_than_the_books_left_is_found(
    house: Book, monkeypatch: pytest.MonkeyPatch, lie: dict[str, Any], sentence: str
) -> None:
    """Harm: chips or cash are stolen from the cage, and the writer of the log lowers the balance that its count is
    compared with."""
    slip = sign(someone(Role.CASHIER, "carmen"), BeginSlip("cage", ((100, 50_000),)))
    for name, forged_reader in lie.items():
        monkeypatch.setattr(cage_desk, name, forged_reader)
    sign(someone(Role.CASHIER, "carlos"), SignSlip(slip, "recounted", ((100, 50_000),)))
    fault = proofs.verify(house).fault
    assert fault is not None
    assert sentence in fault.what


def test_a_count_as_of_another_time_is_found(house: Book, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Harm: the cage is counted against what it held an hour ago, before a credit came that is gone since."""
    read, noon = cage_desk._read_so_far(), timezone.now()
    clock.stand(noon + timedelta(minutes=10))
    floor.fill(Table.objects.get(), CHIPS)
    clock.stand(noon + timedelta(hours=1))
    slip = sign(someone(Role.CASHIER, "carmen"), BeginSlip("cage", CHIPS))
    monkeypatch.setattr(cage_desk, "_read_so_far", lambda: read)
    sign(someone(Role.CASHIER, "carlos"), SignSlip(slip, "recounted", CHIPS))
    fault = proofs.verify(house).fault
    assert fault is not None
    assert "as it stood at another time" in fault.what


@pytest.mark.django_db(transaction=True)
def test_rows_of_a_slip_that_differ_from_the_log_are_found() -> None:
    """Harm: the table of signatures names another person, role or amount than the log, and a search shows it."""
    floor.table()
    sign(someone(Role.CASHIER, "carmen"), BeginSlip("deposit", CHIPS))
    house = Book.objects.get(name=HOUSE)
    for change, sentence in (
        ("ledger_slipsignature SET username = 'carlos'", "the signature kept beside it is"),
        ("ledger_slipsignature SET role = 'operator'", "the signature kept beside it is"),
        ("ledger_slip SET total_cents = 7", "the slip kept beside it is about 7"),
    ):
        with at_work() as intruder:
            intruder(f"UPDATE {change} WHERE seq = %s", house.head_seq)
            fault = proofs.verify(house).fault
        assert fault is not None
        assert sentence in fault.what


@pytest.mark.django_db(transaction=True)
def test_ten_sales_at_once_are_ten_sales() -> None:
    """Harm: two counters at one moment, and the cage gives what it has twice."""
    floor.table()
    cashier, before = someone(Role.CASHIER, "carmen"), place_sums()
    answers = at_once(*[lambda: cage_desk.sell(1_000_000, by=cashier, key=uuid.uuid4()) for _ in range(7)])
    assert sum(answer is None for answer in answers) == 5
    assert changed(before)["cage"] == -5_000_000
    assert {answer.code for answer in answers if isinstance(answer, Refused)} == {"bad_amount"}
