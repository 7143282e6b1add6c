"""record(): one input, one entry; what it refuses; and how a round becomes chips."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger import cage
from ledger.models import Account, Alert, LogEntry, Transfer
from tables.floor import inputs, recorder
from tables.models import Table
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import table_settings
from tables.state import table_state
from tests import floor
from tests.floor import Hand, dealt

pytestmark = pytest.mark.django_db


def kinds(hand: Hand, seq: int) -> list[tuple[str, int]]:
    rows = Transfer.objects.filter(book_id=hand.table.book_id, seq=seq).order_by("leg")
    return [(row.kind, row.amount_cents) for row in rows]


def chips_everywhere() -> dict[str, int]:
    """What lies in each place of the whole house."""
    net = cage.net_effect(cage.all_books())
    return {
        f"{account.book.name} {account}": net.get(account.pk, 0) for account in Account.objects.select_related("book")
    }


def refused(call: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        call()
    return caught.value


# --- a round in chips -----------------------------------------------------------------------------------------


def test_a_round_moves_its_chips_when_its_last_card_falls_and_only_then(dealer: Hand) -> None:
    """Harm: chips move on a round that is not over, or twice, or to the wrong side."""
    before = chips_everywhere()
    transfers = Transfer.objects.filter(book_id=dealer.table.book_id)
    posted = transfers.count()
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 8, 7)  # seat 1 is out on a pair of 8s, and still nothing has moved
    assert transfers.count() == posted
    dealer.cards(10)
    assert kinds(dealer, dealer.now.seq) == [
        ("stake", 2_000),
        ("loss", 1_600),
        ("return", 400),
        ("stake", 5_000),
        ("win", 5_000),
        ("return", 5_000),
    ]
    after = chips_everywhere()
    assert after["Rocket 1 rack"] - before["Rocket 1 rack"] == 1_600 - 5_000
    assert after["Rocket 1 players"] - before["Rocket 1 players"] == 5_000 - 1_600
    assert {place: cents for place, cents in after.items() if "layout" in place and cents} == {}
    assert sum(after.values()) == sum(before.values()) == 0
    dealer.pay()
    assert transfers.count() == posted + 6


def test_a_bet_that_is_lost_whole_returns_nothing(dealer: Hand) -> None:
    """Harm: a movement of no chips, which the ledger refuses, stops a round from ever ending."""
    dealer.bets(seat1=1_000)
    dealer.cards(10, 9, 10)
    assert kinds(dealer, dealer.now.seq) == [("stake", 1_000), ("loss", 1_000)]


def test_every_seat_is_settled_from_its_own_place_on_the_layout(dealer: Hand) -> None:
    """Harm: one seat's chips pay another's."""
    dealer.bets(seat1=1_000, seat2=2_000, seat3=3_000, seat6=6_000)
    dealer.cards(1, 2, 4, 5, 3)
    rows = Transfer.objects.filter(book_id=dealer.table.book_id, seq=dealer.now.seq).select_related("source", "target")
    rows = rows.order_by("leg")
    layout = [(row.kind, seat) for row in rows for seat in (row.source.seat, row.target.seat) if seat]
    assert layout == [(kind, seat) for seat in (1, 2, 3, 6) for kind in ("stake", "return")]


def test_seats_are_paid_right_to_left_and_the_next_round_waits(dealer: Hand) -> None:
    """Harm: a dealer walks the wrong way and pays a seat twice, or takes bets while somebody waits to be paid."""
    dealer.bets(seat1=1_000, seat3=1_000)
    dealer.cards(8, 4, 3)
    assert refused(lambda: dealer("paid", seat=1)).code == "out_of_turn"
    assert refused(lambda: dealer("bet", seat=1, amount_cents=1_000)).code == "pay_first"
    dealer("paid", seat=3)
    assert refused(lambda: dealer("paid", seat=3)).code == "out_of_turn"
    dealer("paid", seat=1)
    assert refused(lambda: dealer("paid", seat=1)).code == "nothing_to_pay"
    dealer("bet", seat=1, amount_cents=1_000)
    assert dealer.now.round is not None
    assert dealer.now.round.number == 2


# --- limits ---------------------------------------------------------------------------------------------------


def test_new_limits_apply_from_the_next_round_on(dealer: Hand, terms: Callable[..., None]) -> None:
    """Harm: a bet that was legal when it was placed becomes illegal, or the other way about, in mid-round."""
    terms(limits_notice_minutes=0)
    operator = floor.staff(Role.OPERATOR, "olga")
    dealer("bet", seat=1, amount_cents=1_000)
    table_settings.change_table(dealer.table, {"min_cents": 5_000, "max_cents": 50_000}, by=operator)
    dealer("bet", seat=2, amount_cents=2_000)
    assert refused(lambda: dealer("bet", seat=3, amount_cents=20_000)).facts["nearest_cents"] == [10_000]
    dealer("close_bets")
    dealer.cards(8, 9, 3)
    dealer.pay()
    assert refused(lambda: dealer("bet", seat=1, amount_cents=2_000)).facts["nearest_cents"] == [5_000]
    dealer("bet", seat=3, amount_cents=20_000)
    opening = dealer.now.round.opening if dealer.now.round else None
    assert opening is not None
    assert (opening.limits.min_cents, opening.limits.max_cents) == (5_000, 50_000)


def test_a_new_limit_moves_the_log_on_so_that_no_bet_slips_in_under_the_old_one(dealer: Hand) -> None:
    """Harm: a bet that was on its way while the operator lowered the maximum."""
    operator, seq = floor.staff(Role.OPERATOR, "olga"), dealer.now.seq
    table_settings.change_table(dealer.table, {"max_cents": 2_000}, by=operator)
    stale = refused(
        lambda: recorder.record(dealer.table, inputs.Bet(1, 5_000), by=dealer.by, key=uuid.uuid4(), expected_seq=seq)
    )
    assert (stale.code, stale.facts["seq"]) == ("stale_sequence", seq + 1)


def test_a_bet_over_the_tables_cap_is_refused_with_what_still_fits() -> None:
    """Harm: one round costs the house more than it decided to risk."""
    dealer, _ = dealt(cap_cents=12_000)
    dealer("bet", seat=1, amount_cents=10_000)
    over = refused(lambda: dealer("bet", seat=2, amount_cents=3_000))
    assert (over.code, over.facts["nearest_cents"]) == ("bad_bet", [2_000])
    assert "exposure cap" in over.sentence
    dealer("bet", seat=2, amount_cents=2_000)
    assert refused(lambda: dealer("bet", seat=3, amount_cents=1_000)).facts["nearest_cents"] == []
    dealer("bet", seat=1, amount_cents=5_000)  # a bet that is lowered makes room
    dealer("bet", seat=3, amount_cents=1_000)


def test_a_refused_bet_names_the_nearest_legal_ones(dealer: Hand) -> None:
    """Harm: the dealer has to do arithmetic in front of the player."""
    legal_cents = {999: [1_000], 1_001: [1_000, 2_000], 10_500: [10_000], 9_999: [9_000, 10_000]}
    for cents, nearest in legal_cents.items():
        refusal = refused(lambda cents=cents: dealer("bet", seat=1, amount_cents=cents))
        assert refusal.facts["nearest_cents"] == nearest


def test_bets_that_are_all_taken_off_again_leave_no_round_open(dealer: Hand, terms: Callable[..., None]) -> None:
    """Harm: a bet placed by mistake keeps the dealer from tapping out, and the table from closing."""
    terms(limits_notice_minutes=0)
    dealer("bet", seat=1, amount_cents=1_000)
    assert refused(lambda: dealer("sign_out")).code == "round_open"
    dealer("bet", seat=1, amount_cents=0)
    assert not dealer.now.round_open
    operator = floor.staff(Role.OPERATOR, "olga")
    table_settings.change_table(dealer.table, {"min_cents": 2_000, "options": {"decks": 1, "burn": 5}}, by=operator)
    assert refused(lambda: dealer("bet", seat=1, amount_cents=1_000)).code == "bad_bet"
    dealer("bet", seat=1, amount_cents=2_000)
    assert dealer.now.round is not None
    assert dealer.now.round.number == 1
    dealer("bet", seat=1, amount_cents=0)
    dealer("sign_out")


# --- cards that cannot be -------------------------------------------------------------------------------------


def test_a_card_that_the_shoe_cannot_hold_is_refused_and_reported(dealer: Hand) -> None:
    """Harm: a foreign card in the shoe, or a card keyed wrongly before, is never noticed."""
    dealer.bets(seat1=1_000, seat2=1_000)
    dealer.cards(1)
    seq = dealer.now.seq
    wrong = refused(lambda: dealer("card", rank=1))
    assert wrong.code == "impossible_card"
    assert "the only one is out already" in wrong.sentence
    assert "call the pit" in wrong.sentence
    entry = LogEntry.objects.get(book_id=dealer.table.book_id, seq=seq + 1)
    assert (entry.subject, entry.kind, entry.round, entry.by) == ("alert", "card_refused", 1, "101 Dora")
    alert = Alert.objects.get()
    assert (alert.kind, alert.book_id) == ("card_refused", dealer.table.book_id)
    assert "round 1" in alert.message


def test_each_impossible_card_is_an_alert_of_its_own_and_each_press_of_it_an_entry(dealer: Hand) -> None:
    """Harm: the pit takes note of the first one, and never hears of the second; or one key, pressed for ever, hides
    every other alert."""
    dealer.bets(seat1=1_000, seat2=1_000)
    dealer.cards(1)
    for _ in range(2):
        refused(lambda: dealer("card", rank=1))
    assert Alert.objects.count() == 1
    assert LogEntry.objects.filter(subject="alert", kind="card_refused").count() == 2
    dealer.cards(7)
    refused(lambda: dealer("card", rank=1))
    assert Alert.objects.count() == 2


def test_a_reported_refusal_sent_again_is_answered_the_same_and_reported_once(dealer: Hand) -> None:
    """Harm: a lost answer is taken for a second wrong card."""
    dealer.bets(seat1=1_000, seat2=1_000)
    dealer.cards(1)
    key, seq = uuid.uuid4(), dealer.now.seq

    def send(expected: int) -> Refused:
        return refused(
            lambda: recorder.record(dealer.table, inputs.KeyCard(1), by=dealer.by, key=key, expected_seq=expected)
        )

    answer, repeat, later = send(seq), send(seq), send(seq + 1)
    assert answer.as_json() == repeat.as_json() == later.as_json()
    assert (answer.status, repeat.status, later.status) == (422, 422, 422)
    assert dealer.now.seq == seq + 1
    assert Alert.objects.count() == 1


# --- the same thing twice -------------------------------------------------------------------------------------


def test_a_key_is_answered_again_on_whatever_state_it_comes_back(dealer: Hand) -> None:
    """Harm: a client that looked at the table again before it retried bets a second time, or is told off."""
    key, seq = uuid.uuid4(), dealer.now.seq

    def send(expected: int) -> recorder.Receipt:
        bet = inputs.Bet(1, 1_000)
        return recorder.record(dealer.table, bet, by=dealer.by, key=key, expected_seq=expected)

    answer = send(seq)
    assert (answer.entry, answer.seq, answer.again) == (seq + 1, seq + 1, False)
    for expected in (seq, seq + 1, 0, 99):
        assert send(expected) == recorder.Receipt(seq + 1, seq + 1, again=True)
    dealer("close_bets")
    assert send(seq + 2) == recorder.Receipt(seq + 1, seq + 2, again=True)  # a bet would be refused now
    dealer.cards(8, 9, 8)
    recorder.sign_out(dealer.table, dealer.by)
    assert send(seq).again  # and so would anything from somebody who tapped out


def test_a_key_belongs_to_its_user_and_input(dealer: Hand) -> None:
    """Harm: an input that was never recorded gets the receipt of another one, or the loser of two simultaneous inputs
    reads that theirs was accepted."""
    key, seq = uuid.uuid4(), dealer.now.seq
    recorder.record(dealer.table, inputs.Bet(1, 1_000), by=dealer.by, key=key, expected_seq=seq)
    colleague = floor.staff(Role.DEALER, "ida", "102")
    for entered, by in (
        (inputs.Bet(1, 2_000), dealer.by),
        (inputs.CloseBets(), dealer.by),
        (inputs.Bet(1, 1_000), colleague),
    ):
        for expected in (seq, seq + 1):
            again = refused(
                lambda entered=entered, by=by, expected=expected: recorder.record(
                    dealer.table, entered, by=by, key=key, expected_seq=expected
                )
            )
            assert again.code == "key_reused"
    assert dealer.now.seq == seq + 1


def test_the_same_key_at_another_table_is_another_input(dealer: Hand) -> None:
    """Harm: two screens that drew the same key by a bug silence each other."""
    key = uuid.uuid4()
    second_table = floor.table("Rocket 2")
    boss = Hand(second_table, floor.staff(Role.PIT_BOSS, "bert"))
    recorder.record(dealer.table, inputs.Bet(1, 1_000), by=dealer.by, key=key, expected_seq=dealer.now.seq)
    answer = recorder.record(second_table, inputs.BeginSlip("opener"), by=boss.by, key=key, expected_seq=None)
    assert not answer.again


def test_a_stale_screen_is_told_where_the_table_is(dealer: Hand) -> None:
    """Harm: somebody acts on cards that are not there any more."""
    seq = dealer.now.seq
    dealer("bet", seat=1, amount_cents=1_000)
    for expected in (seq, seq - 1, seq + 2):
        stale = refused(
            lambda expected=expected: recorder.record(
                dealer.table, inputs.CloseBets(), by=dealer.by, key=uuid.uuid4(), expected_seq=expected
            )
        )
        assert (stale.code, stale.status, stale.facts) == ("stale_sequence", 409, {"seq": seq + 1})


def test_paper_that_is_signed_in_mid_round_makes_no_card_stale(dealer: Hand) -> None:
    """Harm: a fill is asked for while the dealer's finger is on a key, and the card that lies there is refused."""
    dealer.bets(seat1=1_000)
    dealer.cards(8)
    seq, boss = dealer.now.seq, Hand(dealer.table, floor.crew("requested"))
    floor.signs(dealer.table, boss.by, inputs.BeginSlip("fill", ((500, 20),)))
    dispute = inputs.OpenDispute(1, "The card was mine", "the player at seat 1", 1, 0)
    recorder.record(dealer.table, dispute, by=boss.by, key=uuid.uuid4(), expected_seq=None)
    assert dealer.now.seq == seq + 2

    def press() -> recorder.Receipt:
        return recorder.record(dealer.table, inputs.KeyCard(9), by=dealer.by, key=uuid.uuid4(), expected_seq=seq)

    assert press().seq == seq + 3
    assert refused(press).code == "stale_sequence"
    floor.signs(dealer.table, floor.crew("issued"), inputs.SignSlip(dealer.now.slips[0].name, "issued"))
    assert refused(press).code == "stale_sequence"


