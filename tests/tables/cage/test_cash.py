"""The house's cash: the vault and the account at the bank, counts by two, notes put apart, keys and drops; the day."""

import uuid
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ledger.models import HOUSE, Alert, Book, Discrepancy, LogEntry
from ledger.proof.chips import CASH_PLACES
from ledger.proof.slip_name import SlipName
from tables.audit import proofs, row_comparison, watch
from tables.cage import cage_desk, custody_items, slip_records
from tables.cage import key_register as register
from tables.cage.key_register import Schedule
from tables.floor.inputs import BeginSlip, SignSlip, VoidSlip
from tables.log.catalog import read_as
from tables.log.entries.custody import HouseKeySet
from tables.log.entries.days import DayClosed
from tables.log.slip_workflow import QuestionedNote
from tables.models import DayClose, HouseKey, Staff
from tables.refusals import Refused
from tables.reports import cash, day_close, figures, gaming_hours, inventory, keys_and_drops
from tables.roles import Role
from tests import floor
from tests.clock import Clock
from tests.floor import Hand, signs
from tests.pace import percent
from tests.ready import ready_made
from tests.tables.cage.test_cage_desk import changed, place_sums, refusal_of
from tests.tables.reports.forged_closes import fault_of_close

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

HUNDREDS = ((10_000, 50),)
ROLES = {
    "cora": Role.CASHIER, "cleo": Role.CASHIER, "mona": Role.CAGE_MANAGER, "sam": Role.SECURITY,
    "sid": Role.SECURITY, "olga": Role.OPERATOR, "pam": Role.PIT_BOSS, "con": Role.COUNTER, "cyd": Role.COUNTER,
    "cob": Role.COUNTER,
}  # fmt: skip


@pytest.fixture
def noon(clock: Clock) -> datetime:
    """A moment of a day's middle, so that a test does not run over the end of a real day."""
    moment = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=1)
    clock.stand(moment)
    return moment


@pytest.fixture
@ready_made
def book(noon: datetime) -> Book:
    """A house with one table: players bought chips for 1,000 at the cage, so that much cash lies there."""
    floor.table()
    usernames = set(Staff.objects.values_list("username", flat=True))
    for name in ROLES.keys() - usernames:
        floor.staff(ROLES[name], name)
    return Book.objects.get(name=HOUSE)


def at_a_table() -> Hand:
    return floor.dealt_by(floor.staff(Role.DEALER, "dora"), name="Rocket 2")


def crew_member(name: str) -> Staff:
    return Staff.objects.get(username=name)


def sign(name: str, entered: Any) -> str:
    return cage_desk.sign(entered, by=crew_member(name), key=uuid.uuid4())


def from_the_bank(chips: Any = HUNDREDS) -> str:
    slip = sign("cora", BeginSlip("bankin", chips))
    sign("mona", SignSlip(slip, "approved"))
    sign("sam", SignSlip(slip, "received", facts={"receipt": "BR-7"}))
    return slip


