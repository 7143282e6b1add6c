"""The cage: chips for cash and back, the vault behind it, and counts of what it holds."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ledger import cage
from ledger.models import HOUSE, Book, Discrepancy, LogEntry, Slip
from tables.audit import proofs
from tables.inputs import BeginSlip, SignSlip, VoidSlip
from tables.log.series import SLIPS
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.slips import cage_desk
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
    from ledger.models import Account

    for account, place in Account.objects.values_list("pk", "place"):
        sums[place] = sums.get(place, 0) + net.get(account, 0)
    return sums


def changed(before: dict[str, int]) -> dict[str, int]:
    return {place: cents - before[place] for place, cents in place_sums().items() if cents != before[place]}


def sign(by: Staff, entered: Any) -> str:
    return cage_desk.sign(entered, by=by, key=uuid.uuid4())


def refused(deed: Any) -> Refused:
    before = LogEntry.objects.count(), Slip.objects.count()
    with pytest.raises(Refused) as raised:
        deed()
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


def test_a_key_stands_for_one_exchange(house: Book) -> None:
    """Harm: a form sent again with another amount or by another hand is called done, and no chips moved."""
    cashier, key = someone(Role.CASHIER, "carmen"), uuid.uuid4()
    cage_desk.sell(10_000, by=cashier, key=key)
    colleague = someone(Role.CASHIER, "cora")
    assert refused(lambda: cage_desk.sell(70_000, by=cashier, key=key)).code == "key_reused"
    assert refused(lambda: cage_desk.redeem(10_000, by=cashier, key=key)).code == "key_reused"
    assert refused(lambda: cage_desk.sell(10_000, by=colleague, key=key)).code == "key_reused"
    assert refused(lambda: cage_desk.sign(BeginSlip("deposit", CHIPS), by=cashier, key=key)).code == "key_reused"


def test_a_key_stands_for_one_signature(house: Book) -> None:
    """Harm: whoever sends a colleague's form again is told that they signed."""
    cashier, key = someone(Role.CASHIER, "carmen"), uuid.uuid4()
    slip = cage_desk.sign(BeginSlip("deposit", CHIPS), by=cashier, key=key)
    assert cage_desk.sign(BeginSlip("deposit", CHIPS), by=cashier, key=key) == slip
    colleague = someone(Role.CASHIER, "cora")
    assert refused(lambda: cage_desk.sign(BeginSlip("deposit", CHIPS), by=colleague, key=key)).code == "key_reused"
    assert refused(lambda: cage_desk.sign(BeginSlip("deposit", ()), by=cashier, key=key)).code == "key_reused"
    assert refused(lambda: cage_desk.sign(SignSlip(slip, "approved"), by=cashier, key=key)).code == "key_reused"


@pytest.mark.parametrize("amount", [0, -100, 150 + 1, 10**15, 9_000_000])
def test_the_cage_gives_what_it_has_and_chips_can_make(house: Book, amount: int) -> None:
    cashier = someone(Role.CASHIER, "carmen")
    assert refused(lambda: cage_desk.sell(amount, by=cashier, key=uuid.uuid4())).code == "bad_amount"
    assert refused(lambda: cage_desk.redeem(amount, by=cashier, key=uuid.uuid4())).code == "bad_amount"


@pytest.mark.parametrize("role", [role for role in Role if role not in (Role.CASHIER, Role.CAGE_MANAGER)])
def test_only_the_cage_sells_chips(house: Book, role: Role) -> None:
    nosy = someone(role, "nosy")
    assert refused(lambda: cage_desk.sell(100, by=nosy, key=uuid.uuid4())).code == "wrong_role"


def test_the_vault_opens_for_two(house: Book) -> None:
    """Harm: a cashier who helps themselves to the house's chips."""
    cashier, boss, before = someone(Role.CASHIER, "carmen"), someone(Role.PIT_BOSS, "boris"), place_sums()
    slip = sign(cashier, BeginSlip("deposit", CHIPS))
    assert changed(before) == {}
    assert refused(lambda: sign(cashier, SignSlip(slip, "approved"))).code == "wrong_role"
    sign(boss, SignSlip(slip, "approved"))
    assert changed(before) == {"cage": -100_000, "vault": 100_000}
    slip = sign(cashier, BeginSlip("withdrawal", CHIPS))
    sign(boss, SignSlip(slip, "approved"))
    assert changed(before) == {}
    assert refused(lambda: sign(cashier, BeginSlip("withdrawal", CHIPS))).code == "bad_amount"
    assert proofs.verify(house).fault is None