# --- cost -----------------------------------------------------------------------------------------------------


def test_an_input_costs_a_locked_read_and_a_write(dealer: Hand) -> None:
    """Harm: every card takes one more round trip, and the table waits for the database; or the last card, after which
    all players wait to be paid, is the slow one."""
    dealer.bets(seat1=1_000, seat2=1_000)
    costs = []
    for rank in (8, 9, 3):
        seq = dealer.now.seq
        with CaptureQueriesContext(connection) as captured:
            recorder.record(dealer.table, inputs.KeyCard(rank), by=dealer.by, key=uuid.uuid4(), expected_seq=seq)
        costs.append([query["sql"].split()[0] for query in captured if "SAVEPOINT" not in query["sql"]])
    assert costs == [["EXECUTE", "EXECUTE"]] * 3
    assert len(kinds(dealer, seq + 1)) == 6, "the last card settles the round"


def test_a_standing_that_is_not_known_costs_one_query_more_however_long_the_log(dealer: Hand) -> None:
    """Harm: a web process that was just started, or one of several, reads the whole history."""
    for _ in range(3):
        dealer.bets(seat1=1_000)
        dealer.cards(9, 8)
        dealer("choose", seat=1, choice="fold")
    dealer.bets(seat1=1_000)
    seq = dealer.now.seq
    table_state.cache.clear()
    with CaptureQueriesContext(connection) as captured:
        recorder.record(dealer.table, inputs.KeyCard(7), by=dealer.by, key=uuid.uuid4(), expected_seq=seq)
    assert len([query for query in captured if "SAVEPOINT" not in query["sql"]]) == 3


