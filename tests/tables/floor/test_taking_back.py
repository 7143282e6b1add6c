"""Keys taken back: by a correcting entry, never by an edit; and what then becomes of the chips."""

from typing import Any

import pytest

from ledger import cage, log
from ledger.log import Draft
from ledger.models import Alert, LogEntry, Transfer
from ledger.proof.moves import undone
from tables.audit import proofs
from tables.floor import recorder
from tables.floor.inputs import ReopenRound, TakeBack
from tables.log.entries.rounds import TakenBack
from tables.log.signatory import Signatory
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import policies, table_settings
from tests import floor
from tests.floor import Hand
from tests.tables.approvals.test_proposals import rollback
from tests.tables.chance import RARE_CUT, run_out

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
def boss(hands: tuple[Hand, Hand]) -> Hand:
    return hands[1]


def refusal(hand: Hand, do: str) -> str:
    with pytest.raises(Refused) as caught:
        hand(do)
    return caught.value.code


def test_a_wrong_card_is_taken_back_before_the_next_and_both_entries_stay(dealer: Hand) -> None:
    """Harm: history is edited; or a slip of the finger decides a round."""
    dealer.bets(seat1=1_000)
    dealer.cards(8)
    before = dealer.now
    dealer.cards(9)
    wrong = dealer.now.seq
    dealer("take_back")
    after = dealer.now
    assert before.round is not None
    assert after.round is not None
    assert after.round.state == before.round.state
    assert LogEntry.objects.filter(book_id=dealer.table.book_id, seq=wrong).exists()
    correction = LogEntry.objects.get(book_id=dealer.table.book_id, seq=wrong + 1)
    assert (correction.kind, correction.by) == ("take_back", "101 Dora")
    dealer.cards(7, 10)
    assert proofs.verify(dealer.table.book).fault is None


def test_after_the_next_card_only_a_pit_boss_takes_back(dealer: Hand, boss: Hand) -> None:
    """Harm: a dealer rewinds a round to where it was better for a friend."""
    dealer.bets(seat1=1_000)
    dealer.cards(8, 9)
    dealer("take_back")
    assert refusal(dealer, "take_back") == "card_stands"
    assert not dealer.board.can_take_back
    boss("take_back")
    assert dealer.now.round is not None
    assert dealer.now.round.state.stacks == ((),)


def test_a_pit_boss_takes_a_round_back_to_its_first_bet_and_it_can_be_dealt_anew(dealer: Hand, boss: Hand) -> None:
    """Harm: a round that was dealt to the wrong seats cannot be undone but in the database."""
    dealer.bets(seat1=1_000, seat2=2_000)
    dealer.cards(8, 9, 7)
    for _ in range(6):
        boss("take_back")
    assert refusal(boss, "take_back") == "nothing_to_take_back"
    assert not dealer.now.round_open
    dealer.bets(seat3=3_000)
    dealer.cards(8, 3)
    assert dealer.now.round is not None
    assert dealer.now.round.number == 1
    report = proofs.verify(dealer.table.book)
    assert (report.fault, report.rounds) == (None, 1)


def test_a_decision_and_a_bet_are_taken_back_too(dealer: Hand) -> None:
    """Harm: a fold that was a slip costs the player chips."""
    dealer("bet", seat=1, amount_cents=2_000)
    dealer("bet", seat=1, amount_cents=5_000)
    dealer("take_back")
    dealer("close_bets")
    dealer("take_back")
    dealer("close_bets")
    dealer.cards(8, 9)
    state = dealer.now.round.state if dealer.now.round else None
    dealer("choose", seat=1, choice="fold")
    dealer.reopens()
    assert dealer.now.round is not None
    assert dealer.now.round.state == state
    assert dealer.now.round.state.bets == (2_000,)


def test_a_card_that_settled_the_round_is_reversed_and_the_round_goes_on_and_settles_anew(dealer: Hand) -> None:
    """Harm: chips stay where a wrong key sent them, or move twice, or by an edit of old transfers."""
    before = cage.net_effect([dealer.table.book_id])
    dealer.bets(seat1=1_000, seat2=2_000)
    dealer.cards(8, 9, 3)  # the death card ...
    settled = dealer.now.seq
    dealer("paid", seat=2)
    dealer.reopens()  # ... was no 3
    assert not dealer.board.pay
    assert cage.net_effect([dealer.table.book_id]) == before | {
        account: 0 for account in cage.net_effect([dealer.table.book_id]) if account not in before
    }
    back = Transfer.objects.filter(book_id=dealer.table.book_id, seq=dealer.now.seq).order_by("leg")
    transfers = Transfer.objects.filter(book_id=dealer.table.book_id, seq=settled).order_by("-leg")
    assert [(row.kind, row.reverses_id) for row in back] == [("reversal", row.pk) for row in transfers]
    dealer.cards(7, 8, 9)  # both seats pair: the round ends otherwise
    assert not dealer.now.round_open
    net = cage.net_effect([dealer.table.book_id])
    rack = cage.chart(dealer.table.book_id).ids["rack", None]
    assert net[rack] - before[rack] == 800 + 1_800
    report = proofs.verify(dealer.table.book)
    assert (report.fault, report.rounds) == (None, 2)


