"""Chips on the move: nothing is lost, nothing is posted twice, and a balance never costs more than what is new."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger import cage, log
from ledger.inspection import inspect_book, inspect_house
from ledger.log import Draft, KeyReused, read_head
from ledger.models import HOUSE, Account, Book, LogEntry, Transfer
from ledger.proof.chips import HOUSE_PLACES, MOVEMENTS
from ledger.proof.moves import undone
from ledger.recount import first_fault, recount
from tests.ledger.conftest import FLOAT_CENTS, Felt, lay_felt
from tests.pace import percent


def places(book: Book) -> dict[str, int]:
    """What is not empty, by name."""
    return {str(account): cents for account, cents in cage.balances(book.pk).items() if cents}


def everything() -> int:
    return sum(cage.net_effect(cage.all_books()).values())


# --- Posting --------------------------------------------------------------------------------------------------


def test_a_round_moves_the_stake_the_loss_and_the_rest(felt: Felt) -> None:
    """Harm prevented: chips on the layout after the round, a rack that did not gain what the player lost."""
    felt.round(bet=2000, lost=1600)
    assert places(felt.book) == {"players": 50_000 - 1600, "rack": FLOAT_CENTS - 50_000 + 1600}
    felt.win(bet=2000)
    assert places(felt.book) == {"players": 50_000 + 400, "rack": FLOAT_CENTS - 50_000 - 400}
    assert places(Book.objects.get(name=HOUSE)) == {"issue": -FLOAT_CENTS}
    assert everything() == 0


def test_entry_and_transfers_are_stored_together_or_not_at_all(felt: Felt) -> None:
    """Harm prevented: a round in the log whose chips never moved, or the reverse."""
    before = read_head(felt.book.pk)
    good = felt.chart.move("stake", "players", ("layout", 1), 2000)
    bad = felt.chart.move("stake", "rack", ("layout", 1), 2000)
    with pytest.raises(IntegrityError, match="closed_list"), transaction.atomic():
        felt.write(good, bad)
    assert read_head(felt.book.pk) == before
    assert not Transfer.objects.filter(kind="stake").exists()


def test_posting_is_one_round_trip(felt: Felt) -> None:
    """Harm prevented: a table that waits for the network once per transfer."""
    move = felt.chart.move("stake", "players", ("layout", 1), 2000)
    with transaction.atomic():
        head = log.lock(felt.book.pk)
        with CaptureQueriesContext(connection) as queries:
            cage.post(head, Draft("round", "play", "101 Ann", {}), [move] * 9)
    assert len(queries) == 1


def test_the_log_alone_tells_where_every_chip_went(felt: Felt) -> None:
    """Harm prevented: a log that proves that something happened, but not what was paid."""
    felt.round()
    entry = LogEntry.objects.filter(book=felt.book).order_by("seq").last()
    assert entry is not None
    ids = felt.chart.ids
    players, layout, rack = ids["players", None], ids["layout", 1], ids["rack", None]
    assert entry.parts.moves == [
        ["stake", f"players#{players}", f"layout#{layout}", 2000, None],
        ["loss", f"layout#{layout}", f"rack#{rack}", 1600, None],
        ["return", f"layout#{layout}", f"players#{players}", 400, None],
    ]


def test_a_reversal_brings_every_chip_back(felt: Felt) -> None:
    """Harm prevented: a correction after which somebody has too much."""
    before = places(felt.book)
    head = felt.round()
    felt.write(*undone(cage.transfers(felt.book.pk, head.seq - 1, head.seq)))
    assert places(felt.book) == before
    assert first_fault(felt.book.pk) is None
    kinds = list(Transfer.objects.filter(kind="reversal").order_by("leg").values_list("reverses__kind", flat=True))
    assert kinds == ["return", "loss", "stake"]


PAIRS = [(kind, *pair) for kind, pairs in MOVEMENTS.items() if kind != "reversal" for pair in sorted(pairs)]


@pytest.mark.slow("tries many orders of transfers")
@settings(max_examples=percent(16))
@given(st.data())
def test_whatever_moves_the_sum_over_all_places_stays_zero(felt: Felt, data: st.DataObject) -> None:
    """Harm prevented: chips that come from nowhere or end there, by any series of movements and recounts."""
    cage.open_table_book("Table 1", 6, pot=True)
    chart = cage.chart(felt.book.pk)
    step = st.tuples(st.sampled_from(PAIRS), st.integers(1, 10**12), st.booleans(), st.booleans())
    expected = {account.pk: 0 for account in Account.objects.all()} | cage.net_effect(cage.all_books())
    for (kind, source, target), amount, count, undo in data.draw(st.lists(step, max_size=8)):
        places_of = {"layout": ("layout", 3), "seat": ("seat", 3)}
        start, end = places_of.get(source, source), places_of.get(target, target)
        end = ("seat", 4) if kind == "pay_seat" else end
        move = chart.move(kind, start, end, amount)
        head = felt.write(move)
        if undo:
            felt.write(*undone(cage.transfers(felt.book.pk, head.seq - 1, head.seq)))
        else:
            expected[move.source_account_id] -= amount
            expected[move.target_account_id] += amount
        if count:
            recount(felt.book.pk, "test")
    net = cage.net_effect(cage.all_books())
    assert {account: net.get(account, 0) for account in expected} == expected
    assert sum(net.values()) == 0
    assert first_fault(felt.book.pk) is None


# --- Books and accounts ---------------------------------------------------------------------------------------


def test_books_are_opened_once(felt: Felt) -> None:
    """Harm prevented: a second rack after a restart; a seat that lost its place because the table got smaller."""
    accounts = Account.objects.count()
    assert cage.open_house() == Book.objects.get(name=HOUSE)
    assert cage.open_table_book("Table 1", 6) == felt.book
    assert cage.open_table_book("Table 1", 4) == felt.book
    assert Account.objects.count() == accounts
    cage.open_table_book("Table 1", 8)
    assert Account.objects.count() == accounts + 2
    with pytest.raises(ValueError, match="house's own book"):
        cage.open_table_book(HOUSE, 6)


def test_balances_of_house_and_table_agree(felt: Felt) -> None:
    """Harm prevented: a cage that counts only one table's fills."""
    second_felt = lay_felt("Table 2")
    second_felt.credit(300_000)
    house = Book.objects.get(name=HOUSE)
    assert places(house) == {"issue": -2 * FLOAT_CENTS, "cage": 300_000}
    for account, cents in [*cage.balances(house.pk).items(), *cage.balances(felt.book.pk).items()]:
        assert cage.balance(account) == cents
    assert everything() == 0
    assert {place for place, _ in felt.chart.ids if place in HOUSE_PLACES} == HOUSE_PLACES


