"""A table's past, read back from the log alone: its rounds, one round input by input, and what it all costs."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tables.audit import round_list, round_steps
from tables.audit.round_list import RoundFilter
from tables.games.record import judge
from tables.refusals import Refused
from tables.reports import entry_list
from tests.floor import Hand, dealt
from tests.intruder import at_work
from tests.ready import ready_made

pytestmark = pytest.mark.django_db


@pytest.fixture
@ready_made
def floor() -> tuple[Hand, Hand]:
    """Three rounds of six decks: a pair and a dealer's pair; a settled round taken back and dealt on; four losers."""
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 8, 7, 10)  # seat 1 pairs 8s, the dealer pairs 10s: seat 4 wins
    dealer.pay()
    dealer.bets(seat2=1_000)
    dealer.cards(9, 3)  # the death card ...
    dealer.reopens()  # ... was no 3 but an 8
    dealer.cards(8)
    dealer("choose", seat=2, choice="fold")
    dealer.bets(seat1=1_000, seat2=2_000, seat3=3_000)
    dealer.cards(5, 6, 7, 9, 5, 6, 7)
    return dealer, boss


def lines(hand: Hand, through: int = 3, **options: Any) -> tuple[round_list.RoundLine, ...]:
    return round_list.rounds(hand.table.book_id, through=through, **options).lines


def queries(act: Any) -> int:
    with CaptureQueriesContext(connection) as captured:
        act()
    return len(captured)


# --- Rounds ---------------------------------------------------------------------------------------------------


def test_a_row_shows_the_dealer_the_handle_and_the_win_of_a_round(floor: tuple[Hand, Hand]) -> None:
    """Harm: the list of rounds shows another dealer, bet or win than was dealt, or counts a corrected round twice."""
    round_3, round_2, round_1 = lines(floor[0])
    assert [line.number for line in (round_1, round_2, round_3)] == [1, 2, 3]
    assert (round_1.staked_cents, round_1.house_net_cents) == (7_000, 1_600 - 5_000)
    assert (round_2.staked_cents, round_2.house_net_cents) == (1_000, 800)
    assert (round_3.staked_cents, round_3.house_net_cents) == (6_000, 500 + 1_200 + 2_100)
    assert round_1.dealers == ("101 Dora",)
    assert [seat.seat for seat in round_1.seats] == [1, 4]
    assert round_1.over
    assert round_1.began < round_1.ended  # type: ignore[operator]
    assert (round_1.taken_back, round_2.taken_back) == (0, 1)
    assert [seat.payout and seat.payout.outcome for seat in round_2.seats] == ["fold"]


def test_a_round_that_goes_on_has_no_end_and_no_net(floor: tuple[Hand, Hand]) -> None:
    dealer, _ = floor
    dealer.bets(seat6=4_000)
    dealer.cards(9)
    going_on = lines(dealer, through=4)[0]
    assert not going_on.over
    assert (going_on.staked_cents, going_on.house_net_cents) == (4_000, None)


def test_a_number_whose_bets_were_all_taken_back_is_one_round_with_what_came_after(floor: tuple[Hand, Hand]) -> None:
    dealer, _ = floor
    dealer("bet", seat=5, amount_cents=9_000)
    dealer("take_back")
    dealer.bets(seat6=4_000)
    dealer.cards(9, 3)
    (line,) = lines(dealer, through=4, count=1)
    assert (line.number, line.staked_cents, line.taken_back) == (4, 4_000, 1)


def test_a_card_that_the_shoe_cannot_hold_marks_the_round() -> None:
    dealer, _ = dealt(options={"decks": 1})
    dealer.bets(seat6=4_000)
    dealer.cards(1)
    with pytest.raises(Refused):
        dealer.cards(1)
    (line,) = lines(dealer, through=1)
    assert (line.refused, line.fault) == (1, None)


def test_pages_go_on_where_the_last_one_ended_down_to_the_first_round(floor: tuple[Hand, Hand]) -> None:
    book = floor[0].table.book_id
    newest = round_list.rounds(book, through=3, count=2)
    assert ([line.number for line in newest.lines], newest.older) == ([3, 2], 1)
    oldest = round_list.rounds(book, through=1, count=2)
    assert ([line.number for line in oldest.lines], oldest.older) == ([1], None)


def test_a_table_without_rounds_has_an_empty_page() -> None:
    dealer, _ = dealt()
    page = round_list.rounds(dealer.table.book_id, through=0)
    assert (page.lines, page.older) == ((), None)


