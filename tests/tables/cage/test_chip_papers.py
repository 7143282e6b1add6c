"""Chips into the house and out of it: received, destroyed, retired, lapsed, found, claimed, counterfeit."""

import uuid
from datetime import date, datetime, time, timedelta
from typing import Any

import pytest
from django.utils import timezone

from ledger import cage
from ledger.models import HOUSE, Alert, Book, Discrepancy, LogEntry
from tables.audit import proofs
from tables.audit.row_comparison import compare
from tables.cage import cage_desk, chip_series, chip_stock, retirement
from tables.floor.inputs import BeginSlip, SignSlip
from tables.log.slip_types import SLIPS
from tables.models import Denomination, SeriesRetirement, Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.state import table_state
from tests import floor
from tests.clock import Clock
from tests.floor import signs
from tests.ready import ready_made
from tests.tables.at_once import at_once
from tests.tables.cage.test_cage_desk import changed, place_sums, refusal_of, sign, someone

pytestmark = pytest.mark.slow("sets up a house for each test")

SENT = ((10_000, 20), (100, 300))
WORTH = 230_000


@pytest.fixture
@ready_made
def house(db: None) -> Book:
    """A house with one table, and a series of the chips that it has."""
    floor.table()
    values = list(Denomination.objects.values_list("value_cents", flat=True))
    chip_series.add("Alpha", "Chips & Co", 2026, values, by=someone(Role.OPERATOR, "olga"))
    for employed in (manager, guard, cashier, auditor):
        employed()  # taking somebody on is an entry
    return Book.objects.get(name=HOUSE)


def manager() -> Staff:
    return someone(Role.CAGE_MANAGER, "carla")


def guard() -> Staff:
    return someone(Role.SECURITY, "sue")


def cashier() -> Staff:
    return someone(Role.CASHIER, "carmen")


def auditor() -> Staff:
    return someone(Role.AUDITOR, "ada")


def facts(**extra: str) -> dict[str, str]:
    return {"series": "Alpha"} | extra


def receive(chips: Any = SENT, noted: Any = SENT, again: Any = None, number: str = "4711") -> str:
    """A delivery, counted by two."""
    begun = BeginSlip("receipt", chips, facts=facts(note_number=number), noted=noted)
    slip = sign(manager(), begun)
    return sign(guard(), SignSlip(slip, "recounted", chips if again is None else again))


def retire() -> date:
    """Retire the series Alpha; its last day, today, is tomorrow where the test runs close to midnight."""
    last_day = timezone.localdate(timezone.now() + timedelta(minutes=10))
    form = {"series": "Alpha", "last_day": last_day.isoformat(), "reason": "A forger sells them"}
    sign(auditor(), SignSlip(sign(manager(), BeginSlip("retirement", facts=form)), "confirmed"))
    return last_day


def after(last_day: date) -> datetime:
    """Noon of the day after."""
    return timezone.make_aware(datetime.combine(last_day + timedelta(days=1), time(12)))


def proved() -> None:
    for book in Book.objects.filter(head_seq__gt=0):
        assert proofs.verify(book).fault is None
    assert compare().faults == []


# --- received ---------------------------------------------------------------------------------------------------


def test_two_people_count_chips_into_the_vault(house: Book) -> None:
    """Harm: a casino without the demo's chips can never have any."""
    before = place_sums()
    receive()
    assert changed(before) == {"issue": -WORTH, "vault": WORTH}
    assert chip_stock.of("Alpha").left == SENT
    assert not Discrepancy.objects.exists()
    assert not Alert.objects.exists()
    proved()


def test_what_was_counted_enters_and_the_note_is_a_discrepancy(house: Book) -> None:
    """Harm: a box is opened in transit and the ledger has chips that were never counted, or a black chip is kept and a
    hundred white ones are in its place."""
    before = place_sums()
    receive(chips=((10_000, 19), (100, 300)))
    assert changed(before) == {"issue": -WORTH + 10_000, "vault": WORTH - 10_000}
    [discrepancy] = Discrepancy.objects.all()
    assert (discrepancy.amount_cents, discrepancy.involved) == (-10_000, ["carla", "sue"])
    assert "4711" in Alert.objects.get(kind="delivery_differs").message
    receive(chips=((10_000, 19), (100, 400)), number="4712")
    assert Alert.objects.filter(kind="delivery_differs").latest("pk").message.endswith("and other chips")
    assert Discrepancy.objects.count() == 1
    proved()