def counted(series: str, cents: int, apart: Any = ()) -> str:
    chips = ((100, cents // 100),)
    slip = sign("cora", BeginSlip(series, chips, apart=apart))
    return sign("mona", SignSlip(slip, "recounted", chips, apart=apart))


# --- The vault and the bank ------------------------------------------------------------------------------------


def test_cash_goes_between_bank_vault_and_windows(book: Book) -> None:
    """Harm: cash leaves the vault with one signature, without the carrier's receipt, or in excess of the balance."""
    before = place_sums()
    slip = from_the_bank()
    assert slip.startswith("bankin/")
    assert changed(before) == {"depositary": -500_000, "vault_cash": 500_000}
    back = sign("cora", BeginSlip("bankout", ((10_000, 20),)))
    sign("mona", SignSlip(back, "approved"))
    assert refusal_of(sign, "sam", SignSlip(back, "handed_over")).code == "bad_fact"
    assert refusal_of(sign, "sam", SignSlip(back, "handed_over", facts={"receipt": " "})).status == 422
    sign("sam", SignSlip(back, "handed_over", facts={"receipt": "BR-8"}))
    assert changed(before) == {"depositary": -300_000, "vault_cash": 300_000}
    assert LogEntry.objects.get(kind="bankin_received").parts.content["facts"] == {"receipt": "BR-7"}
    assert refusal_of(sign, "cora", BeginSlip("imprest", ((10_000, 31),))).sentence == (
        "The vault's cash holds less than 3,100."
    )
    assert refusal_of(sign, "cora", BeginSlip("imprest", ())).sentence.startswith("Say how many notes and coins")
    out = sign("cora", BeginSlip("imprest", ((10_000, 30),)))
    assert refusal_of(sign, "cora", SignSlip(out, "issued")).code == "wrong_role"
    assert refusal_of(sign, "olga", SignSlip(out, "issued")).code == "wrong_role"
    sign("mona", SignSlip(out, "issued"))
    assert changed(before) == {"depositary": -300_000, "bank": 300_000}
    back = sign("cleo", BeginSlip("imprestback", ((5_000, 4),)))
    sign("mona", SignSlip(back, "received"))
    assert changed(before) == {"depositary": -300_000, "bank": 280_000, "vault_cash": 20_000}
    assert proofs.verify(book).fault is None


def test_the_cage_pays_out_no_more_than_it_has_and_players_hold(book: Book) -> None:
    """Harm: the cage redeems chips that no player has."""
    cage_desk.sell(200_000, by=crew_member("cora"), key=uuid.uuid4())
    from_the_bank()
    sign("mona", SignSlip(sign("cora", BeginSlip("imprest", HUNDREDS)), "issued"))
    refusal = refusal_of(cage_desk.redeem, 300_100, by=crew_member("cora"), key=uuid.uuid4())
    assert refusal.sentence.startswith("Players hold chips for 3,000: 3,001 cannot be redeemed.")
    cage_desk.redeem(300_000, by=crew_member("cora"), key=uuid.uuid4())
    assert place_sums()["players"] == 0
    empty = refusal_of(cage_desk.redeem, 90_000_000, by=crew_member("cora"), key=uuid.uuid4())
    assert empty.sentence.startswith("The cage's cash holds")
    assert proofs.verify(book).fault is None


def test_foreign_money_is_refused_in_words(book: Book) -> None:
    """Harm: a note of another country goes into the box at par."""
    at_the_cage = refusal_of(cage_desk.sell, 10_000, by=crew_member("cora"), key=uuid.uuid4(), currency="eur")
    assert at_the_cage.code == "foreign_currency"
    assert at_the_cage.sentence == (
        "EUR is not taken here: this house takes USD only. Hand it back: a bank changes it."
    )
    hand = at_a_table()
    assert refusal_of(hand, "sell_chips", amount_cents=10_000, currency="GBP").code == "foreign_currency"
    hand("sell_chips", amount_cents=10_000, currency="USD")


# --- Counts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("series", "place", "off", "level"), [("cagecash", "bank", -12_000, 2), ("vaultcash", "vault_cash", 5_000, 1)]
)
def test_cash_is_counted_by_two_and_what_differs_is_a_discrepancy(
    book: Book, series: str, place: str, off: int, level: int
) -> None:
    """Harm: a drawer is short, and the ledger has no entry of it."""
    from_the_bank()
    before = place_sums()[place]
    slip = counted(series, before + off)
    assert place_sums()[place] == before + off
    discrepancy = Discrepancy.objects.get()
    assert (discrepancy.amount_cents, discrepancy.evidence["slip"], discrepancy.level) == (off, slip, level)
    assert set(discrepancy.involved) == {"cora", "mona"}
    assert proofs.verify(book).fault is None
    assert not watch.reconcile()


def test_counts_that_differ_come_to_nothing(book: Book) -> None:
    """Harm: the second count is taken for the first."""
    before = place_sums()
    slip = sign("cora", BeginSlip("cagecash", ((100, 999),)))
    assert "bank" in cage_desk.being_counted_by(crew_member("cleo"))
    sign("mona", SignSlip(slip, "recounted", ((100, 1_000),)))
    assert place_sums() == before
    assert not Discrepancy.objects.exists()
    assert cage_desk.being_counted_by(crew_member("cleo")) == frozenset()


def test_a_torn_note_counts_as_nothing_until_it_is_accepted(book: Book) -> None:
    """Harm: an unspendable note is in the ledger as money, or vanishes from it; or counterfeit notes come in all
    evening and the casino learns of them from the bank."""
    counted("cagecash", 100_000, (("suspect", 0, "E-3"),))
    [alert] = Alert.objects.filter(kind="cagecash_recounted")
    assert "suspected counterfeit notes for 0, envelope E-3" in alert.message
    torn = (("torn", 5_000, "E-1"),)
    slip = counted("cagecash", 95_000, torn)
    assert place_sums()["bank"] == 95_000
    assert Discrepancy.objects.get().amount_cents == -5_000
    [_, envelope] = custody_items.envelopes().values()
    assert (envelope.slip, envelope.note) == (slip, QuestionedNote("torn", 5_000, "E-1", 2))
    facts = {"envelope": envelope.name, "reason": "The bank changed it"}
    unknown = {"envelope": "cagecash/2026/1 E-9", "reason": "Found it"}
    note = BeginSlip("note", ((5_000, 1),), facts=facts)
    assert refusal_of(sign, "cora", BeginSlip("note", ((5_000, 1),), facts=unknown)).code == "unknown_fact"
    assert refusal_of(sign, "cora", BeginSlip("note", ((10_000, 1),), facts=facts)).code == "bad_amount"
    accepted = sign("cora", note)
    assert refusal_of(sign, "cleo", note).code == "unknown_fact"
    sign("mona", SignSlip(accepted, "accepted"))
    assert place_sums()["bank"] == 100_000
    assert envelope.name not in custody_items.envelopes()
    assert proofs.verify(book).fault is None


def test_two_who_put_other_notes_apart_do_not_agree(book: Book) -> None:
    """Harm: a note is in one count and in nobody's envelope."""
    chips = ((100, 950),)
    slip = sign("cora", BeginSlip("cagecash", chips, apart=(("torn", 5_000, "E-1"),)))
    sign("mona", SignSlip(slip, "recounted", chips, apart=(("torn", 5_000, "E-2"),)))
    assert place_sums()["bank"] == 100_000
    assert not custody_items.envelopes()
    for apart in ((("lost", 5_000, "E"),), (("torn", -1, "E"),), (("torn", 1, ""),), (("torn", 1, "E"),) * 2):
        assert refusal_of(sign, "cora", BeginSlip("cagecash", chips, apart=apart)).code == "bad_apart"
    notes = (("torn", 1, "E"),)
    assert refusal_of(sign, "cora", BeginSlip("imprestback", chips, apart=notes)).code == "bad_apart"


# --- The day ---------------------------------------------------------------------------------------------------


def day_is_over(noon: datetime, clock: Clock, hour: int = 24) -> date:
    day = gaming_hours.day_of(noon)
    clock.stand(noon + timedelta(hours=hour))
    return day


def row_of(day: date, place: str) -> dict[str, Any]:
    return next(line.row() for line in cash.day(day) if line.place == place)


def test_the_day_says_what_should_be_there_and_what_was_counted(book: Book, noon: datetime, clock: Clock) -> None:
    """Harm: the day is closed, and nobody can tell from it where its cash went."""
    from_the_bank()
    sign("mona", SignSlip(sign("cora", BeginSlip("imprest", ((10_000, 10),))), "issued"))
    clock.stand(noon + timedelta(hours=1))
    counted("cagecash", 195_000)
    day = day_is_over(noon, clock)
    row = row_of(day, "bank")
    assert row["moved"] == {"cash_in": 100_000, "cash_short": -5_000, "imprest_out": 100_000}
    assert (row["opening_cents"], row["closing_cents"], row["counted_cents"]) == (0, 195_000, 195_000)
    assert (row["difference_cents"], row["is_counted"], row["says"]) == (-5_000, True, "")
    vault = row_of(day, "vault_cash")
    assert (vault["moved"], vault["says"]) == (
        {"bank_in": 500_000, "imprest_out": -100_000},
        "The vault's cash was never counted.",
    )
    tomorrow = row_of(day + timedelta(days=1), "bank")
    assert (tomorrow["opening_cents"], tomorrow["moved"]) == (195_000, {})


def closes(day: date) -> DayClose:
    proposal = day_close.propose(day, by=crew_member("pam"))
    return day_close.close(day, by=crew_member("olga"), digest=proposal.digest)


def test_a_day_waits_for_the_count_after_its_last_movement(
    book: Book, noon: datetime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: cash is moved after the count, and the day is closed with the old count; or a casino that may close without
    the count closes without saying so."""
    counted("cagecash", 100_000)
    clock.stand(noon + timedelta(hours=1))
    cage_desk.sell(10_000, by=crew_member("cora"), key=uuid.uuid4())
    day = day_is_over(noon, clock)
    late = refusal_of(closes, day)
    assert late.code == "day_open"
    assert "The cage's cash was not counted since its last movement" in late.sentence
    with monkeypatch.context() as patched:
        patched.setattr(day_close.cash_policies, "close_needs_count", lambda: False)
        uncounted = day_close._figures(day).cash[0]
    assert not uncounted["is_counted"]
    assert "not counted since its last movement" in uncounted["says"]
    counted("cagecash", 110_000)
    row = row_of(day, "bank")
    assert (row["is_counted"], row["counted_after"], row["closing_cents"]) == (True, True, 110_000)
    close = closes(day)
    body = LogEntry.objects.get(book=book, seq=close.seq).body
    cash_lines = read_as(DayClosed, bytes(body)).cash
    assert cash_lines is not None
    assert [line["place"] for line in cash_lines] == ["bank", "vault_cash"]
    assert cash_lines[0] == row
    assert proofs.verify(book).fault is None
    clock.stand(noon + timedelta(days=2))
    counted("cagecash", 90_000)
    assert proofs.verify(book).fault is None, "what is counted later is no part of the day that was closed"


def test_cash_that_two_people_invented_is_found(book: Book, noon: datetime, clock: Clock) -> None:
    """Harm: a pit boss and an operator sign figures of a day's cash that the log does not support."""
    counted("cagecash", 100_000)
    day = day_is_over(noon, clock)
    content = day_close._figures(day)._asdict()
    cash_lines = [content["cash"][0] | {"closing_cents": 1}, *content["cash"][1:]]
    assert "its closing_cents is" in fault_of_close(day, content | {"cash": cash_lines}, *signers())


def test_cash_left_out_of_a_later_close_is_found(book: Book, noon: datetime, clock: Clock) -> None:
    """Harm: the day on which cash went missing is closed without its cash, as earlier releases allowed."""
    counted("cagecash", 100_000)
    closes(day_is_over(noon, clock))
    day = day_is_over(noon + timedelta(days=1), clock)
    content = day_close._figures(day)._asdict()
    del content["cash"], content["cash_by_shift"]
    assert "its cash is missing" in fault_of_close(day, content, *signers())


def signers() -> tuple[Staff, Staff]:
    return crew_member("pam"), crew_member("olga")


# --- Keys ------------------------------------------------------------------------------------------------------


def key(name: str, *, dual: bool = False, in_use: bool = True) -> None:
    register.set_key(HouseKeySet(name=name, lock="box_release", dual=dual, in_use=in_use), by=crew_member("olga"))


def out(name: str, *people: str) -> str:
    series, stages = ("key", ("handed_out",)) if len(people) == 2 else ("dualkey", ("held_with", "handed_out"))
    slip = sign(people[0], BeginSlip(series, facts={"key": name}))
    for person, stage in zip(people[1:], stages, strict=True):
        sign(person, SignSlip(slip, stage))
    return slip


def test_a_key_is_signed_out_and_comes_back(book: Book) -> None:
    """Harm: two people have the key to the boxes and the register names one of them; or one person takes a key that
    requires two holders."""
    key("B1")
    assert refusal_of(sign, "sam", BeginSlip("key", facts={"key": "B2"})).code == "unknown_fact"
    out("B1", "sam", "mona")
    [entry] = keys_and_drops.register(timezone.now())
    assert (entry.is_out, entry.holders) == (True, ("Sam",))
    assert refusal_of(sign, "sid", BeginSlip("key", facts={"key": "B1"})).code == "unknown_fact"
    back = sign("sam", BeginSlip("keyback", facts={"key": "B1"}))
    assert refusal_of(sign, "sam", SignSlip(back, "taken_back")).code == "signed_already"
    sign("mona", SignSlip(back, "taken_back"))
    assert not keys_and_drops.register(timezone.now())[0].is_out
    key("Vault", dual=True)
    assert refusal_of(sign, "sam", BeginSlip("key", facts={"key": "Vault"})).code == "unknown_fact"
    out("Vault", "cora", "sam", "mona")
    assert keys_and_drops.register(timezone.now())[1].holders == ("Cora", "Sam")
    assert proofs.verify(book).fault is None
    assert row_comparison.compare().faults == []


def test_a_key_that_is_not_back_by_the_end_of_the_shift_alerts(book: Book, noon: datetime, clock: Clock) -> None:
    """Harm: the key to the count room goes home in a pocket."""
    key("C1")
    out("C1", "con", "sam")
    end = gaming_hours.shift_of(noon).end
    clock.stand(end + timedelta(minutes=20))
    assert keys_and_drops.check_overdue(timezone.now()) == 0
    clock.stand(end + timedelta(minutes=31))
    assert keys_and_drops.check_overdue(timezone.now()) == 1
    assert "Key C1 is not back: signed out by Con" in Alert.objects.get(kind="key_out").message


def test_a_retired_key_is_not_taken(book: Book) -> None:
    """Harm: a key that was lost is still handed out."""
    key("B1")
    key("B1", in_use=False)
    assert refusal_of(sign, "sam", BeginSlip("key", facts={"key": "B1"})).code == "unknown_fact"
    with pytest.raises(Refused, match="There is no key B9 to retire"):
        key("B9", in_use=False)
    with pytest.raises(Refused, match="Only an operator"):
        register.set_key(HouseKeySet(name="B2", lock="cage", dual=False, in_use=True), by=crew_member("mona"))


def test_a_key_slip_is_void_until_the_key_is_handed_out(book: Book) -> None:
    """Harm: a key that was requested by mistake stays in the cabinet and cannot be taken again; or a guard who is alone
    gets a refusal without advice and breaks the cabinet open."""
    key("B1")
    slip = sign("sam", BeginSlip("key", facts={"key": "B1"}))
    key_refusal = refusal_of(sign, "sid", BeginSlip("key", facts={"key": "B1"}))
    assert key_refusal.sentence == "Key 1 is about B1, and is in progress: finish it, or make it void, first."
    assert refusal_of(sign, "sam", SignSlip(slip, "handed_out")).sentence == (
        "Sam signed on this slip already: another person has to. Nobody hands a key out to themselves: call another of"
        " the cage or security. Until they sign, the key hangs in the cabinet; make the slip void if nobody comes."
    )
    sign("mona", VoidSlip(slip, "The wrong key"))
    assert refusal_of(sign, "sam", SignSlip(slip, "voided")).code == "signed_already"
    sign("sid", SignSlip(slip, "voided"))
    assert not keys_and_drops.register(timezone.now())[0].is_out
    complete = out("B1", "sam", "mona")
    refusal = refusal_of(sign, "pam", VoidSlip(complete, "Not needed"))
    assert refusal.code == "not_voidable"
    assert refusal.sentence.endswith("not made void. The key is out: return it with a slip, or report it lost.")
    back = sign("sam", BeginSlip("keyback", facts={"key": "B1"}))
    sign("pam", VoidSlip(back, "It stays out"))
    sign("sid", SignSlip(back, "voided"))
    assert keys_and_drops.register(timezone.now())[0].is_out
    assert proofs.verify(book).fault is None


LOST = {"place": "Corridor B", "moment": "2026-01-01T10:00", "reason": "Fell off the ring"}


@pytest.mark.parametrize("is_out", [True, False])
def test_a_lost_key_is_nobodys_and_its_mark_ends(book: Book, noon: datetime, clock: Clock, is_out: bool) -> None:
    """Harm: the key to the boxes is lost, an alert chases its holder for good, and its mark is handed out again."""
    key("B1")
    if is_out:
        out("B1", "con", "sam")
    slip = sign("con", BeginSlip("keylost", facts={"key": "B1"} | LOST))
    assert "Lost key 1: key lost, B1, Corridor B" in Alert.objects.get(kind="keylost_reported").message
    assert keys_and_drops.register(timezone.now())[0].is_out is is_out, "one person alone loses no key"
    assert refusal_of(sign, "con", SignSlip(slip, "confirmed")).code in ("wrong_role", "signed_already")
    sign("pam", SignSlip(slip, "confirmed"))
    [entry] = keys_and_drops.register(timezone.now())
    assert (entry.is_out, entry.lost is not None) == (False, True)
    clock.stand(gaming_hours.shift_of(noon).end + timedelta(hours=2))
    assert keys_and_drops.check_overdue(timezone.now()) == 0
    for series in ("key", "keyback", "keylost"):
        assert refusal_of(sign, "sam", BeginSlip(series, facts={"key": "B1"} | LOST)).status == 422
    with pytest.raises(Refused, match=r"Key B1 was lost \(Lost key 1\): the new key has a mark of its own"):
        key("B1")
    key("B1", in_use=False)
    key("B1-2")
    out("B1-2", "con", "sam")
    assert proofs.verify(book).fault is None
    assert row_comparison.compare().faults == []


def test_a_key_forged_behind_the_desk_is_found(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the writer of the log hands out a key that two people signed as lost, or an edited row requires one holder
    for a key that requires two."""
    key("B1")
    key("Vault", dual=True)
    sign("pam", SignSlip(sign("con", BeginSlip("keylost", facts={"key": "B1"} | LOST)), "confirmed"))
    with transaction.atomic():
        HouseKey.objects.create(seq=1, name="Vault", lock="vault", dual=False, in_use=True, by="x", at=timezone.now())
        assert any("setting of a key" in fault for fault in row_comparison.compare().faults)
        assert proofs.verify(book).fault is not None
        transaction.set_rollback(True)
    with monkeypatch.context() as patched:
        patched.setattr(register, "lost", lambda through_seq=None: {})
        out("B1", "con", "sam")
        assert proofs.verify(book).fault is None, "the fault is not from the register of lost keys"
    fault = proofs.verify(book).fault
    assert fault is not None
    assert "B1 is none of the keys that there were then" in fault.what


# --- The vault's chips -------------------------------------------------------------------------------------------


def test_the_vaults_chips_are_counted_by_two_and_certain_by_piece(book: Book, noon: datetime, clock: Clock) -> None:
    """Harm: chips are missing from the vault, and the casino reports the balance expected by the ledger."""
    stocked = sign("cora", BeginSlip("deposit", ((500, 20), (100, 200))))
    sign("mona", SignSlip(stocked, "approved"))
    before = place_sums()
    chips = ((500, 20), (100, 197))
    slip = sign("cora", BeginSlip("vault", chips))
    assert "vault" in cage_desk.unseen_by(crew_member("pam"))
    assert refusal_of(sign, "cleo", BeginSlip("vault", chips)).code == "count_open"
    assert refusal_of(sign, "cora", SignSlip(slip, "recounted", chips)).code == "signed_already"
    sign("mona", SignSlip(slip, "recounted", chips))
    assert changed(before) == {"vault": -300, "over_short": 300}
    clock.stand(noon + timedelta(minutes=1))  # what lies there at a moment came before it
    today = gaming_hours.day_of(timezone.now())
    vault = inventory.on(today).stocks[0].holding
    assert vault.is_certain
    assert vault.pieces == dict(chips)
    assert Discrepancy.objects.get().amount_cents == -300
    assert dict(inventory.last_counts(today))["Vault"] is not None
    assert proofs.verify(book).fault is None
    assert not watch.reconcile()


def test_a_day_waits_for_the_vaults_count(
    book: Book, noon: datetime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the vault was counted once, at the opening, and never since."""
    day = gaming_hours.day_of(noon)
    chips = ((100, place_sums()["vault"] // 100),)
    vault = lambda: sign("mona", SignSlip(sign("cora", BeginSlip("vault", chips)), "recounted", chips))  # noqa: E731
    clock.stand(noon + timedelta(days=40))
    assert day_close._vault_uncounted(day + timedelta(days=39)) == [], (
        "a house that never counts it is not kept from it"
    )
    clock.stand(noon)
    vault()
    clock.stand(noon + timedelta(days=40))
    assert day_close._vault_uncounted(day + timedelta(days=29)) == []
    [reason] = day_close._vault_uncounted(day + timedelta(days=39))
    assert reason.endswith("and are counted each month: two people count them.")
    monkeypatch.setattr(day_close.cash_policies, "vault_chips_counted_each", lambda: "never")
    assert day_close._vault_uncounted(day + timedelta(days=39)) == []
    monkeypatch.undo()


# --- Drops -----------------------------------------------------------------------------------------------------


def test_a_drop_is_due_shown_and_alerts_when_it_is_late(book: Book, noon: datetime, clock: Clock) -> None:
    """Harm: boxes stay under the tables for days, and nobody notices."""
    hand = at_a_table()
    today = gaming_hours.day_of(noon)
    schedule = Schedule("Morning", today, (), tuple(range(7)), time(13, 0), "Security")
    register.set_schedule(schedule, by=crew_member("olga"), today=today)
    drops = keys_and_drops.next_drops(timezone.now())
    assert {drop.table for drop in drops} == {"Rocket 1", "Rocket 2"}
    assert not any(drop.is_late for drop in drops)
    hand("sell_chips", amount_cents=10_000)
    due = drops[0].due
    clock.stand(due + timedelta(minutes=31))
    assert [drop.table for drop in keys_and_drops.next_drops(timezone.now()) if drop.is_late] == ["Rocket 2"]
    assert keys_and_drops.check_overdue(timezone.now()) == 1
    assert "The drop of Rocket 2 is late" in Alert.objects.get(kind="drop_late").message
    emergency(hand, "Full")
    assert not any(drop.is_late for drop in keys_and_drops.next_drops(timezone.now()))
    assert row_comparison.compare().faults == []


def emergency(hand: Hand, reason: str) -> str:
    facts = {"reason": reason, "box_after": "R2-17"}
    signs(hand.table, crew_member("sid"), BeginSlip("emergency", box="R2-9", facts=facts))
    name = hand.now.slips[-1].name
    signs(hand.table, crew_member("con"), SignSlip(name, "witnessed"))
    return name


def test_an_emergency_drop_has_its_reason_and_the_box_after_it(book: Book) -> None:
    """Harm: a box leaves in the middle of the shift without a reason or the mark of the next one; or after one full box
    no guard of the shift may take the others."""
    hand = at_a_table()
    hand("sell_chips", amount_cents=10_000)
    bare = BeginSlip("emergency", box="R2-9", facts={"reason": "", "box_after": "R2-17"})
    assert refusal_of(signs, hand.table, crew_member("sid"), bare).code == "bad_fact"
    name = emergency(hand, "It is full")
    sheet = slip_records.sheet_of(hand.table, SlipName.parse(name))
    assert sheet is not None
    assert sheet.says[1] == ("Mark on the new box", "R2-17")
    hand("sell_chips", amount_cents=20_000)
    for person, stage in (("cyd", "counted"), ("cob", "recounted")):
        signs(hand.table, crew_member(person), SignSlip(name, stage, ((10_000, 1),)))
    assert proofs.verify(hand.table.book).fault is None
    report = figures.day(gaming_hours.day_of(timezone.now()))
    assert next(line for line in report.lines if line.name == "Rocket 2").drop_cents == 30_000
    signs(hand.table, crew_member("sid"), BeginSlip("drop", box="R2-17"))
    assert hand.now.slips[-1].series.name == "drop"


def test_a_schedule_that_cannot_be_is_refused(book: Book, noon: datetime) -> None:
    """Harm: boxes are due at a table that does not exist, and the alert never ends."""
    today = gaming_hours.day_of(noon)
    schedule = Schedule("M", today, (), (0,), time(5), "S")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"weekdays": (7,)}, "Weekdays"),
        ({"tables": ("Nowhere",)}, "There is no table Nowhere"),
        ({"from_day": date(2020, 1, 1)}, "A schedule begins on"),
        ({"who": ""}, "Who takes the boxes"),
        ({"name": " x"}, "A schedule's name"),
    ]
    for change, sentence in wrong:
        refusal = refusal_of(register.set_schedule, replace(schedule, **change), by=crew_member("olga"), today=today)
        assert sentence in refusal.sentence


# --- Random days -----------------------------------------------------------------------------------------------


DEEDS = st.lists(
    st.tuples(
        st.sampled_from(
            ("bankin", "bankout", "imprest", "imprestback", "sell", "redeem", "cagecash", "vaultcash", "vault")
        ),
        st.integers(1, 60),
        st.sampled_from((0, 0, -3, 2)),
    ),
    min_size=3,
    max_size=14,
)
LAST = {"bankin": "received", "bankout": "handed_over"}


@pytest.mark.slow("tries many orders of slips, sales and counts")
@settings(max_examples=percent(8), phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(deeds=DEEDS)
def test_whatever_is_done_with_cash_every_coin_is_somewhere(book: Book, deeds: Any) -> None:
    """Harm: an order of slips, sales and counts in which a coin appears or goes."""
    for deed, hundreds, off in deeds:
        before = place_sums()
        expected: dict[str, int] = {}
        with suppress(Refused):
            expected = do(deed, hundreds * 10_000, off * 100, before)
        after = place_sums()
        assert {place: after[place] - before[place] for place in after if after[place] != before[place]} == expected
        assert sum(after[place] for place in CASH_PLACES) == 0
        assert after["bank"] >= 0
        assert after["vault_cash"] >= 0
        assert after["players"] >= 0
    assert proofs.verify(book).fault is None
    for line in cash.day(gaming_hours.day_of(timezone.now())):
        assert line.closing_cents == place_sums()[line.place]


def do(deed: str, cents: int, off: int, before: dict[str, int]) -> dict[str, int]:
    """One deed, and what it moves by plain addition."""
    chips = ((10_000, cents // 10_000),)
    match deed:
        case "sell":
            cage_desk.sell(cents, by=crew_member("cora"), key=uuid.uuid4())
            return {"cage": -cents, "players": cents, "cash": -cents, "bank": cents}
        case "redeem":
            cage_desk.redeem(cents, by=crew_member("cora"), key=uuid.uuid4())
            return {"cage": cents, "players": -cents, "cash": cents, "bank": -cents}
        case "cagecash" | "vaultcash" | "vault":
            place = {"cagecash": "bank", "vaultcash": "vault_cash", "vault": "vault"}[deed]
            off = max(off, -before[place])
            counted(deed, before[place] + off)
            difference_place = "over_short" if deed == "vault" else "cash_over_short"
            return {place: off, difference_place: -off} if off else {}
    slip = sign("cora", BeginSlip(deed, chips))
    sign("mona", SignSlip(slip, {"imprest": "issued", "imprestback": "received"}.get(deed, "approved")))
    if deed in LAST:
        sign("sam", SignSlip(slip, LAST[deed], facts={"receipt": "R"}))
    source, target = {
        "bankin": ("depositary", "vault_cash"),
        "bankout": ("vault_cash", "depositary"),
        "imprest": ("vault_cash", "bank"),
        "imprestback": ("bank", "vault_cash"),
    }[deed]
    return {source: -cents, target: cents}
