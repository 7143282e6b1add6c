"""Commission that is marked at its seat and collected later."""

from dataclasses import asdict

import pytest

from ledger.models import Alert, Transfer
from tables.disputes import payout_errors, rack_history
from tables.log.terms import Settings
from tables.models import Staff
from tables.setup import table_settings
from tables.state import table_state
from tests.floor import Hand, dealt
from tests.tables.floor.acts import refusal, verify

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

WINS_FOR_THE_BANKER = "2K59"


@pytest.fixture
def hands(db: None) -> tuple[Hand, Hand]:
    return dealt(name="Table 1", game="baccarat", options={"decks": 1}, seats=3, marks_commission=True)


def banker_wins(dealer: Hand, **bets_cents: int) -> None:
    if dealer.board.due != "bets":
        dealer.ready_shoe()
    for seat, cents in bets_cents.items():
        dealer("bet", seat=int(seat.removeprefix("seat")), amount_cents=cents, wager="banker")
    dealer("close_bets")
    dealer.cards(*WINS_FOR_THE_BANKER)
    dealer.pay()


def transfers(dealer: Hand, kind: str) -> list[int]:
    rows = Transfer.objects.filter(book_id=dealer.table.book_id, kind=kind).order_by("seq", "leg")
    return list(rows.values_list("amount_cents", flat=True))


def test_a_win_is_paid_even_and_its_commission_collected_later(hands: tuple[Hand, Hand]) -> None:
    """Harm: chips are paid without a transfer in the ledger, a commission is collected twice or never, or a newly
    started process has lost it."""
    dealer, _ = hands
    banker_wins(dealer, seat1=10_000, seat3=2_000)
    assert transfers(dealer, "win") == [10_000, 2_000]
    assert dealer.now.marks == {1: 500, 3: 100}
    assert [box.marked_cents for box in dealer.board.seats] == [500, 0, 100]
    current = dealer.now.round
    assert current is not None
    assert current.house_net_cents == -9_500 - 1_900
    dealer("collect_commission", seat=1)
    assert transfers(dealer, "commission") == [500]
    assert "No commission is marked at seat 1" in refusal(dealer, "collect_commission", seat=1).sentence
    table_state.cache.clear()
    assert dealer.now.marks == {3: 100}
    dealer("collect_commission", seat=3)
    dealer("shuffle_shoe")
    dealer.ready_shoe()
    banker_wins(dealer, seat1=2_000)
    assert dealer.now.marks == {1: 100}
    verify(dealer.table)


def test_the_shoe_does_not_end_before_it_is_collected(hands: tuple[Hand, Hand]) -> None:
    """Harm: players leave with the next shoe, and nobody asks them any more."""
    dealer, boss = hands
    banker_wins(dealer, seat2=10_000)
    assert dealer.board.due == "commission"
    (button,) = [button for button in dealer.board.buttons if button.primary]
    assert button.input == {"do": "collect_commission", "seat": 2}
    assert "Collect the commission" in refusal(dealer, "shuffle_shoe").sentence
    assert "Seat 2 owes commission of 5: collect it before the shoe goes" in refusal(dealer, "retire_shoe").sentence
    assert "before the table closes" in refusal(boss, "close_table").sentence
    dealer("collect_commission", seat=2)
    assert dealer.board.due == "shuffle"


def test_only_the_floor_forgives_and_says_why(hands: tuple[Hand, Hand]) -> None:
    """Harm: a dealer lets a friend's commission go, and nobody hears of it."""
    dealer, boss = hands
    banker_wins(dealer, seat1=10_000)
    assert "takes a pit boss" in refusal(dealer, "forgive_commission", seat=1, reason="a friend").sentence
    assert "Say why" in refusal(boss, "forgive_commission", seat=1, reason=" ").sentence
    boss("forgive_commission", seat=1, reason="The player has left.")
    assert dealer.now.marks == {}
    assert transfers(dealer, "commission") == []
    assert Alert.objects.filter(message__contains="forgave commission of 5 at seat 1").exists()
    verify(dealer.table)