def test_recounts_change_no_balance(felt: Felt) -> None:
    """Harm prevented: a sum that differs by where one starts to add."""
    second_felt = lay_felt("Table 2")
    books = [*cage.all_books()]
    for number in range(12):
        felt.round(seat=number % 6 + 1)
        second_felt.win()
        without = [cage.balances(book) for book in books]
        if number % 3 == 0:
            recount(felt.book.pk, "test")
        if number % 5 == 0:
            recount(second_felt.book.pk, "test")
        assert [cage.balances(book) for book in books] == without


# --- Cost -----------------------------------------------------------------------------------------------------


def rows_scanned(work: Callable[[], Any]) -> int:
    """How many rows of transfers and recounts the database looks at for what `work` asks."""
    with CaptureQueriesContext(connection) as queries:
        work()
    scanned = 0
    with transaction.atomic(), connection.cursor() as cursor:
        # A table of a few pages is read whole, and rightly so; here it stands for one of millions of rows.
        cursor.execute("SET LOCAL enable_seqscan = off")
        for query in queries.captured_queries:
            if query["sql"].lstrip().startswith(("SELECT", "WITH")) and "FOR NO KEY" not in query["sql"]:
                cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + query["sql"].replace("%", "%%"))
                scanned += scanned_below(cursor.fetchone()[0][0]["Plan"])
    return scanned