def test_who_signs_for_chips_that_come_go_or_end() -> None:
    """Harm: an operator, a dealer or a counter receives, destroys or retires chips."""
    signers = {
        series: [set(stage.roles) for stage in SLIPS[series].stages]
        for series in ("receipt", "destruction", "retirement")
    }
    manager, counters, witnesses = {"cage_manager"}, {"cashier", "cage_manager", "security"}, {"auditor", "pit_boss"}
    assert signers == {
        "receipt": [counters, counters],
        "destruction": [manager, {"cashier", "security"}, witnesses],
        "retirement": [manager, witnesses],
    }


def test_a_wrong_form_is_refused_in_words(house: Book) -> None:
    chip_series.add("Small", "Chips & Co", 2026, [100], by=someone(Role.OPERATOR, "olga"))
    form = {"series": "Alpha", "note_number": "1"}
    wrong: list[tuple[dict[str, str], Any, Any, str]] = [
        (form | {"series": "Omega"}, SENT, SENT, "unknown_chip_series"),
        ({"note_number": "1"}, SENT, SENT, "bad_fact"),
        ({"series": "Alpha"}, SENT, SENT, "bad_fact"),
        (form | {"note_number": "x" * 121}, SENT, SENT, "bad_fact"),
        (form, (), SENT, "bad_note"),
        (form, ((3, 1),), SENT, "unknown_chip"),
        (form, SENT, ((100, -1),), "bad_count"),
        (form | {"series": "Small"}, SENT, SENT, "unknown_chip"),
    ]
    for fields, delivery_note, chips, code in wrong:
        refusal = refusal_of(sign, manager(), BeginSlip("receipt", chips, facts=fields, noted=delivery_note))
        assert (refusal.code, refusal.sentence[-1]) == (code, "."), (fields, delivery_note, chips)


def test_a_delivery_is_taken_in_once(house: Book) -> None:
    """Harm: the same boxes are entered by the early and by the late shift, or cannot be counted again after two counts
    that differ."""
    before = place_sums()
    receive(again=((10_000, 20),))
    assert changed(before) == {}
    assert chip_stock.of("Alpha").left == ()
    receive()
    assert changed(before) == {"issue": -WORTH, "vault": WORTH}
    begun = BeginSlip("receipt", SENT, facts=facts(note_number="4711"), noted=SENT)
    assert refusal_of(sign, manager(), begun).code == "note_again"


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_two_who_count_again_at_once(transactional_db: None) -> None:
    """Harm: a delivery that enters the vault twice."""
    floor.table()
    values = list(Denomination.objects.values_list("value_cents", flat=True))
    chip_series.add("Alpha", "Chips & Co", 2026, values, by=someone(Role.OPERATOR, "olga"))
    slip = sign(manager(), BeginSlip("receipt", SENT, facts=facts(note_number="1"), noted=SENT))
    before, people = place_sums(), [guard(), cashier()]
    codes = at_once(*[lambda by=by: sign(by, SignSlip(slip, "recounted", SENT)) for by in people])
    assert sorted(isinstance(code, Refused) for code in codes) == [False, True]
    assert changed(before) == {"issue": -WORTH, "vault": WORTH}


# --- destroyed --------------------------------------------------------------------------------------------------


def destroy(chips: Any, name: str = "Alpha") -> str:
    form = {"series": name, "reason": "Worn"} if name else {"reason": "Worn"}
    slip = sign(manager(), BeginSlip("destruction", chips, facts=form))
    sign(guard(), SignSlip(slip, "destroyed"))
    return sign(auditor(), SignSlip(slip, "witnessed"))


def test_chips_are_destroyed_before_a_witness(house: Book) -> None:
    """Harm: chips that players have are recorded as destroyed."""
    receive()
    before = place_sums()
    for chips, extra, code in (
        (((100, 301),), {"series": "Alpha"}, "bad_count"),
        (((10_000, 24),), {}, "bad_amount"),
        ((), {}, "bad_amount"),
    ):
        beginning = BeginSlip("destruction", chips, facts={"reason": "Worn"} | extra)
        assert refusal_of(sign, manager(), beginning).code == code, chips
    destroy(((100, 300),))
    assert changed(before) == {"vault": -30_000, "issue": 30_000}
    assert chip_stock.of("Alpha").left == ((10_000, 20),)
    proved()