def test_a_payment_is_taken_back_by_one_step_of_the_walk(dealer: Hand, boss: Hand) -> None:
    """Harm: one key too many after the last payment reverses a paid round, and asks for every payment again."""
    dealer.bets(seat1=1_000, seat2=2_000)
    dealer.cards(8, 9, 3)
    dealer.pay()
    moved = Transfer.objects.filter(book_id=dealer.table.book_id).count()
    dealer("take_back")
    assert dealer.board.pay
    assert dealer.board.pay.seat == 1
    dealer("take_back")
    assert dealer.board.pay.seat == 2
    assert dealer.now.round_open
    dealer("paid", seat=2)
    dealer("take_back")
    dealer.pay()
    assert not dealer.now.round_open
    assert Transfer.objects.filter(book_id=dealer.table.book_id).count() == moved
    dealer("bet", seat=1, amount_cents=1_000)
    assert dealer.now.round.number == 2
    dealer("take_back")
    assert refusal(dealer, "take_back") == "nothing_to_take_back"
    assert proofs.verify(dealer.table.book).fault is None


def test_a_cut_card_that_was_not_out_is_taken_back(dealer: Hand, boss: Hand) -> None:
    """Harm: a slip of a finger has a shoe shuffled that is not due; or its taking back takes a card along."""
    dealer.bets(seat1=1_000)
    dealer.cards(8)
    dealer("cut_card_out")
    dealer("take_back")
    assert not dealer.now.shoe.cut_out
    assert dealer.board.seats[0].stack == (8,)
    dealer("cut_card_out")
    dealer.cards(9, 8)
    assert dealer.board.due == "shuffle"
    dealer.reopens()
    dealer.cards(7)
    boss("take_back")
    boss("take_back")
    assert dealer.board.dealer_stack == (), "what came since is taken back before it"
    boss("take_back")
    assert not dealer.now.shoe.cut_out
    assert dealer.board.seats[0].stack == (8,)
    assert proofs.verify(dealer.table.book).fault is None


def test_a_round_may_be_settled_and_taken_back_several_times(dealer: Hand) -> None:
    """Harm: the second correction finds transfers that were reversed already."""
    dealer.bets(seat1=1_000)
    dealer.cards(8)
    for _ in range(3):
        dealer.cards(3)
        dealer.reopens()
    dealer.cards(3)
    assert proofs.verify(dealer.table.book).fault is None
    rack = cage.chart(dealer.table.book_id).ids["rack", None]
    assert cage.net_effect([dealer.table.book_id])[rack] == floor.FLOAT_CENTS - floor.POCKET_CENTS - 300


def test_what_is_over_stands_once_the_next_round_has_begun(dealer: Hand, boss: Hand) -> None:
    """Harm: chips of a round that was paid and cleared move again under the next one's bets."""
    dealer.bets(seat1=1_000)
    dealer.cards(8, 3)
    dealer.pay()
    dealer("bet", seat=1, amount_cents=1_000)
    boss("take_back")
    for hand in (dealer, boss):
        assert refusal(hand, "take_back") == "nothing_to_take_back"


@pytest.mark.parametrize("step", ["shuffle_shoe", "retire_shoe"])
def test_what_is_over_stands_once_the_shoe_was_shuffled(dealer: Hand, boss: Hand, step: str) -> None:
    """Harm: a round goes on with a shoe that its cards are not missing from."""
    dealer.bets(seat1=1_000)
    dealer.cards(8)
    dealer("cut_card_out")
    dealer.cards(3)
    dealer.pay()
    boss(step) if step == "retire_shoe" else dealer(step)
    for hand in (dealer, boss):
        assert refusal(hand, "take_back") == "nothing_to_take_back"
    assert not dealer.board.can_take_back


def test_what_is_over_stands_once_the_table_was_closed(dealer: Hand, boss: Hand) -> None:
    """Harm: the rack that was counted at closing changes afterwards, and nobody can say why."""
    dealer.bets(seat1=1_000)
    dealer.cards(8, 3)
    dealer.pay()
    boss("close_table")
    assert refusal(boss, "take_back") == "table_closed"
    boss("open_table")
    recorder.sign_in(dealer.table, dealer.by)
    for hand in (dealer, boss):
        assert refusal(hand, "take_back") == "nothing_to_take_back"