def scanned_below(plan: dict[str, Any]) -> int:
    below = sum(scanned_below(child) for child in plan.get("Plans", ()))
    if plan.get("Relation Name") not in ("ledger_transfer", "ledger_recount", "ledger_logentry"):
        return below
    dropped = plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Index Recheck", 0)
    return below + int((plan["Actual Rows"] + dropped) * plan["Actual Loops"])


def test_balances_and_recounts_cost_what_is_new_and_not_what_is_old(
    open_felt: Felt, owner_connection: psycopg.Connection
) -> None:
    """Harm prevented: a table that grows slower with every year that it is open. Rows are counted, not seconds."""
    cost = []
    for history in (40, 360):
        for number in range(history):
            open_felt.round()
            if number % 20 == 19:
                recount(open_felt.book.pk, "test")
        owner_connection.execute("ANALYZE ledger_transfer, ledger_recount, ledger_logentry")
        for _ in range(10):
            open_felt.round()
        cost.append(
            (
                rows_scanned(lambda: cage.balances(open_felt.book.pk)),
                rows_scanned(lambda: recount(open_felt.book.pk, "test")),
            )
        )
    (balances_young, recount_young), (balances_old, recount_old) = cost
    assert Transfer.objects.count() > 1000
    assert balances_old <= balances_young + 10
    assert recount_old <= recount_young + 10
    assert balances_old < 150


# --- Many at once ---------------------------------------------------------------------------------------------


def at_once(*work: Callable[[], object]) -> list[BaseException]:
    """Run each in a thread with a connection of its own, all starting together; returns what they raised."""
    start, raised = threading.Barrier(len(work)), []

    def run(call: Callable[[], object]) -> None:
        try:
            start.wait()
            call()
        except Exception as error:
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[call]) for call in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive(), "somebody waits for ever"
    return raised


def test_eight_writers_on_one_book_make_one_gapless_chain(open_felt: Felt) -> None:
    """Harm prevented: a fork or a gap in a busy table's log, or writers that block one another for good."""
    before = read_head(open_felt.book.pk).seq

    def deal() -> None:
        for _ in range(15):
            open_felt.round()

    assert at_once(*[deal] * 8) == []
    seqs = list(
        LogEntry.objects.filter(book=open_felt.book, seq__gt=before).order_by("seq").values_list("seq", flat=True)
    )
    assert seqs == list(range(before + 1, before + 121))
    assert first_fault(open_felt.book.pk) is None
    assert everything() == 0


def test_the_same_key_ten_times_at_once_is_written_once(open_felt: Felt) -> None:
    """Harm prevented: one tap, sent again by a nervous network, that pays ten times."""
    key = uuid4()
    move = open_felt.chart.move("stake", "players", ("layout", 1), 2000)
    raised = at_once(*[lambda: open_felt.write(move, key=key)] * 10)
    assert len(raised) == 9
    assert all(isinstance(error, KeyReused) for error in raised)
    assert LogEntry.objects.filter(key=key).count() == 1
    assert Transfer.objects.filter(kind="stake").count() == 1
    assert first_fault(open_felt.book.pk) is None


def test_proving_and_recounting_in_the_middle_of_play(open_felt: Felt) -> None:
    """Harm prevented: a recount that sees half a round, two that contradict one another, a false alarm, a deadlock."""

    def deal() -> None:
        for _ in range(20):
            open_felt.round(lost=100)

    def count() -> None:
        for _ in range(10):
            recount(open_felt.book.pk, "test")
            cage.open_table_book("Table 1", 7)

    def look() -> None:
        for _ in range(15):
            assert inspect_book(open_felt.book.pk) == []
            assert inspect_house() == []

    assert at_once(deal, deal, count, count, look, look) == []
    recount(open_felt.book.pk, "test")
    assert first_fault(open_felt.book.pk) is None
    assert everything() == 0


def test_two_tables_do_not_wait_for_each_other(open_felt: Felt) -> None:
    """Harm prevented: a house that is as slow as its slowest table."""
    second_felt = lay_felt("Table 2")
    with transaction.atomic():
        log.lock(open_felt.book.pk)
        assert at_once(second_felt.round) == []