SEARCHES = [
    (RoundFilter(outcome="pair"), [3, 1]),
    (RoundFilter(outcome="pair", seat=3), [3]),
    (RoundFilter(outcome="death_card"), []),  # taken back, so the round does not contain it
    (RoundFilter(seat=4), [1]),
    (RoundFilter(corrected=True), [2]),
    (RoundFilter(corrected=True, seat=1), []),
]


def test_a_search_finds_rounds_in_their_current_state(floor: tuple[Hand, Hand]) -> None:
    for filters, numbers in SEARCHES:
        page = round_list.search(floor[0].table, filters, through=3)
        assert ([line.number for line in page.lines], page.older) == (numbers, None), filters


def test_a_search_looks_through_a_stretch_and_says_where_it_stopped(
    floor: tuple[Hand, Hand], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_list, "SEARCHED", 2)
    page = round_list.search(floor[0].table, RoundFilter(outcome="dealer_pair"), through=3)
    assert (page.lines, page.older) == ((), 1)


def test_rounds_are_found_by_the_moment_they_began(floor: tuple[Hand, Hand]) -> None:
    book = floor[0].table.book_id
    round_3, round_2, round_1 = lines(floor[0])

    def number_at(moment: datetime) -> int:
        return round_list.first_since({book: 3}, moment)[book]

    assert number_at(round_1.began - timedelta(days=1)) == 1
    assert number_at(round_1.began) == 1
    assert number_at(round_1.began + timedelta(microseconds=1)) == 2
    assert number_at(round_2.began) == 2
    assert number_at(round_3.began) == 3
    assert number_at(timezone.now() + timedelta(days=1)) == 4
    assert round_list.first_since({}, timezone.now()) == {}


def test_a_page_and_a_round_cost_a_few_queries_however_many_there_are(floor: tuple[Hand, Hand]) -> None:
    table = floor[0].table
    assert queries(lambda: round_list.rounds(table.book_id, through=3)) == 2  # the rounds, and times that were mended
    assert queries(lambda: round_list.search(table, RoundFilter(outcome="pair"), through=3)) == 3
    assert queries(lambda: round_list.first_since({table.book_id: 3}, timezone.now())) == 1
    assert queries(lambda: round_steps.story(table, 1)) == 4
    assert queries(lambda: entry_list.entries(table.book_id)) == 2  # the page, and what is to be veiled in it now


# --- One round ------------------------------------------------------------------------------------------------


def story(hand: Hand, number: int) -> round_steps.Story:
    story = round_steps.story(hand.table, number)
    assert story is not None
    return story


def test_a_story_shows_the_layout_after_every_input(floor: tuple[Hand, Hand]) -> None:
    account = story(floor[0], 1)
    assert [step.words for step in account.steps][:5] == [
        "Seat 1 bets 20",
        "Seat 4 bets 50",
        "No more bets",
        "Seat 1: 8",
        "Seat 4: 4",
    ]
    deal = account.steps[5]
    assert [seat.stack for seat in deal.view.seats if seat.bet_cents] == [(8,), (4,)]
    assert (deal.view.dealer, deal.touched) == ((10,), {0})
    assert (account.steps[6].words, account.steps[6].touched) == ("Seat 1: hit, draws 8", {1})
    assert [payout.outcome for payout in account.steps[6].decided] == ["pair"]
    assert [payout.seat for payout in account.payouts] == [1, 4]


def test_an_input_taken_back_stays_with_the_correction_beside_it(floor: tuple[Hand, Hand]) -> None:
    account = story(floor[0], 2)
    struck = next(step for step in account.steps if step.corrected_by)
    correction = next(step for step in account.steps if step.corrects)
    assert struck.words == "Dealer: 3"
    assert correction.words == f"Takes back entry {struck.entry.seq}: Dealer: 3, approved by Bella"
    assert (struck.corrected_by, correction.corrects) == (correction.entry.seq, struck.entry.seq)
    assert correction.view.dealer == ()
    assert [moved.kind for moved in struck.moved] == ["stake", "win", "return"]
    assert [(moved.kind, moved.amount_cents) for moved in correction.moved] == [
        ("reversal", 1_000),
        ("reversal", 300),
        ("reversal", 1_000),
    ]


def test_transfers_are_said_from_place_to_place(floor: tuple[Hand, Hand]) -> None:
    movements = [step for step in story(floor[0], 1).steps if step.moved][-1].moved
    assert [(transfer.kind, transfer.source, transfer.target, transfer.amount_cents) for transfer in movements] == [
        ("stake", "players", "layout 1", 2_000),
        ("loss", "layout 1", "rack", 1_600),
        ("return", "layout 1", "players", 400),
        ("stake", "players", "layout 4", 5_000),
        ("win", "rack", "players", 5_000),
        ("return", "layout 4", "players", 5_000),
    ]