def test_a_round_whose_commission_was_collected_stands(hands: tuple[Hand, Hand]) -> None:
    """Harm: a card is taken back, the win with it, and the commission on it stays in the rack."""
    dealer, boss = hands
    banker_wins(dealer, seat1=10_000)
    dealer.reopens()
    assert dealer.now.marks == {}
    dealer.cards("9")
    dealer.pay()
    dealer("collect_commission", seat=1)
    assert "Commission was collected since" in refusal(boss, "take_back", reopens=True).sentence
    assert "Commission was collected since" in refusal(boss, "take_back").sentence
    verify(dealer.table)


def test_commission_is_collected_between_rounds(db: None) -> None:
    """Harm: what a round pins as owed was collected while it was dealt."""
    dealer, _ = dealt(name="Table 1", game="baccarat", options={}, seats=3, marks_commission=True)
    banker_wins(dealer, seat1=10_000)
    dealer("bet", seat=1, amount_cents=10_000, wager="player")
    assert "between rounds" in refusal(dealer, "collect_commission", seat=1).sentence
    dealer("close_bets")
    dealer.cards(*WINS_FOR_THE_BANKER)
    assert dealer.now.marks == {1: 500}
    banker_wins(dealer, seat1=10_000)
    assert dealer.now.marks == {1: 1_000}


def test_the_mispay_finder_knows_what_was_paid(hands: tuple[Hand, Hand]) -> None:
    """Harm: every banker's win looks like a mispay of its commission."""
    dealer, _ = hands
    banker_wins(dealer, seat1=10_000)
    dealer("collect_commission", seat=1)
    book, seq = dealer.table.book_id, dealer.now.seq
    (round_,) = rack_history.dealt_rounds(book, 1, 1, 0, seq)
    assert [payout.net_cents for payout in round_.payouts] == [10_000]
    # Was the last card a 6, the bet was taken: the rack has that, and the 100 that the log says was paid.
    (suspect,) = [suspect for suspect in payout_errors.suspects([round_], [], 20_000, (100,)) if suspect.round == 1]
    assert any("named 9 and may have been 6" in slip.says for slip in suspect.slips)
    exchange = [exchange for exchange in rack_history.exchanges(book, 0, seq) if exchange.kind == "commission"]
    assert [chips.amount_cents for chips in exchange] == [500]


def test_only_a_game_that_takes_commission_marks_it(hands: tuple[Hand, Hand], operator: Staff) -> None:
    """Harm: a table is set to collect what is never owed, or changed while something is."""
    dealer, _ = hands
    settings = asdict(table_settings.settings_of(dealer.table))
    ez_settings = Settings(**settings | {"options": {"commission": "ez"}})
    assert "takes no commission" in table_settings.faults(ez_settings)["marks_commission"]
    banker_wins(dealer, seat1=10_000)
    change = {"marks_commission": False}
    answer = refusal(table_settings.change_table, dealer.table, change, by=operator)
    assert "can change when it is collected" in answer.sentence


def test_a_mark_is_owed_to_the_cent_and_collected_in_whole_chips() -> None:
    """Harm: 30 on the banker is refused or charged ten per cent, because the table has no chip of 1.50; or a player is
    asked for a chip more than is owed."""
    settings = {"options": {"decks": 1, "rounding": "exact"}, "unit_cents": 500, "marks_commission": True}
    dealer, _ = dealt(name="Table 1", game="baccarat", seats=3, **settings)
    banker_wins(dealer, seat1=3_000, seat2=10_000)
    assert transfers(dealer, "win") == [3_000, 10_000]
    assert dealer.now.marks == {1: 150, 2: 500}
    dealer("collect_commission", seat=1)
    assert dealer.now.marks == {2: 500}
    dealer("collect_commission", seat=2)
    assert transfers(dealer, "commission") == [500]
    verify(dealer.table)


def test_a_commission_at_once_is_paid_exactly_or_the_bet_refused() -> None:
    """Harm: a casino that posts five per cent keeps ten of a small bet."""
    settings = {"options": {"decks": 1, "rounding": "exact"}, "unit_cents": 50}
    dealer, _ = dealt(name="Table 1", game="baccarat", seats=3, **settings)
    refused = refusal(dealer, "bet", seat=1, amount_cents=1_500, wager="banker")
    assert refused.facts["nearest_cents"] == [1_000, 2_000]
    banker_wins(dealer, seat1=1_000)
    assert transfers(dealer, "win") == [950]
    verify(dealer.table)