def test_a_card_of_a_house_shoe_stands_and_a_fold_does_not(boss: Hand) -> None:
    """Harm: a player who saw the next card decides again."""
    ida = floor.staff(Role.DEALER, "ida", "102")
    table = floor.table("House", source="house")
    boss.table = table
    boss("open_table")
    recorder.sign_in(table, ida)
    dealer = Hand(table, ida)
    dealer.ready_shoe()
    while not (dealer.now.round_open and dealer.board.due == "choose"):  # a 3 would end the round at once
        dealer.pay()
        dealer.bets(seat1=1_000, seat2=1_000)
        dealer("deal")
    dealer("choose", seat=1, choice="fold")
    dealer("take_back")
    dealer("choose", seat=1, choice="hit")
    for hand in (dealer, boss):
        assert refusal(hand, "take_back") == "card_stands"


def test_a_shuffle_in_mid_round_stands(boss: Hand, dealer: Hand) -> None:
    """Harm: cards that lie among the shuffled discards come back as if they had never been there."""
    dealer("retire_shoe")
    dealer.table = table_settings.change_table(
        dealer.table, {"options": RARE_CUT}, by=floor.staff(Role.OPERATOR, "olga")
    )
    dealer.ready_shoe()
    run_out(dealer)
    dealer("choose", seat=2, choice="hit")
    dealer("shuffle")
    for hand in (dealer, boss):
        assert refusal(hand, "take_back") == "card_stands"
    dealer.cards(9)
    dealer("take_back")  # the card alone was keyed wrongly
    assert refusal(dealer, "take_back") == "card_stands"
    dealer.cards(10)
    assert proofs.verify(dealer.table.book).fault is None


# --- Who approves that a settled round is reopened ----------------------------------------------------------------


def take_back_entries(hand: Hand) -> list[dict[str, Any]]:
    rows = LogEntry.objects.filter(book_id=hand.table.book_id, kind="take_back").order_by("seq")
    return [entry.content for entry in rows]


def settled(hand: Hand) -> None:
    hand.bets(seat1=1_000)
    hand.cards(8, 3)


def test_a_settled_round_is_reopened_by_a_dealer_with_a_pit_boss_and_by_nobody_else(dealer: Hand, boss: Hand) -> None:
    """Harm: a dealer alone has the chips of a settled round moved back; or signs for the pit boss who does not look."""
    settled(dealer)
    floor.staff(Role.DEALER, "ida", "102")
    for entered in (TakeBack(), TakeBack(reopens=True), ReopenRound(""), ReopenRound("dora"), ReopenRound("ida")):
        with pytest.raises(Refused, match="A pit boss has to approve its reopening by badge and PIN"):
            dealer.enters(entered)
    assert not dealer.board.can_take_back
    assert take_back_entries(dealer) == []
    dealer.reopens()
    [entry] = take_back_entries(dealer)
    assert entry["second"] == {"username": "bella", "name": "Bella", "badge": None, "role": "pit_boss"}
    assert Alert.objects.get(kind="take_back").message.endswith("which settled it, approved by Bella")
    dealer.cards(3)
    boss("take_back", reopens=True)
    assert "second" not in take_back_entries(dealer)[1]
    assert proofs.verify(dealer.table.book).fault is None


def test_a_site_may_have_dealers_reopen_alone(dealer: Hand, operator: Staff) -> None:
    """Harm: a site with one pit boss to forty tables stops at every wrong last card; or the log cannot tell a site that
    chose so from a dealer who did it unasked."""
    policies.change({"settled_round_reopened_by": "dealer"}, by=operator)
    policies.forget()
    settled(dealer)
    assert dealer.board.can_take_back
    dealer("take_back")
    assert take_back_entries(dealer)[0]["alone"] is True
    assert Alert.objects.filter(kind="take_back").exists()
    assert proofs.verify(dealer.table.book).fault is None


def forged(hand: Hand, **facts: Any) -> str:
    """What a proof finds of an entry by the dealer that reopens the round with these facts."""
    with rollback():
        head = log.lock(hand.table.book_id)
        play = hand.now.round.plays[-1]
        moves = undone(cage.transfers_of(hand.table.book_id, [play.seq]))
        event = TakenBack(corrects=play.seq, actions=play.actions, **facts)
        cage.post(head, Draft.of(event, hand.by.signature, round=1), moves)
        breach = proofs.verify(hand.table.book).fault
    return breach.what if breach else ""


def test_a_forged_approval_is_found_and_an_entry_of_an_earlier_release_is_none(dealer: Hand) -> None:
    """Harm: a dealer's own signature, or a colleague's, passes for a pit boss's approval; or the log of a site that ran
    an earlier release is false from the day of its upgrade on."""
    settled(dealer)
    assert forged(dealer) == "", "releases up to 0.9.0 say nothing of an approval"
    assert "without a pit boss's approval" in forged(dealer, alone=True)
    assert "as dealer, may not approve" in forged(dealer, second=Signatory("ida", "Ida", "102", "dealer"))
    assert "may not approve" in forged(dealer, second=Signatory("dora", "Dora", "101", "pit_boss"))
    dealer.reopens()
    dealer.cards(3)
    assert "without a pit boss's approval" in forged(dealer)
