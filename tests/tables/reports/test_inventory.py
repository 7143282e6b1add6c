"""Inventory and liability by denomination: what is where, of each kind of chip, at the end of a day."""

import random
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from ledger import cage
from ledger.models import HOUSE, Account, Book
from ledger.proof.chips import Denomination
from tables.audit import proofs
from tables.cage import cage_desk
from tables.floor.inputs import BeginSlip, SignSlip, VoidSlip
from tables.log.pieces import counted, fewest, handed_out
from tables.log.slip_types import Chips, total
from tables.models import Table
from tables.refusals import Refused
from tables.reports import gaming_hours, inventory
from tables.reports.inventory import Inventory
from tables.roles import Role
from tests import floor
from tests.clock import Clock
from tests.floor import Hand
from tests.tables import bundles
from tests.tiers import sampled

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


def ledger(place: str, table: Table | None = None) -> int:
    accounts = Account.objects.filter(place=place, **({"book_id": table.book_id} if table else {}))
    return sum(cage.balance(account) for account in accounts)


def _fill(dealer: Hand, chips: Chips) -> None:
    """A fill that the dealer at the table counts in."""
    floor.signs(dealer.table, floor.crew("requested"), BeginSlip("fill", chips))
    slip = dealer.now.slips[-1].name
    for stage in list(floor.CREW)[1:]:
        floor.signs(dealer.table, dealer.by if stage == "received" else floor.crew(stage), SignSlip(slip, stage))


def inventory_today() -> Inventory:
    return inventory.on(gaming_hours.day_of(timezone.now()))


def stock(name: str) -> inventory.Stock:
    return next(stock for stock in inventory_today().stocks if stock.name == name)


def holds_the_ledger(stock_taking: Inventory, *tables: Table) -> None:
    """Every stock is worth what the ledger says, to the cent, and so is what is out."""
    assert {stock.name: stock.total_cents for stock in stock_taking.stocks} == {
        "Vault": ledger("vault"),
        "Cage": ledger("cage"),
        "On the way": ledger("transit"),
        **{table.name: ledger("rack", table) for table in tables},
    }
    assert stock_taking.agrees
    assert sum(line.out_cents for line in stock_taking.lines) + stock_taking.out.odd_cents == stock_taking.out_cents


@pytest.mark.parametrize("seed", sampled(range(3), "deals a random day"))
def test_after_a_random_day_every_chip_is_somewhere(seed: int) -> None:
    """Harm: a liability by denomination that is worth another sum than the chips that are out."""
    chance = random.Random(seed)
    dealer, boss = floor.dealt()
    people = {
        "boss": boss.by,
        "second": floor.staff(Role.PIT_BOSS, "bettina"),
        "security": floor.staff(Role.SECURITY, "silvia"),
        "cashier": floor.staff(Role.CASHIER, "cosima"),
        "other_cashier": floor.staff(Role.CASHIER, "claudio"),
    }
    holds_the_ledger(inventory_today(), dealer.table)
    for number in range(3):
        bundles.play(dealer, chance, 6)
        chips = ((500, chance.randint(1, 9)), (100, chance.randint(0, 9)))
        cage_desk.sell(total(chips), chips=chips, by=people["cashier"], key=uuid4())
        cage_desk.redeem(2_500, chips=((2_500, 1),), by=people["cashier"], key=uuid4())
        _fill(dealer, ((100, 50), (500, 10)))
        if number == 1:
            floor.signs(dealer.table, people["boss"], BeginSlip("credit", ((500, 3),)))
            bundles.count_cage(people)
        holds_the_ledger(inventory_today(), dealer.table)
    slip = bundles.credit(dealer, people, bundles.STAGES[:4])
    assert stock("On the way").holding.pieces == {10_000: 3}
    floor.signs(dealer.table, people["cashier"], VoidSlip(slip, "not needed"))
    floor.signs(dealer.table, floor.staff(Role.AUDITOR, "ada"), SignSlip(slip, "voided"))
    assert stock("On the way").holding.pieces == {}
    holds_the_ledger(inventory_today(), dealer.table)


def test_papers_and_counts_tell_pieces_for_certain() -> None:
    """Harm: what a count and five signatures said is shown as a guess, or the other way about."""
    dealer, boss = floor.dealt()
    rack = stock(dealer.table.name).holding
    assert rack.is_certain
    assert rack.pieces == {100: 9_000}
    _fill(dealer, ((500, 40),))
    assert stock(dealer.table.name).holding.certain == {100: 9_000, 500: 40}
    dealer.bets(seat1=2_000)
    bundles._until_it_is_over(dealer)
    assert not stock(dealer.table.name).holding.is_certain
    Hand(dealer.table, boss.by)("close_table")
    assert stock(dealer.table.name).holding.is_certain