def test_a_used_key_never_reaches_a_handler_that_opens_a_secret() -> None:
    """Harm: the order of a live house shoe is sent to the database, and refused there into its log."""
    dealer, _ = dealt(source="house")
    key, seq = uuid.uuid4(), dealer.now.seq
    recorder.record(dealer.table, inputs.Bet(1, 1_000), by=dealer.by, key=key, expected_seq=seq)
    dealer("take_back")
    with CaptureQueriesContext(connection) as captured, pytest.raises(Refused) as refusal:
        recorder.record(dealer.table, inputs.RetireShoe(), by=dealer.by, key=key, expected_seq=dealer.now.seq)
    assert refusal.value.code == "key_reused"
    assert not any("tables_houseshoe" in query["sql"] or "opened" in query["sql"] for query in captured)


def test_a_bet_is_judged_by_the_limits_that_hold_under_the_lock(dealer: Hand) -> None:
    """Harm: a request that read the table before an operator cut the maximum still bets over it."""
    before = Table.objects.get(pk=dealer.table.pk)
    Table.objects.filter(pk=before.pk).update(max_cents=2_000)
    with pytest.raises(Refused) as refusal:
        recorder.record(before, inputs.Bet(1, 5_000), by=dealer.by, key=uuid.uuid4(), expected_seq=dealer.now.seq)
    assert refusal.value.code == "bad_bet"