def test_the_vault_is_asked_again_when_its_chips_move(house: Book) -> None:
    """Harm: two slips for the same chips, both of which were there when they were asked for."""
    cashier, boss = someone(Role.CASHIER, "carmen"), someone(Role.PIT_BOSS, "boris")
    sign(boss, SignSlip(sign(cashier, BeginSlip("deposit", CHIPS)), "approved"))
    slip, next_slip = (sign(cashier, BeginSlip("withdrawal", CHIPS)) for _ in range(2))
    sign(boss, SignSlip(slip, "approved"))
    refusal = refused(lambda: sign(boss, SignSlip(next_slip, "approved")))
    assert (refusal.code, refusal.status) == ("bad_amount", 422)
    assert refusal.sentence == "The vault holds less than 1,000."


def test_slips_of_the_house_are_those_of_no_table(house: Book) -> None:
    cashier = someone(Role.CASHIER, "carmen")
    ours = [name for name, record in SLIPS.items() if record.in_house]
    refusal = refused(lambda: sign(cashier, BeginSlip("fill", CHIPS)))
    assert refusal.sentence == f"A slip of the house is one of {', '.join(ours)}."
    unknown = refused(lambda: sign(cashier, SignSlip("deposit", "approved")))
    assert (unknown.code, unknown.status) == ("unknown_slip", 404)
    for name, stage in (("rack/2026/1", "recounted"), ("deposit/2026/999", "requested")):
        refusal = refused(lambda name=name, stage=stage: sign(cashier, SignSlip(name, stage)))
        assert (refusal.code, refusal.status) == ("unknown_slip", 409)
    slip = sign(cashier, BeginSlip("deposit", CHIPS))
    assert refused(lambda: sign(cashier, VoidSlip(slip, "twice"))).code == "not_voidable"


@pytest.mark.parametrize(("count", "over"), [(50_000, 0), (49_999, -100), (50_002, 200)])
def test_the_cage_is_counted_by_two_and_what_differs_is_a_discrepancy(house: Book, count: int, over: int) -> None:
    """Harm: what is missing from the cage is found at the end of the year."""
    before = place_sums()
    slip = sign(someone(Role.CASHIER, "carmen"), BeginSlip("cage", ((100, count),)))
    sign(someone(Role.CASHIER, "carlos"), SignSlip(slip, "recounted", ((100, count),)))
    assert changed(before) == ({"cage": over, "over_short": -over} if over else {})
    assert [discrepancy.amount_cents for discrepancy in Discrepancy.objects.all()] == ([over] if over else [])
    assert proofs.verify(house).fault is None


def test_two_counts_that_differ_come_to_nothing(house: Book) -> None:
    before = place_sums()
    slip = sign(someone(Role.CASHIER, "carmen"), BeginSlip("cage", ((100, 5),)))
    assert refused(lambda: sign(someone(Role.CASHIER, "carmen"), SignSlip(slip, "recounted", ((100, 5),)))).code == (
        "signed_already"
    )
    sign(someone(Role.CASHIER, "carlos"), SignSlip(slip, "recounted", ((100, 6),)))
    assert changed(before) == {}
    assert cage_desk.in_progress(house.pk) == ()
    assert not Discrepancy.objects.exists()


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
    """Harm: chips are taken from the cage, and the count that should miss them expects so many less."""
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


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("UPDATE ledger_slipsignature SET username = 'carlos' WHERE seq = %s", "the signature kept beside it is"),
        ("UPDATE ledger_slipsignature SET role = 'operator' WHERE seq = %s", "the signature kept beside it is"),
        ("UPDATE ledger_slip SET total_cents = 7 WHERE seq = %s", "the slip kept beside it is about 7"),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_what_is_kept_beside_the_log_of_a_slip_is_what_the_log_says(sql: str, sentence: str) -> None:
    """Harm: a signature of another person, found by whoever looks it up in the table and not in the log."""
    floor.table()
    sign(someone(Role.CASHIER, "carmen"), BeginSlip("deposit", CHIPS))
    house = Book.objects.get(name=HOUSE)
    with at_work() as forged:
        forged(sql, house.head_seq)
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
