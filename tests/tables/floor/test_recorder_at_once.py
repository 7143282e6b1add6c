"""Several screens, several processes, one table: what happens at the same moment happens once, and in one order."""

import uuid
from functools import partial
from typing import Any

import pytest

from ledger import cage
from ledger.models import LogEntry, Transfer
from tables.audit import proofs
from tables.floor import inputs, recorder
from tables.floor.inputs import Input
from tables.floor.recorder import Receipt
from tables.refusals import Refused
from tables.roles import Role
from tables.state import table_state
from tests import floor
from tests.floor import Hand
from tests.tables.at_once import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def send(hand: Hand, entered: Input, seq: int | None = None, key: uuid.UUID | None = None) -> partial[Receipt]:
    """An input, ready to be entered on a state that a screen has seen."""
    return partial(
        recorder.record,
        hand.table,
        entered,
        by=hand.by,
        key=key or uuid.uuid4(),
        expected_seq=hand.now.seq if seq is None else seq,
    )


def codes(results: list[Any]) -> list[str]:
    return sorted("done" if isinstance(result, Receipt) else result.code for result in results)


def test_the_last_card_ten_times_at_once_settles_once_and_is_answered_alike(dealer: Hand) -> None:
    """Harm: a client that sends again after a late answer has its bet doubled, or its round paid twice."""
    dealer.bets(seat1=1_000, seat2=5_000)
    dealer.cards(8, 9)
    transfers = Transfer.objects.filter(book_id=dealer.table.book_id)
    before = transfers.count()
    seq, key = dealer.now.seq, uuid.uuid4()
    table_state.cache.clear()
    answers = at_once(*[send(dealer, inputs.KeyCard(3), key=key)] * 10)
    assert {(answer.entry, answer.seq) for answer in answers} == {(seq + 1, seq + 1)}
    assert sorted(answer.again for answer in answers) == [False] + [True] * 9
    assert LogEntry.objects.filter(book_id=dealer.table.book_id, seq__gt=seq).count() == 1
    assert transfers.count() - before == 6
    assert sum(cage.net_effect(cage.all_books()).values()) == 0


def test_a_crowd_of_screens_on_one_state_leaves_one_entry(dealer: Hand) -> None:
    """Harm: of several simultaneous presses on one board, one of them Hit and one Fold, more than one counts."""
    dealer.bets(seat1=1_000)
    dealer.cards(8, 9)
    seq = dealer.now.seq
    presses: list[Input] = [inputs.Choose(1, "fold"), inputs.KeyCard(7)] * 4
    results = at_once(*[send(dealer, press) for press in presses])
    assert codes(results) == ["done"] + ["stale_sequence"] * 7
    assert {result.facts["seq"] for result in results if isinstance(result, Refused)} == {seq + 1} == {dealer.now.seq}
    assert proofs.verify(dealer.table.book).fault is None


def test_tables_do_not_wait_for_each_other(dealer: Hand) -> None:
    """Harm: two tables mix up their logs, or one house-wide lock makes every table as slow as all together."""
    neighbours = []
    for number in (2, 3):
        table = floor.table(f"Rocket {number}")
        boss = Hand(table, floor.staff(Role.PIT_BOSS, f"boss{number}"))
        boss("open_table")
        hand = Hand(table, floor.staff(Role.DEALER, f"dealer{number}"))
        recorder.sign_in(table, hand.by)
        hand.ready_shoe()
        neighbours.append(hand)

    def deal(hand: Hand) -> int:
        for _ in range(2):
            hand.bets(seat1=1_000, seat2=2_000)
            hand.cards(7, 8, 3)
            hand.pay()
        return hand.now.seq

    results = at_once(*[partial(deal, hand) for hand in (dealer, *neighbours)])
    assert [result for result in results if isinstance(result, Exception)] == []
    for hand in (dealer, *neighbours):
        report = proofs.verify(hand.table.book)
        assert (report.fault, report.rounds) == (None, 2)
    assert sum(cage.net_effect(cage.all_books()).values()) == 0


def test_one_dealer_signs_in_at_one_of_two_tables(dealer: Hand) -> None:
    """Harm: two quick taps, and one dealer stands at two tables; each log says that they dealt there."""
    tables = [floor.table(f"Rocket {number}") for number in (2, 3, 4)]
    for table in tables:
        Hand(table, floor.staff(Role.PIT_BOSS, f"boss {table.name}"))("open_table")
    ida = floor.staff(Role.DEALER, "ida", "102")
    results = at_once(*[partial(recorder.sign_in, table, ida) for table in tables])
    assert codes(results) == ["done", "signed_in_elsewhere", "signed_in_elsewhere"]


def test_of_two_dealers_one_takes_a_table(dealer: Hand) -> None:
    """Harm: both believe that the table is theirs."""
    ida, iris = floor.staff(Role.DEALER, "ida", "102"), floor.staff(Role.DEALER, "iris", "103")
    agreed = partial(recorder.relieve, dealer.table, dealer="dora", confirmed_by=dealer.by)
    results = at_once(*[partial(agreed, reliever) for reliever in (ida, iris)])
    assert codes(results) == ["done", "other_dealer"]
    stand = dealer.now.dealer
    assert stand is not None
    newest = LogEntry.objects.filter(book_id=dealer.table.book_id).latest("seq")
    assert stand.since_seq == newest.seq
    (out,) = [reliever for reliever in (ida, iris) if reliever.username != stand.username]
    with pytest.raises(Refused, match="not signed in"):
        send(Hand(dealer.table, out), inputs.Bet(1, 1_000))()


def test_a_table_closes_or_a_bet_is_placed_but_not_both(dealer: Hand) -> None:
    """Harm: a round is open at a closed table, and its chips are counted into the rack."""
    boss = Hand(dealer.table, floor.staff(Role.PIT_BOSS, "bert"))
    results = at_once(send(boss, inputs.BeginSlip("closer")), send(dealer, inputs.Bet(1, 1_000)))
    successes = [isinstance(result, Receipt) for result in results]
    assert sorted(successes) == [False, True]
    assert bool(dealer.now.slips) == successes[0]
    assert dealer.now.round_open == successes[1]
