"""Slips: who signs what, what each signature moves, and that no number, person or chip appears twice."""

import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from ledger import cage, log, slips
from ledger.connection_pools import Busy
from ledger.log import Draft
from ledger.models import Account, LogEntry, Slip, SlipSignature, Transfer
from tables.audit import proofs
from tables.cage import cage_desk, next_signer
from tables.floor import recorder
from tables.floor.inputs import BeginSlip, SignSlip, SlipInput, VoidSlip
from tables.log.slip_types import SLIPS, VOID, Chips
from tables.log.slip_workflow import GivenSignature
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import policies, role_choices
from tables.state import table_state
from tests import floor, terms
from tests.clock import Clock
from tests.floor import CREW, Hand, crew, dealt, signs
from tests.intruder import Intruder, at_work
from tests.tables.at_once import at_once
from tests.tables.cage.test_cage_desk import someone

CHIPS = ((500, 10), (100, 50))


def place_cents(table: Table) -> dict[str, int]:
    """What lies in each place of the table and the house that has no seat."""
    sums: dict[str, int] = {}
    for book in (table.book_id, cage.open_house().pk):
        for account, cents in cage.balances(book).items():
            if account.seat is None:
                sums[account.place] = sums.get(account.place, 0) + cents
    return sums


def changed(before: dict[str, int], table: Table) -> dict[str, int]:
    return {place: cents - before[place] for place, cents in place_cents(table).items() if cents != before[place]}


def refused(table: Table, by: Staff, entered: Any) -> Refused:
    """A signature that is not taken; nothing of it stays."""
    before = LogEntry.objects.count(), Slip.objects.count(), SlipSignature.objects.count()
    with pytest.raises(Refused) as raised:
        signs(table, by, entered)
    assert (LogEntry.objects.count(), Slip.objects.count(), SlipSignature.objects.count()) == before
    return raised.value


def begun(table: Table, by: Staff, series: str, chips: Chips = CHIPS, box: str = "") -> str:
    signs(table, by, BeginSlip(series, chips, box))
    return table_state.of(table).slips[-1].name


def numbers(series: str) -> list[int]:
    return sorted(Slip.objects.filter(series=series).values_list("number", flat=True))


def gapless_count(series: str) -> int:
    """How many slips the series has; in each year they are numbered from 1 without a gap."""
    slips_of_series = Slip.objects.filter(series=series)
    for year in set(slips_of_series.values_list("year", flat=True)):
        in_year = sorted(slips_of_series.filter(year=year).values_list("number", flat=True))
        assert in_year == list(range(1, len(in_year) + 1)), year
    return slips_of_series.count()


# --- fills and credits -----------------------------------------------------------------------------------------


def test_a_fill_is_nobodys_until_it_is_received(hands: tuple[Hand, Hand]) -> None:
    """Harm: chips that are on their way stand in the rack, or still in the cage, of whoever is asked."""
    dealer, boss = hands
    table, before = dealer.table, place_cents(dealer.table)
    slip = begun(table, boss.by, "fill")
    signs(table, crew("issued"), SignSlip(slip, "issued"))
    assert changed(before, table) == {}
    signs(table, crew("carried"), SignSlip(slip, "carried"))
    assert changed(before, table) == {"cage": -10_000, "transit": 10_000}
    signs(table, dealer.by, SignSlip(slip, "received"))
    assert changed(before, table) == {"cage": -10_000, "transit": 10_000}
    signs(table, crew("confirmed"), SignSlip(slip, "confirmed"))
    assert changed(before, table) == {"cage": -10_000, "rack": 10_000}
    assert not dealer.now.slips
    assert proofs.verify(table.book).fault is None