# --- retired ----------------------------------------------------------------------------------------------------


def test_a_retired_series_is_not_given_out(house: Book) -> None:
    """Harm: chips that a forger copied go on to the tables."""
    receive()
    last_day = retire()
    assert SeriesRetirement.objects.get().last_day == last_day
    assert refusal_of(sign, cashier(), BeginSlip("withdrawal", ((100, 10),))).code == "chip_retired"
    boss = someone(Role.PIT_BOSS, "boris")
    fill = BeginSlip("fill", ((100, 10),))
    with pytest.raises(Refused, match="of the retired series Alpha: they are taken in, and not given out"):
        signs(Table.objects.get(), boss, fill)
    chip_series.add("Beta", "Chips & Co", 2027, [100], by=someone(Role.OPERATOR, "olga"))
    signs(Table.objects.get(), boss, fill)
    again = BeginSlip("retirement", facts=facts(last_day=last_day.isoformat(), reason="Again"))
    assert refusal_of(sign, manager(), again).code == "series_retired"
    proved()


def test_a_last_day_is_in_the_future(house: Book) -> None:
    for day in ("2020-01-01", "soon", "2099-01-01"):
        beginning = BeginSlip("retirement", facts=facts(last_day=day, reason="Old"))
        assert refusal_of(sign, manager(), beginning).code == "bad_fact", day


def test_the_cage_redeems_up_to_the_last_day_and_then_refuses(house: Book, clock: Clock) -> None:
    last_day = retire()
    cage_desk.redeem(100, by=cashier(), key=uuid.uuid4(), series="Alpha")
    clock.stand(after(last_day))
    wrong = refusal_of(cage_desk.redeem, 100, by=cashier(), key=uuid.uuid4(), series="Alpha")
    assert (wrong.code, wrong.sentence[:44]) == ("series_expired", "Chips of the series Alpha were redeemed up t")
    cage_desk.redeem(100, by=cashier(), key=uuid.uuid4())


def counter(kind: str) -> dict[str, Any]:
    """What the newest entry at the counter says."""
    entry = LogEntry.objects.filter(subject="chips", kind=kind).order_by("-seq").first()
    assert entry is not None
    return entry.content