def test_a_rack_stays_certain_through_buy_ins_as_the_screen_shows_them() -> None:
    """Harm: after the first buy-in of the evening nobody knows any more which chips a rack has."""
    dealer, _ = floor.dealt()
    _fill(dealer, ((2_500, 20), (500, 40)))
    dealer("sell_chips", amount_cents=10_600, as_shown=True)
    rack = stock(dealer.table.name).holding
    assert rack.is_certain
    kinds = inventory.kinds_of(dealer.table.denominations.all())
    counts, _ = fewest(10_600, kinds)
    for value, count in counts.items():
        had = {100: 9_000, 500: 40, 2_500: 20}.get(value, 0)
        assert rack.certain.get(value, 0) == had - count
    dealer("sell_chips", amount_cents=1_000, chips=((100, 10),))
    assert stock(dealer.table.name).holding.is_certain
    dealer("sell_chips", amount_cents=1_000)
    assert not stock(dealer.table.name).holding.is_certain, "nobody said which"
    holds_the_ledger(inventory_today(), dealer.table)
    assert proofs.verify(dealer.table.book).fault is None


def test_a_change_says_what_the_rack_gave_and_guesses_what_it_took() -> None:
    """Harm: a rack that was coloured up all evening is shown as certain, with chips that lie before the players."""
    dealer, _ = floor.dealt()
    _fill(dealer, ((500, 40),))
    before = stock(dealer.table.name).holding
    dealer("change_chips", amount_cents=2_000, up=True, takes=((100, 20),), gives=((500, 4),))
    holding = stock(dealer.table.name).holding
    assert holding.is_certain
    assert (holding.certain[100], holding.certain[500]) == (before.certain[100] + 20, before.certain[500] - 4)
    assert holding.total_cents == before.total_cents
    dealer("change_chips", amount_cents=500, up=False, as_shown=True)
    rack = stock(dealer.table.name).holding
    assert not rack.is_certain_of(500), "which chips the player gave, nobody said"
    assert rack.certain[100] == holding.certain[100] - 5
    dealer("change_chips", amount_cents=500, up=True)
    assert stock(dealer.table.name).holding.total_cents == before.total_cents
    holds_the_ledger(inventory_today(), dealer.table)
    assert proofs.verify(dealer.table.book).fault is None
    for wrong, code in (
        ({"takes": ((100, 3),)}, "bad_amount"),
        ({"gives": ((700, 1),)}, "unknown_chip"),
        ({"gives": ((100, 2), (100, 3))}, "bad_count"),
    ):
        with pytest.raises(Refused) as refused:
            dealer("change_chips", amount_cents=500, up=True, **wrong)
        assert refused.value.code == code


@given(
    deeds=st.lists(
        st.tuples(st.sampled_from(("sell", "up", "down")), st.integers(1, 400), st.booleans(), st.booleans()),
        min_size=1,
        max_size=12,
    )
)
def test_pieces_of_sales_and_changes_are_worth_their_amounts(deeds: list[tuple[str, int, bool, bool]]) -> None:
    """Harm: a piece appears in a rack, or goes, that no amount stands for."""
    kinds = tuple(Denomination(value, str(value)) for value in (100, 500, 2_500, 10_000))
    rack, sold = counted(((100, 1_000), (500, 1_000), (2_500, 1_000), (10_000, 1_000))), 0
    whole = rack.total_cents
    for deed, hundreds, says_takes, says_gives in deeds:
        cents = hundreds * 100
        large, small = handed_out(cents, kinds), handed_out(cents, kinds, smaller=True)
        assert total(large) == total(small) == cents
        if deed == "sell":
            rack, sold = rack.moved(large, -1), sold + cents
            continue
        takes, gives = (small, large) if deed == "up" else (large, small)
        rack = rack.exchanged(takes if says_takes else (), gives if says_gives else (), (takes, gives))
    assert rack.total_cents == whole - sold
    assert sum(value * count for value, count in rack.pieces.items()) + rack.odd_cents == whole - sold


def test_a_sale_says_its_chips_and_they_come_to_its_amount() -> None:
    """Harm: 500 in chips noted as a sale of 50."""
    floor.table()
    cashier, key = floor.staff(Role.CASHIER, "carmen"), uuid4()
    for chips, code in (
        (((500, 9),), "bad_amount"),
        (((700, 1),), "unknown_chip"),
        (((500, -1), (100, 55)), "bad_count"),
        (((500, 4), (500, 6)), "bad_count"),
    ):
        with pytest.raises(Refused) as refused:
            cage_desk.sell(5_000, chips=chips, by=cashier, key=key)
        assert refused.value.code == code
    before = stock("Cage").holding
    cage_desk.sell(5_000, chips=((500, 10),), by=cashier, key=key)
    after = stock("Cage").holding
    assert after.certain[500] - before.certain.get(500, 0) == -10
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_a_days_inventory_stays_what_it_was(clock: Clock) -> None:
    """Harm: last month's liability changes with today's sales."""
    floor.table()
    today = gaming_hours.day_of(timezone.now())
    clock.pass_until(gaming_hours.span(today).end + timedelta(hours=1))
    before = inventory.on(today)
    cage_desk.sell(5_000, chips=((500, 10),), by=floor.staff(Role.CASHIER, "carmen"), key=uuid4())
    assert inventory.on(today) == before
    assert inventory_today() != before


def test_more_tables_take_no_more_statements() -> None:
    """Harm: a report that takes minutes on a floor of forty tables."""
    floor.table()
    with CaptureQueriesContext(connection) as queries:
        inventory_today()
    for number in range(2, 5):
        floor.table(f"Rocket {number}")
    with CaptureQueriesContext(connection) as second:
        inventory_today()
    assert len(second) == len(queries)