def test_a_credit_goes_the_other_way(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    table, before = dealer.table, place_cents(dealer.table)
    slip = begun(table, boss.by, "credit")
    signs(table, dealer.by, SignSlip(slip, "issued"))
    signs(table, crew("confirmed"), SignSlip(slip, "confirmed"))
    assert changed(before, table) == {}
    signs(table, crew("carried"), SignSlip(slip, "carried"))
    assert changed(before, table) == {"rack": -10_000, "transit": 10_000}
    signs(table, crew("issued"), SignSlip(slip, "received"))
    assert changed(before, table) == {"rack": -10_000, "cage": 10_000}
    assert proofs.verify(table.book).fault is None


def test_five_people_sign_a_fill_in_order(hands: tuple[Hand, Hand]) -> None:
    """Harm: a dealer of another table signs for chips never seen, or a step is left out."""
    dealer, boss = hands
    slip = begun(dealer.table, boss.by, "fill")
    early = refused(dealer.table, crew("carried"), SignSlip(slip, "carried"))
    assert early.sentence == f"Fill {slip.split('/')[2]}: given out by the cage comes next."
    for stage in ("issued", "carried"):
        signs(dealer.table, crew(stage), SignSlip(slip, stage))
    assert refused(dealer.table, crew("received"), SignSlip(slip, "received")).code == "not_the_dealer"
    signs(dealer.table, dealer.by, SignSlip(slip, "received"))
    signs(dealer.table, crew("confirmed"), SignSlip(slip, "confirmed"))
    assert not dealer.now.slips


def seen_by_the_requester(hands: tuple[Hand, Hand], series: str) -> SignSlip:
    """A slip with every signature before "seen by the floor"; who requested it is about to sign that step too."""
    dealer, boss = hands
    slip = begun(dealer.table, boss.by, series)
    for stage in takewhile(lambda stage: stage.name != "confirmed", SLIPS[series].stages[1:]):
        signs(dealer.table, dealer.by if stage.at_table_only else crew(stage.name), SignSlip(slip, stage.name))
    return SignSlip(slip, "confirmed")


@pytest.mark.parametrize("series", ["fill", "credit"])
def test_one_supervisor_requests_and_signs_at_the_table(hands: tuple[Hand, Hand], operator: Staff, series: str) -> None:
    """Harm: with one supervisor on a graveyard shift a fill stops before its last signature; or a casino that asks for
    a second one later finds that its earlier slips no longer verify."""
    dealer, boss = hands
    signs(dealer.table, boss.by, seen_by_the_requester(hands, series))
    policies.change({"second_supervisor": True}, by=operator)
    terms.read_again()
    assert proofs.verify(dealer.table.book).fault is None


def test_a_second_supervisor_signs_where_the_house_asks_for_one(
    hands: tuple[Hand, Hand], operator: Staff, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the person who requests chips also confirms that they arrived, in a casino that asks for a second person;
    or such a signature, written past the application, verifies."""
    dealer, boss = hands
    policies.change({"second_supervisor": True}, by=operator)
    terms.read_again()
    clock.stand(timezone.now() + timedelta(minutes=10))
    due = seen_by_the_requester(hands, "fill")
    again = refused(dealer.table, boss.by, due)
    assert (again.code, again.status) == ("signed_already", 409)
    assert again.sentence.endswith(": Bella requested it. The policy requires that another pit boss signs this step.")
    monkeypatch.setattr(role_choices, "takes_second_supervisor", lambda: False)
    signs(dealer.table, boss.by, due)
    fault = proofs.verify(dealer.table.book).fault
    assert fault is not None
    assert "one person signed twice, and the policy required a second supervisor then" in fault.what


def test_a_form_says_who_may_sign_the_next_step_and_who_may_not(
    hands: tuple[Hand, Hand], terms: Callable[..., None]
) -> None:
    """Harm: a person carries a slip to a step that they may not sign, and learns that from a refusal; or a form names a
    person who may sign as one who may not."""
    dealer, boss = hands
    due = seen_by_the_requester(hands, "fill")
    slip = dealer.now.slips[-1]
    names = [line.name for line in slip.signed]
    expected = {
        "requested": "any pit boss",
        "issued": "any cage manager or cashier",
        "carried": "any security officer",
        "received": "Dora, the dealer at the table",
        "confirmed": "any pit boss",
        "void_asked": "any cage manager, cashier or pit boss"
        f" except {names[0]}, who requested it, and {names[1]}, who gave it out",
    }
    for stage in (*slip.series.stages, VOID[0]):
        signed = slip.signed[: len(slip.series.stages) if stage == VOID[0] else slip.series.stages.index(stage)]
        assert next_signer.describe(slip.series, stage, signed, dealer.by.name) == expected[stage.name]
    terms(second_supervisor=True)
    assert (
        next_signer.describe(slip.series, SLIPS["fill"].stages[-1], slip.signed)
        == "any pit boss except Bella, who requested it"
    )
    assert refused(dealer.table, boss.by, due).code == "signed_already"
    Staff.objects.filter(username="dora").update(further=["pit_boss"])
    assert next_signer.describe(slip.series, SLIPS["fill"].stages[-1], slip.signed) == (
        "any pit boss except Bella, who requested it, and Dora, who counted it in"
    )
    by_dealer = GivenSignature("counted", "dora", "Dora", "dealer", 1)
    assert (
        next_signer.describe(SLIPS["rack"], SLIPS["rack"].stages[1], (by_dealer,))
        == "any pit boss except Dora, who counted it"
    )
    assert next_signer.describe(SLIPS["drop"], SLIPS["drop"].first) == (
        "any security officer who has not worked at the table since it opened"
    )


def test_the_database_takes_no_second_signature_and_no_gap(hands: tuple[Hand, Hand]) -> None:
    """Harm: after a change to the application, one person signs for two, or a number is left out."""
    dealer, boss = hands
    slip = begun(dealer.table, boss.by, "fill")
    signs(dealer.table, crew("issued"), SignSlip(slip, "issued"))
    book, seq = dealer.table.book, dealer.now.opened_seq
    newest = Slip.objects.get(series="fill", book=book, total_cents=10_000)
    for stage, username, rule in (
        ("carried", boss.by.username, "signer_once"),
        ("confirmed", crew("issued").username, "confirmer_once"),
        ("requested", "somebody", "stage_once"),
    ):
        with pytest.raises(IntegrityError, match=rule), transaction.atomic():
            SlipSignature.objects.create(
                slip=newest, stage=stage, username=username, role="cashier", book=book, seq=seq
            )
    for number, previous, rule in (
        (newest.number + 5, newest.number + 4, "ledger_slip_follows"),
        (newest.number + 2, newest.number, "ledger_slip_gapless"),
        (newest.number, newest.previous, "ledger_slip_number"),
    ):
        facts = {"series": "fill", "year": newest.year, "number": number, "previous": previous}
        with pytest.raises(IntegrityError, match=rule), transaction.atomic():
            Slip.objects.create(**facts, book=book, seq=seq, total_cents=1)


SIGNERS = {
    "requested": {Role.PIT_BOSS},
    "issued": {Role.CASHIER, Role.CAGE_MANAGER},
    "carried": {Role.SECURITY},
    "received": {Role.DEALER},
    "confirmed": {Role.PIT_BOSS},
}
"""The roles that may sign each step of a fill."""


def test_each_step_is_signed_by_the_role_that_does_it(hands: tuple[Hand, Hand]) -> None:
    """Harm: a dealer gives out chips at the cage, or a cashier counts them in at the table."""
    assert {stage.name: set(stage.roles) for stage in SLIPS["fill"].stages} == SIGNERS
    table, auditor, slip = hands[0].table, someone(Role.AUDITOR, "ada"), ""
    for stage in CREW:
        slip_input: SlipInput = SignSlip(slip, stage) if slip else BeginSlip("fill", CHIPS)
        assert refused(table, auditor, slip_input).code == "wrong_role", stage
        signs(table, hands[0].by if stage == "received" else crew(stage), slip_input)
        slip = slip or table_state.of(table).slips[-1].name


def test_an_impossible_slip_is_refused_and_takes_no_number(hands: tuple[Hand, Hand]) -> None:
    boss, guard = hands[1].by, someone(Role.SECURITY, "sue")
    wrong: list[tuple[Staff, str, Chips, str]] = [
        (boss, "fill", (), "bad_amount"),
        (boss, "fill", ((500, -1),), "bad_count"),
        (boss, "fill", ((500, 10**9),), "bad_count"),
        (boss, "fill", ((500, 1), (500, 1)), "bad_count"),
        (boss, "fill", ((700, 1),), "unknown_chip"),
        (boss, "fill", ((10_000, 100_000),), "bad_amount"),
        (boss, "credit", ((10_000, 1_000),), "bad_amount"),
        (boss, "marker", CHIPS, "unknown_slip"),
        (guard, "drop", (), "bad_box"),
    ]
    for by, series, chips, code in wrong:
        before = numbers(series)
        assert refused(hands[0].table, by, BeginSlip(series, chips)).code == code, (series, chips)
        assert numbers(series) == before


# --- numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_fifty_requests_at_once_have_numbers_without_a_gap() -> None:
    """Harm: two slips with one number, or one that nobody can account for."""
    tables = [floor.table(f"Rocket {number}") for number in range(1, 4)]
    before = gapless_count("fill")
    boss = crew("requested")

    def begins(table: Table) -> None:
        """Who is told that the book is held does the same again, as the sentence says."""
        for _ in range(20):
            with suppress(Busy):
                return signs(table, boss, BeginSlip("fill", CHIPS))
        raise AssertionError("the book was held for all that time")

    answers = at_once(*[partial(begins, tables[number % 3]) for number in range(50)])
    assert not [answer for answer in answers if isinstance(answer, BaseException)]
    assert gapless_count("fill") == before + 50
    for table in tables:
        assert proofs.verify(table.book).fault is None


@pytest.mark.django_db(transaction=True)
def test_a_request_that_dies_half_way_leaves_no_gap(superuser_connection: psycopg.Connection) -> None:
    """Harm: a number is taken by a process that is killed, and an auditor looks for that slip for ever."""
    table = floor.table()
    number_drawn, killed = threading.Event(), threading.Event()

    def dies() -> None:
        try:
            with transaction.atomic():
                assert slips.next_number("fill", latest_year()) == latest_number() + 1
                number_drawn.set()
                killed.wait(10)
                with connection.cursor() as cursor:
                    cursor.execute("SELECT 1")
        except Exception:
            connection.close()

    before = gapless_count("fill")
    thread = threading.Thread(target=dies)
    thread.start()
    assert number_drawn.wait(10)
    superuser_connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    killed.set()
    thread.join()
    signs(table, crew("requested"), BeginSlip("fill", CHIPS))
    assert gapless_count("fill") == before + 1


def latest_year() -> int:
    return int(Slip.objects.latest("pk").year)


def latest_number() -> int:
    return max(Slip.objects.filter(series="fill", year=latest_year()).values_list("number", flat=True))


@pytest.mark.django_db(transaction=True)
def test_the_cage_does_not_give_out_the_same_chips_to_two_tables() -> None:
    """Harm: two cashiers hand out more chips than the cage holds, and the second carrier is refused with the chips in
    hand."""
    cashiers, deeds = [crew("issued"), someone(Role.CASHIER, "cora")], []
    tables = [floor.table(f"Rocket {number}") for number in (1, 2)]
    cage_cents = cage.balance(Account.objects.get(place="cage"))
    chips = ((100, cage_cents // 100 - 1_000),)
    papers = [begun(table, crew("requested"), "fill", chips) for table in tables]
    for table, cashier, slip in zip(tables, cashiers, papers, strict=True):
        deeds.append(lambda table=table, cashier=cashier, slip=slip: signs(table, cashier, SignSlip(slip, "issued")))
    answers = at_once(*deeds)
    [lost] = [number for number, answer in enumerate(answers) if isinstance(answer, Refused)]
    won, aside = papers[1 - lost], f"99,000 is set aside for Fill {papers[1 - lost].split('/')[2]}"
    assert answers[lost].sentence == f"The cage holds less than 99,000: {aside}."
    for slip_input in (BeginSlip("fill", chips), BeginSlip("fill", ((100, 1_001),))):
        refusal = refused(tables[lost], crew("requested"), slip_input)
        assert refusal.sentence.endswith(f": 1,000 is available, {aside}.")
    with pytest.raises(Refused, match="set aside"):
        cage_desk.sell(200_000, by=crew("issued"), key=uuid.uuid4())
    signs(tables[1 - lost], crew("carried"), SignSlip(won, "carried"))
    assert cage.balance(Account.objects.get(place="cage")) == 100_000
    for table in tables:
        assert proofs.verify(table.book).fault is None


def test_a_void_slip_sets_nothing_aside(hands: tuple[Hand, Hand]) -> None:
    """Harm: chips that were given out by mistake are blocked in the cage for good."""
    dealer, boss = hands
    cage_cents = cage.balance(Account.objects.get(place="cage"))
    all_of_it = ((100, cage_cents // 100),)
    slip = begun(dealer.table, boss.by, "fill", all_of_it)
    signs(dealer.table, crew("issued"), SignSlip(slip, "issued"))
    signs(dealer.table, someone(Role.CASHIER, "cora"), VoidSlip(slip, "by mistake"))
    assert refused(dealer.table, boss.by, BeginSlip("fill", CHIPS)).code == "bad_amount"
    signs(dealer.table, someone(Role.AUDITOR, "aude"), SignSlip(slip, "voided"))
    begun(dealer.table, boss.by, "fill", all_of_it)


def test_every_year_begins_with_one(hands: tuple[Hand, Hand], monkeypatch: pytest.MonkeyPatch) -> None:
    dealer, boss = hands
    begun(dealer.table, boss.by, "fill")
    new_year = datetime(2031, 1, 1, 0, 5, tzinfo=ZoneInfo("UTC"))
    monkeypatch.setattr(slips.timezone, "localtime", lambda: new_year)
    assert begun(dealer.table, boss.by, "fill") == "fill/2031/1"
    assert begun(dealer.table, crew("requested"), "fill") == "fill/2031/2"


def test_the_same_form_twice_is_one_slip(hands: tuple[Hand, Hand]) -> None:
    """Harm: a double click requests twice the chips from the cage, or a form with other chips is confirmed as done and
    the first chips are carried."""
    dealer, boss = hands
    key, entered, before = uuid.uuid4(), BeginSlip("fill", CHIPS), len(numbers("fill"))
    record = partial(recorder.record, dealer.table, key=key, expected_seq=None)
    answer, repeat = (record(entered, by=boss.by) for _ in range(2))
    assert (answer.entry, repeat.again) == (repeat.entry, True)
    assert len(numbers("fill")) == before + 1
    for by, changed_form in ((boss.by, BeginSlip("fill", ((500, 1),))), (crew("requested"), entered)):
        with pytest.raises(Refused) as raised:
            record(changed_form, by=by)
        assert (raised.value.code, raised.value.status) == ("key_reused", 409)


def test_only_its_first_form_begins_a_slip(hands: tuple[Hand, Hand]) -> None:
    """Harm: an API client sends a name of its own and gets a server error, or signs at a table a slip whose number was
    never issued or that belongs to another log."""
    dealer, boss = hands
    for name in ("", "fill/2026/01", "a/b/c/d"):
        for slip_input in (SignSlip(name, "issued"), VoidSlip(name, "by mistake")):
            answer = refused(dealer.table, boss.by, slip_input)
            assert (answer.code, answer.status) == ("unknown_slip", 404)
            assert answer.sentence == f"There is no slip {name} at Rocket 1."
    for name, stage in (
        ("fill/2026/999", "requested"),
        ("opener/2026/999", "counted"),
        ("cage/2026/1", "recounted"),
        ("correction/2026/1", "signed"),
    ):
        answer = refused(dealer.table, boss.by, SignSlip(name, stage, ((100, 1),)))
        assert (answer.code, answer.status) == ("unknown_slip", 409)
        series, _, number = name.split("/")
        assert answer.sentence == f"There is no {series} {number} of 2026 in progress at this table."


def test_only_a_box_has_a_mark(hands: tuple[Hand, Hand]) -> None:
    """Harm: what nobody checked is written into the log for good, as the mark of a box that is none."""
    dealer, boss = hands
    begun(dealer.table, boss.by, "fill", box="\x1b[2J" * 100)
    assert table_state.of(dealer.table).slips[-1].box == ""


# --- counts ----------------------------------------------------------------------------------------------------


def count(table: Table, series: str, dealer_count: int, boss_count: int) -> None:
    """A dealer counts so many whites, a pit boss so many."""
    slip = begun(table, crew("received"), series, ((100, dealer_count),))
    signs(table, crew("requested"), SignSlip(slip, "recounted", ((100, boss_count),)))


def test_a_table_opens_only_when_two_people_counted_the_same(db: None) -> None:
    """Harm: one of them signs what the other one says."""
    table = floor.table()
    count(table, "opener", 9_000, 8_999)
    assert not table_state.of(table).is_open
    assert not table_state.of(table).slips, "the slip came to nothing: the rack is counted anew"
    count(table, "opener", 9_000, 9_000)
    assert table_state.of(table).is_open
    assert gapless_count("opener") == 2
    assert proofs.verify(table.book).fault is None


@pytest.mark.parametrize(
    ("whites", "moved"), [(9_001, {"over_short": -100, "rack": 100}), (8_990, {"over_short": 1_000, "rack": -1_000})]
)
def test_what_a_count_finds_goes_to_over_and_short(db: None, whites: int, moved: dict[str, int]) -> None:
    """Harm: a difference that is absorbed, and seen by nobody."""
    table = floor.table()
    before = place_cents(table)
    count(table, "opener", whites, whites)
    assert changed(before, table) == moved
    opened = LogEntry.objects.get(book=table.book, subject="table", kind="opened")
    assert proofs.verify(table.book).fault is None
    assert table_state.of(table).opening_rack_cents == whites * 100
    assert f'"variance_cents":{whites * 100 - 900_000}' in bytes(opened.body).decode()


def test_a_rack_is_counted_by_a_dealer_and_a_pit_boss(db: None) -> None:
    """Harm: two pit bosses count a rack, or a count is voided instead of made again."""
    table = floor.table()
    slip = begun(table, crew("requested"), "opener", ((100, 9_000),))
    assert refused(table, someone(Role.CASHIER, "carmen"), VoidSlip(slip, "wrong")).code == "not_voidable"
    assert refused(table, crew("confirmed"), SignSlip(slip, "recounted", ((100, 9_000),))).code == "wrong_role"
    signs(table, crew("received"), SignSlip(slip, "recounted", ((100, 9_000),)))
    assert table_state.of(table).is_open


def test_nothing_is_dealt_or_sold_while_the_rack_is_counted(hands: tuple[Hand, Hand]) -> None:
    """Harm: chips move between the first count and the second."""
    dealer, _ = hands
    begun(dealer.table, crew("received"), "closer", ((100, 9_000),))
    for do, facts in (("bet", {"seat": 1, "amount_cents": 1_000}), ("sell_chips", {"amount_cents": 1_000})):
        with pytest.raises(Refused) as raised:
            dealer(do, **facts)
        assert raised.value.code == "count_open"
    assert refused(dealer.table, crew("requested"), BeginSlip("rack", ((100, 1),))).code == "count_open"


def test_a_table_does_not_close_under_a_fill(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    slip = begun(dealer.table, boss.by, "fill")
    for stage in ("issued", "carried"):
        signs(dealer.table, crew(stage), SignSlip(slip, stage))
    assert refused(dealer.table, crew("received"), BeginSlip("closer", ((100, 1),))).code == "slip_open"


# --- cash and drop boxes ---------------------------------------------------------------------------------------


def test_cash_goes_into_the_box_and_chips_to_the_player(hands: tuple[Hand, Hand]) -> None:
    """Harm: chips are sold that the rack does not have, or cash does not reach the drop box."""
    dealer, _ = hands
    before = place_cents(dealer.table)
    for amount in (0, -100, 150, 10**12):
        with pytest.raises(Refused) as raised:
            dealer("sell_chips", amount_cents=amount)
        assert raised.value.code == "bad_amount"
    dealer("sell_chips", amount_cents=20_000)
    assert changed(before, dealer.table) == {
        "cash": -20_000, "drop_box": 20_000, "rack": -20_000, "players": 20_000,
    }  # fmt: skip
    dealer("change_chips", amount_cents=10_000, up=True)
    assert changed(before, dealer.table)["rack"] == -20_000, "by value nothing moves"
    assert proofs.verify(dealer.table.book).fault is None


@pytest.fixture
def boxed(hands: tuple[Hand, Hand]) -> tuple[Table, str]:
    """A box with 300 in it has left the table."""
    dealer, _ = hands
    dealer("sell_chips", amount_cents=30_000)
    slip = begun(dealer.table, someone(Role.SECURITY, "sue"), "drop", (), "R1 night")
    signs(dealer.table, someone(Role.COUNTER, "cole"), SignSlip(slip, "witnessed"))
    return dealer.table, slip


def test_a_box_is_counted_until_two_people_agree(boxed: tuple[Table, str]) -> None:
    """Harm: the second counter reads what the first one wrote, and both are wrong."""
    table, slip = boxed
    before = place_cents(table)
    counters = [someone(Role.COUNTER, name) for name in ("cleo", "carl", "cora")]
    signs(table, counters[0], SignSlip(slip, "counted", ((10_000, 3),)))
    signs(table, counters[1], SignSlip(slip, "recounted", ((10_000, 2), (5_000, 1))))
    assert changed(before, table) == {}, "they do not agree"
    assert refused(table, counters[0], SignSlip(slip, "recounted_2", ((10_000, 3),))).code == "signed_already"
    signs(table, counters[2], SignSlip(slip, "recounted_2", ((10_000, 2), (5_000, 1))))
    assert changed(before, table) == {"boxes": -30_000, "bank": 25_000, "cash_over_short": 5_000}
    assert not table_state.of(table).slips
    assert proofs.verify(table.book).fault is None


def test_one_box_at_a_time_leaves_a_table(hands: tuple[Hand, Hand]) -> None:
    """Harm: two slips for the cash of one box, and the second is counted against nothing."""
    table, sue, cole = hands[0].table, someone(Role.SECURITY, "sue"), someone(Role.COUNTER, "cole")
    day_slip = begun(table, sue, "drop", (), "R1 day")
    assert refused(table, sue, BeginSlip("drop", (), "R1 night")).code == "count_open"
    signs(table, cole, SignSlip(day_slip, "witnessed"))
    night_slip = begun(table, sue, "drop", (), "R1 night")
    signs(table, someone(Role.COUNTER, "cleo"), SignSlip(day_slip, "counted"))
    waits = refused(table, sue, BeginSlip("drop", (), "R1 dawn"))
    assert waits.sentence == f"Drop {night_slip.split('/')[2]} is to be signed first.", (
        "though another box was signed last"
    )


def test_nobody_who_worked_at_the_table_carries_its_box(hands: tuple[Hand, Hand]) -> None:
    """Harm: who took the cash in takes it away."""
    dealer, boss = hands
    slip = begun(dealer.table, boss.by, "fill")
    signs(dealer.table, crew("issued"), SignSlip(slip, "issued"))
    signs(dealer.table, crew("carried"), SignSlip(slip, "carried"))
    own = refused(dealer.table, crew("carried"), BeginSlip("drop", (), "R1"))
    assert own.code == "own_shift"


# --- void ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("through", [1, 3, 5], ids=["requested", "on its way", "complete"])
def test_a_void_takes_two_signatures_and_brings_every_chip_back(hands: tuple[Hand, Hand], through: int) -> None:
    """Harm: a fill is voided by one person or without a reason, or its chips stay where they were moved."""
    dealer, boss = hands
    table, before = dealer.table, place_cents(dealer.table)
    slip = begun(table, boss.by, "fill")
    for stage in list(CREW)[1:through]:
        signs(table, dealer.by if stage == "received" else crew(stage), SignSlip(slip, stage))
    cashier, auditor = someone(Role.CASHIER, "carmen"), someone(Role.AUDITOR, "aude")
    assert refused(table, auditor, VoidSlip(slip, "twice")).code == "wrong_role"
    for slip_input in (VoidSlip(slip, "  "), SignSlip(slip, "void_asked")):
        assert refused(table, cashier, slip_input).code == "bad_reason"
    signs(table, cashier, VoidSlip(slip, "it was asked for twice"))
    moved_by_stage = {1: {}, 3: {"cage": -10_000, "transit": 10_000}, 5: {"cage": -10_000, "rack": 10_000}}
    assert changed(before, table) == moved_by_stage[through]
    assert refused(table, cashier, SignSlip(slip, "voided")).code == "wrong_role"
    signs(table, auditor, SignSlip(slip, "voided"))
    assert changed(before, table) == {}
    assert not table_state.of(table).slips
    assert refused(table, crew("issued"), SignSlip(slip, "issued")).code == "unknown_slip"
    assert refused(table, someone(Role.PIT_BOSS, "petra"), VoidSlip(slip, "again")).code == "not_voidable"
    assert proofs.verify(table.book).fault is None


def test_a_void_does_not_bring_back_chips_that_are_gone(hands: tuple[Hand, Hand]) -> None:
    """Harm: chips that players bought meanwhile are booked back to the cage, and the rack holds less than nothing."""
    dealer, boss = hands
    slip = begun(dealer.table, boss.by, "fill")
    for stage in list(CREW)[1:]:
        signs(dealer.table, dealer.by if stage == "received" else crew(stage), SignSlip(slip, stage))
    rack = place_cents(dealer.table)["rack"]
    dealer("sell_chips", amount_cents=rack - 5_000)
    signs(dealer.table, someone(Role.CASHIER, "carmen"), VoidSlip(slip, "twice"))
    refusal = refused(dealer.table, someone(Role.AUDITOR, "aude"), SignSlip(slip, "voided"))
    assert refusal.sentence == "The rack does not hold 100 by now: ask for less."


def test_chips_that_are_broken_down_are_not_given_again(hands: tuple[Hand, Hand]) -> None:
    """Harm: what a credit is for is sold to players, or broken down for a second credit, before security comes, and
    carried to the cage all the same."""
    dealer, boss = hands
    rack_cents = place_cents(dealer.table)["rack"]
    chips = ((100, rack_cents // 100 - 10),)
    slip, second = begun(dealer.table, boss.by, "credit", chips), begun(dealer.table, boss.by, "credit", chips)
    signs(dealer.table, dealer.by, SignSlip(slip, "issued"))
    with pytest.raises(Refused, match="The rack does not hold that much"):
        dealer("sell_chips", amount_cents=1_100)
    dealer("sell_chips", amount_cents=1_000)
    refusal = refused(dealer.table, dealer.by, SignSlip(second, "issued"))
    aside = f"{rack_cents // 100 - 10:,} is set aside for Credit {slip.split('/')[2]}"
    assert refusal.sentence == f"The rack does not hold {rack_cents // 100 - 10:,}: ask for less, {aside}."
    signs(dealer.table, crew("confirmed"), SignSlip(slip, "confirmed"))
    signs(dealer.table, crew("carried"), SignSlip(slip, "carried"))
    assert place_cents(dealer.table)["rack"] == 0
    assert proofs.verify(dealer.table.book).fault is None


def test_chips_that_are_gone_are_not_carried(hands: tuple[Hand, Hand]) -> None:
    """Harm: a count finds less in the rack than a credit is for, and the credit is carried to the cage all the same."""
    dealer, boss = hands
    rack_cents = place_cents(dealer.table)["rack"]
    slip = begun(dealer.table, boss.by, "credit", ((100, rack_cents // 100),))
    signs(dealer.table, dealer.by, SignSlip(slip, "issued"))
    signs(dealer.table, crew("confirmed"), SignSlip(slip, "confirmed"))
    count(dealer.table, "rack", rack_cents // 100 - 1, rack_cents // 100 - 1)
    assert refused(dealer.table, crew("carried"), SignSlip(slip, "carried")).code == "bad_amount"


# --- forgeries -------------------------------------------------------------------------------------------------


CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "more chips": lambda content: content["now"].update(chips=[[500, 11]]),
    "another person": lambda content: content.update(username="nobody", name="Nobody"),
    "another step": lambda content: content.update(stage="carried", role="security"),
    "no slip left": lambda content: content.update(open=[]),
    "another role": lambda content: content.update(expected_cents=5, role="dealer"),
}


def test_a_signature_that_is_rewritten_or_deleted_is_found(transactional_db: None) -> None:
    """Harm: with consistent hashes, the log says that another person signed, or for more; or a signature is deleted."""
    dealer, boss = dealt()
    slip, book = begun(dealer.table, boss.by, "fill"), dealer.table.book
    signs(dealer.table, crew("issued"), SignSlip(slip, "issued"))
    assert proofs.verify(book).fault is None
    signature = SlipSignature.objects.latest("seq")

    def fault_after(change: Callable[[Intruder], None]) -> int | None:
        with at_work() as intruder:
            change(intruder)
            fault = proofs.verify(book).fault
        return fault.seq if fault else None

    def forge_content(intruder: Intruder, change: Callable[[dict[str, Any]], None]) -> None:
        intruder.rewrite(book.pk, signature.seq, lambda document: change(document["content"]))

    for name, change in CHANGES.items():
        assert fault_after(partial(forge_content, change=change)) == signature.seq, name
    deletion = "DELETE FROM ledger_slipsignature WHERE id = %s"
    assert fault_after(lambda intruder: intruder(deletion, signature.pk)) == signature.seq


def test_chips_that_move_without_a_slip_are_found(hands: tuple[Hand, Hand]) -> None:
    """Harm: a writer with the application's database role moves chips to the rack without a signature."""
    book = hands[0].table.book
    own = cage.chart(book.pk)
    with transaction.atomic():
        cage.post(
            log.lock(book.pk), Draft("chips", "fill", "bella Bella", {}), [own.move("fill_out", "cage", "transit", 1)]
        )
    fault = proofs.verify(book).fault
    assert fault is not None
    assert "writes no entry chips fill" in fault.what


def test_transfers_of_a_fill_are_its_slips(hands: tuple[Hand, Hand]) -> None:
    """Harm: movements between two tables: chips go through the cage or not at all."""
    kinds = set(Transfer.objects.filter(book=hands[0].table.book).values_list("kind", "source_place", "target_place"))
    assert ("fill_out", "cage", "transit") in kinds
    second_table = floor.table("Rocket 2")
    racks = Account.objects.filter(place="rack", book__in=[hands[0].table.book, second_table.book])
    assert racks.count() == 2
    own = cage.chart(hands[0].table.book_id)
    theirs = cage.chart(second_table.book_id)
    across = replace(own.move("fill", "transit", "rack", 100), target_account_id=theirs.ids["rack", None])
    with pytest.raises(IntegrityError), transaction.atomic():
        cage.post(log.lock(hands[0].table.book_id), Draft("slip", "x", "y", {}), [across])