def test_chips_at_the_counter_are_of_the_only_series_that_has_them(
    house: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the series of returned chips is unknown later, or the writer of the log invents a series."""
    cage_desk.sell(600, chips=((500, 1), (100, 1)), by=cashier(), key=uuid.uuid4())
    assert counter("sold")["of_series"] == [[500, "Alpha"], [100, "Alpha"]]
    cage_desk.redeem(200, chips=((100, 2),), by=cashier(), key=uuid.uuid4())
    assert counter("redeemed")["of_series"] == [[100, "Alpha"]]
    cage_desk.redeem(100, by=cashier(), key=uuid.uuid4())
    assert "of_series" not in counter("redeemed"), "nobody said which chips they were"
    proved()
    monkeypatch.setattr(chip_series, "at_the_counter", lambda *_, **__: ((100, "Omega"),))
    cage_desk.redeem(100, chips=((100, 1),), by=cashier(), key=uuid.uuid4())
    fault = proofs.verify(house).fault
    assert fault is not None
    assert "there was no chip of 100 cents of a series Omega" in fault.what


def test_whoever_redeems_looks_where_a_kind_has_several_series(house: Book, clock: Clock) -> None:
    """Harm: chips of a series that ended are paid, because the cashier was never asked."""
    olga = someone(Role.OPERATOR, "olga")
    chip_series.add("Beta", "Chips & Co", 2027, [100], by=olga)

    def redeem(of_series: tuple[tuple[int, str], ...] = ()) -> None:
        cage_desk.redeem(100, chips=((100, 1),), by=cashier(), key=uuid.uuid4(), of_series=of_series)

    def sell(cents: int) -> None:
        cage_desk.sell(cents, chips=((cents, 1),), by=cashier(), key=uuid.uuid4())

    wrong = refusal_of(redeem)
    assert (wrong.code, wrong.sentence) == (
        "series_needed",
        "Chips of 1 are of the series Alpha or Beta: look at them, and say which. Those of two series pass the counter"
        " one after the other.",
    )
    assert refusal_of(redeem, of_series=((100, "Gamma"),)).code == "unknown_chip_series"
    redeem(of_series=((100, "Beta"),))
    assert counter("redeemed")["of_series"] == [[100, "Beta"]]
    assert refusal_of(sell, 100).code == "series_needed"
    last_day = retire()
    sell(100)
    assert counter("sold")["of_series"] == [[100, "Beta"]], "what is retired is not given out: nobody has to look"
    assert refusal_of(sell, 500).code == "chip_retired"
    assert refusal_of(redeem).code == "series_needed"
    redeem(of_series=((100, "Alpha"),))
    clock.stand(after(last_day))
    refusal = refusal_of(redeem, of_series=((100, "Alpha"),))
    assert refusal.code == "series_expired"
    assert refusal.sentence.endswith("Hand them back, and show the announcement; a claim is for the cage manager.")
    redeem(of_series=((100, "Beta"),))
    proved()


def test_what_is_out_after_the_last_day_lapses_in_an_entry_of_its_own(house: Book, clock: Clock) -> None:
    """Harm: the house owes chips for ever that nobody may bring back, or forgets them without a word."""
    receive(chips=((100, 30),), noted=((100, 30),))
    count = BeginSlip("lapse", ((100, 25),), facts=facts())
    assert refusal_of(sign, manager(), count).code == "series_in_use"
    last_day = retire()
    assert refusal_of(sign, manager(), count).code == "series_in_use"
    clock.stand(after(last_day))
    before = place_sums()
    assert refusal_of(sign, manager(), BeginSlip("lapse", ((100, 31),), facts=facts())).code == "bad_count"
    slip = sign(manager(), count)
    assert changed(before) == {}
    sign(auditor(), SignSlip(slip, "recounted", ((100, 25),)))
    assert changed(before) == {"players": -500, "issue": 500}
    assert chip_stock.of("Alpha").lapsed == {100: 5}
    assert refusal_of(sign, manager(), count).code == "lapsed_already"
    assert not Discrepancy.objects.exists()
    proved()


# --- found and given back ---------------------------------------------------------------------------------------


def brought(chips: Any = ((100, 7),), **extra: str) -> BeginSlip:
    form = {"place": "Under table 3", "moment": timezone.now().isoformat(), **extra}
    return BeginSlip("found", chips, facts=form)


def test_found_chips_go_into_the_cage_and_back_to_their_owner(house: Book) -> None:
    """Harm: found chips are returned twice, or chips that no player can have make the liability negative."""
    before = place_sums()
    assert refusal_of(sign, guard(), brought(((10_000, 100_000),))).code == "bad_amount"
    ahead = (timezone.now() + timedelta(hours=1)).isoformat()
    assert refusal_of(sign, guard(), brought(moment=ahead)).code == "bad_fact"
    slip = sign(cashier(), SignSlip(sign(guard(), brought()), "received"))
    assert changed(before) == {"players": -700, "cage": 700}
    back = BeginSlip("claim", ((100, 5),), facts={"slip": slip, "claimed_by": "Mr Jones, by passport"})
    sign(guard(), SignSlip(sign(cashier(), back), "witnessed"))
    assert changed(before) == {"players": -200, "cage": 200}
    wrong = refusal_of(sign, cashier(), back)
    assert wrong.sentence == "Found 1: 2 chips of 1 are left of it, and not 5."
    claim = BeginSlip("claim", ((100, 1),), facts={"slip": "found/2026/9", "claimed_by": "Mr Jones"})
    assert refusal_of(sign, cashier(), claim).code == "unknown_slip"
    proved()


# --- counterfeit ------------------------------------------------------------------------------------------------


def confiscation(series: str, chips: Any = ((10_000, 2),), **extra: str) -> BeginSlip:
    form = {"place": "Counter 1", "moment": timezone.now().isoformat(), "taken_from": "unknown", "envelope": "E 17"}
    return BeginSlip(series, chips, facts=form | extra)


def test_counterfeit_chips_are_no_part_of_a_balance_but_their_payment_is(house: Book) -> None:
    """Harm: counterfeit chips are counted as the casino's own, or the payment for them is in no account."""
    before = place_sums()
    slip = sign(cashier(), confiscation("counterfeit"))
    assert Alert.objects.get(kind="counterfeit_taken").message.endswith("counterfeit chips, 200, Counter 1")
    sign(guard(), SignSlip(slip, "sealed"))
    sign(manager(), SignSlip(slip, "handed", facts={"handed_to": "PC Plod", "report": "77/26"}))
    assert changed(before) == {}
    sign(guard(), SignSlip(sign(cashier(), confiscation("counterfeit", paid="no")), "sealed"))
    assert changed(before) == {}
    refusal = refusal_of(sign, cashier(), confiscation("counterfeit", paid="perhaps"))
    assert refusal.sentence.endswith("is yes or no.")
    sign(guard(), SignSlip(sign(cashier(), confiscation("counterfeit", paid="True")), "sealed"))
    assert changed(before) == {"cage": -20_000, "over_short": 20_000}
    table = Table.objects.get()
    boss = someone(Role.PIT_BOSS, "boris")
    signs(table, boss, confiscation("forgery", ((100, 3),), paid="yes"))
    signs(table, guard(), SignSlip("forgery/" + f"{timezone.localdate().year}/1", "sealed"))
    assert changed(before) == {"cage": -20_000, "over_short": 20_300, "rack": -300}
    assert LogEntry.objects.get(kind="forgery_sealed").legs == 1
    proved()


# --- never deleted ----------------------------------------------------------------------------------------------


def test_a_kind_of_chip_is_retired_and_never_deleted(house: Book) -> None:
    olga, chip = someone(Role.OPERATOR, "olga"), Denomination.objects.get(value_cents=100)
    slip = sign(manager(), BeginSlip("receipt", SENT, facts=facts(note_number="1"), noted=SENT))
    assert refusal_of(retirement.retire_denomination, chip, "Nobody uses it", by=olga).code == "slip_open"
    sign(guard(), SignSlip(slip, "recounted", SENT))
    assert refusal_of(retirement.retire_denomination, chip, " ", by=olga).code == "bad_reason"
    assert refusal_of(retirement.retire_denomination, chip, "Why not", by=manager()).code == "not_permitted"
    retirement.retire_denomination(chip, "Nobody uses it", by=olga)
    assert refusal_of(retirement.retire_denomination, chip, "Again", by=olga).code == "retired_already"
    assert refusal_of(sign, cashier(), BeginSlip("withdrawal", ((100, 1),))).code == "chip_retired"
    proved()
    Denomination.objects.filter(pk=chip.pk).update(retired_at=None, retired_why="", retired_by="")
    assert any("100 cents" in fault for fault in compare().faults)


def test_a_table_is_retired_closed_and_empty(house: Book) -> None:
    """Harm: chips and cash at a table that nobody sees any more; a table that is opened from an old page."""
    olga, table = someone(Role.OPERATOR, "olga"), Table.objects.get()
    wrong = refusal_of(retirement.retire_table, table, "Sold", by=olga)
    assert (wrong.code, wrong.sentence[:25]) == ("not_empty", "The rack of Rocket 1 hold")
    _empty(table)
    boss = someone(Role.PIT_BOSS, "boris")
    signs(table, boss, BeginSlip("opener", ()))
    assert refusal_of(retirement.retire_table, table, "Sold", by=olga).sentence == (
        "Opener 1 of Rocket 1 is to be signed first."
    )
    signs(table, someone(Role.DEALER, "dora"), SignSlip(table_state.of(table).slips[-1].name, "recounted", ((100, 1),)))
    retirement.retire_table(table, "Sold", by=olga)
    assert refusal_of(retirement.retire_table, table, "Sold", by=olga).code == "retired_already"
    for begun in (BeginSlip("opener", ()), BeginSlip("fill", ((100, 1),))):
        with pytest.raises(Refused, match="Rocket 1 is retired"):
            signs(table, boss, begun)
    proved()
    Table.objects.filter(pk=table.pk).update(retired_at=None)
    assert any("Rocket 1" in fault for fault in compare().faults)


def _empty(table: Table) -> None:
    """A credit of all that lies in the rack."""
    cents = next(cents for account, cents in cage.balances(table.book_id).items() if account.place == "rack")
    people = [someone(Role.PIT_BOSS, "bella"), someone(Role.DEALER, "dora"), someone(Role.PIT_BOSS, "pia"), guard()]
    signs(table, people[0], BeginSlip("credit", ((100, cents // 100),)))
    slip = table_state.of(table).slips[-1].name
    steps = ("issued", "confirmed", "carried", "received")
    for stage, by in zip(steps, (*people[1:], cashier()), strict=True):
        signs(table, by, SignSlip(slip, stage))