def test_what_happened_in_the_middle_of_a_round_is_part_of_its_story(floor: tuple[Hand, Hand]) -> None:
    dealer, _ = floor
    dealer.bets(seat6=4_000)
    dealer("cut_card_out")
    dealer.cards(9, 3)
    words = [step.words for step in story(dealer, 4).steps]
    assert "Shoe 1: the cut card is out with 310 cards left, last round" in words


def test_the_record_of_a_story_replays_to_the_same_payouts(floor: tuple[Hand, Hand]) -> None:
    for number in (1, 2, 3):
        account = story(floor[0], number)
        answer = judge(json.dumps(account.record))
        assert answer["complete"]
        assert answer["house_net"] == account.line.house_net_cents


def test_a_round_is_verified_from_its_own_entries(floor: tuple[Hand, Hand]) -> None:
    """Harm: a dealt round cannot be verified by itself, or a round that was never dealt has a history."""
    assert round_steps.story(floor[0].table, 99) is None
    assert round_steps.story(floor[0].table, 0) is None
    for number, transfers in ((1, 6), (2, 3 + 3 + 3), (3, 9)):
        account = story(floor[0], number)
        report = round_steps.prove(floor[0].table, account)
        assert (report.fault, report.entries, report.transfers) == (None, len(account.steps), transfers)


@pytest.mark.django_db(transaction=True)
def test_the_proof_of_a_round_names_the_entry_that_was_changed(floor: tuple[Hand, Hand]) -> None:
    """A card that somebody made another one: first clumsily, then with every later hash computed anew."""
    table, account = floor[0].table, story(floor[0], 1)
    seq = account.steps[6].entry.seq

    def another_card(document: dict[str, Any]) -> None:
        document["content"]["actions"][1]["rank"] = 9

    with at_work() as intruder:
        intruder("UPDATE ledger_logentry SET body = replace(body::text, '38', '39')::bytea WHERE seq = %s", seq)
        assert "hash" in str(round_steps.prove(table, story(floor[0], 1)).fault)
    with at_work() as intruder:
        intruder.rewrite(table.book_id, seq, another_card)
        changed = story(floor[0], 1)
        assert f"entry {seq}: it says that" in str(round_steps.prove(table, changed).fault)


@pytest.mark.django_db(transaction=True)
def test_a_round_that_cannot_be_played_again_is_shown_with_the_fault(floor: tuple[Hand, Hand]) -> None:
    """Somebody dealt seat 4 a second card out of turn, in the database: the page must say so, not break."""
    table, seq = floor[0].table, story(floor[0], 1).steps[4].entry.seq

    def out_of_turn(document: dict[str, Any]) -> None:
        document["content"]["actions"][0]["to"] = 6

    with at_work() as intruder:
        intruder.rewrite(table.book_id, seq, out_of_turn)
        (line,) = lines(floor[0], through=1)
        assert line.fault is not None
        assert line.fault.startswith(f"entry {seq}: ")
        assert line.house_net_cents is None
        account = story(floor[0], 1)
        assert account.record is None
        assert round_steps.prove(table, account).fault is not None


# --- The log --------------------------------------------------------------------------------------------------


def test_the_log_goes_backwards_a_page_at_a_time_and_by_subject(floor: tuple[Hand, Hand]) -> None:
    book = floor[0].table.book_id
    head = floor[0].now.seq
    newest = entry_list.entries(book, count=10)
    assert [entry.seq for entry in newest] == list(range(head, head - 10, -1))
    older = entry_list.entries(book, before=newest[-1].seq, count=1000)
    assert [entry.seq for entry in older] == list(range(head - 10, 0, -1))
    assert {entry.kind for entry in entry_list.entries(book, subject="dealer")} == {"signed_in"}


def test_every_entry_that_a_table_writes_has_words_of_its_own(floor: tuple[Hand, Hand]) -> None:
    dealer, boss = floor
    for rank in (1,) * 6:
        dealer.bets(seat1=1_000)
        dealer.cards(rank, 3)
        dealer.pay()
    dealer.bets(seat1=1_000)
    with pytest.raises(Refused):
        dealer.cards(1)
    dealer.cards(2, 3)
    dealer.pay()
    dealer("retire_shoe")
    boss("close_table")
    for entry in entry_list.entries(dealer.table.book_id, count=1000):
        words = entry_list.words_of(entry)
        assert words != f"{entry.subject} {entry.kind}".replace("_", " ")
        assert "cannot be read" not in words, words
