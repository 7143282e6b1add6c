"""Disputes and corrections: who may say what about a round that is over, and which chips move for it."""

import uuid
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from ledger import cage, log
from ledger.log import Draft
from ledger.models import Account, Alert, LogEntry, Slip, Transfer
from ledger.proof.moves import Move
from tables.audit import proofs, round_steps
from tables.disputes import cases, correction_records, corrections
from tables.floor import recorder
from tables.floor.inputs import (
    BeginSlip,
    CloseDispute,
    DeclineCorrection,
    DisputeInput,
    Input,
    NoteDispute,
    OpenDispute,
    ProposeCorrection,
    RuleDispute,
    SignCorrection,
)
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.state import round_history
from tests import floor
from tests.floor import Hand, dealt, for_pot
from tests.ready import ready_made
from tests.tables.at_once import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

CLAIM = OpenDispute(round=1, seat=1, claim="Not paid", claimant="Player at seat 1", claim_cents=2_000)
OWED = ProposeCorrection(round=1, seat=1, handed_cents=0, reason="Seat 1 was passed over")


@pytest.fixture
@ready_made
def felt() -> Hand:
    """Seat 1 won 20 in round 1, seat 4 lost 20 of its 50; another round's bets lie."""
    dealer, _ = dealt(options={"decks": 6})
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 9)
    dealer("choose", seat=4, choice="fold")
    dealer.cards(10)
    dealer.pay()
    dealer("bet", seat=2, amount_cents=1_000)
    return dealer


@pytest.fixture
def boss() -> Staff:
    return Staff.objects.get(username="bella")


@pytest.fixture
def second() -> Staff:
    return floor.staff(Role.PIT_BOSS, "bruno", "201")


def enter(hand: Hand, by: Staff, entered: Input) -> int:
    return recorder.record(hand.table, entered, by=by, key=uuid.uuid4(), expected_seq=None).seq


def code(hand: Hand, by: Staff, entered: Input) -> str:
    """Why it is refused; nothing was written."""
    seq = hand.now.seq
    with pytest.raises(Refused) as refused:
        enter(hand, by, entered)
    assert hand.now.seq == seq
    return refused.value.code


def moved(hand: Hand) -> list[tuple[str, str, str, int]]:
    """The transfers of the newest entry."""
    transfers = Transfer.objects.filter(book_id=hand.table.book_id, seq=hand.now.seq).order_by("leg")
    return [
        (transfer.kind, transfer.source_place, transfer.target_place, transfer.amount_cents) for transfer in transfers
    ]


def rack(hand: Hand) -> int:
    return cage.balance(Account.objects.get(book_id=hand.table.book_id, place="rack"))


def waiting(hand: Hand) -> str:
    (paper,) = corrections.waiting(hand.table.book_id, hand.now.seq)
    return paper.slip


def proof_holds(hand: Hand) -> bool:
    fault = proofs.verify(hand.table.book).fault
    assert fault is None, fault
    return True


def correct(hand: Hand, boss: Staff, second: Staff, entered: ProposeCorrection) -> str:
    enter(hand, boss, entered)
    slip = waiting(hand)
    enter(hand, second, SignCorrection(slip))
    return slip


# --- A dispute -------------------------------------------------------------------------------------------------


def test_a_dispute_goes_from_claim_to_correction(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: a claim never reaches a ruling, its evidence is changed after the claim without a trace, or its correction
    rewrites cards and payouts."""
    before, then = round_steps.story(felt.table, 1), round_history.as_of(felt.table.book_id, 1, felt.now.seq)
    enter(felt, felt.by, CLAIM)
    dispute = cases.listed(9)[0][0].dispute
    entry = LogEntry.objects.get(book_id=felt.table.book_id, seq=dispute.last_seq)
    assert (dispute.last_hash, entry.round) == (bytes(entry.hash).hex(), 1)
    assert before is not None
    assert before.record is not None
    assert then is not None
    assert dispute.record_hash == then.record_hash
    enter(felt, boss, NoteDispute(1, "Player at seat 1", "Says the stack was left untouched"))
    enter(felt, felt.by, NoteDispute(1, "Dealer", "Does not remember"))
    enter(felt, boss, RuleDispute(1, "player", "The camera shows no payment"))
    slip = correct(felt, boss, second, ProposeCorrection(1, 1, 0, "Seat 1 was passed over", dispute=1))
    assert round_steps.story(felt.table, 1) == before
    assert not Transfer.objects.filter(kind="reversal").exists()
    enter(felt, boss, CloseDispute(1))
    (case,) = cases.cases(felt.table.book_id)
    assert (case.dispute.state, case.dispute.ruling, case.dispute.notes) == ("closed", "player", 2)
    assert case.corrections == (slip,)
    assert [word.kind for word in case.words] == ["opened", "noted", "noted", "ruled", "closed"]
    listed, there_are = cases.listed(9)
    assert ([listed_case.dispute.state for listed_case in listed], there_are) == (["closed"], 1)
    assert proof_holds(felt)


def test_the_list_shows_open_disputes_first_and_queries_only_what_it_shows(
    felt: Hand, boss: Staff, second: Staff
) -> None:
    """Harm: the next shift does not see an open claim, or a page with one open dispute reads years of closed ones."""
    assert code(Hand(floor.table("Rocket 2"), boss), boss, CLAIM) == "unknown_round"
    for number in (1, 2, 3):
        enter(felt, boss, OpenDispute(1, f"Claim {number}", "Seat 4", seat=4))
    for number in (1, 3):
        enter(felt, second, RuleDispute(number, "stands", "Seen on video"))
        enter(felt, boss, CloseDispute(number, ""))
    lines, there_are = cases.listed(10)
    assert [(case.table, case.dispute.number, case.dispute.seat, case.dispute.state) for case in lines] == [
        ("Rocket 1", 2, 4, "opened"),
        ("Rocket 1", 3, 4, "closed"),
        ("Rocket 1", 1, 4, "closed"),
    ]
    assert {case.dispute.number: case.opened_at for case in lines} == {
        case.dispute.number: case.opened_at for case in cases.cases()
    }
    assert there_are == 3
    assert [case.dispute.number for case in cases.listed(2)[0]] == [2, 3]
    for number in (1, 2, 3):
        case = cases.case(felt.table.book_id, number)
        assert case in cases.cases()
        assert case is not None
        assert case.dispute.number == number
    assert cases.case(felt.table.book_id, 4) is None


def test_a_large_dispute_is_marked_for_the_regulator(felt: Hand, boss: Staff) -> None:
    """Harm: a reportable dispute is not reported to the regulator."""
    for number, (cents, reportable) in enumerate(((49_999, False), (50_000, True)), 1):
        enter(felt, boss, OpenDispute(1, "Bet of 500", "Seat 1", seat=1, claim_cents=cents))
        case = cases.case(felt.table.book_id, number)
        assert case is not None
        assert case.dispute.reportable is reportable
        assert Alert.objects.filter(message__contains="reportable").exists() is reportable


def test_a_dispute_has_a_round_a_claim_and_a_name(felt: Hand, boss: Staff) -> None:
    """Harm: a dispute is opened without a round, a claim or a name."""
    wrong: list[tuple[DisputeInput, str]] = [
        (OpenDispute(7, "x", "y"), "unknown_round"),
        (OpenDispute(1, "x", "y", seat=9), "unknown_seat"),
        (OpenDispute(1, " ", "y"), "no_words"),
        (OpenDispute(1, "x" * 501, "y"), "bad_words"),
        (OpenDispute(1, "x", "\x07"), "bad_words"),
        (OpenDispute(1, "x", "y", claim_cents=-1), "bad_amount"),
        (NoteDispute(1, "x", "y"), "unknown_dispute"),
        (RuleDispute(1, "stands", "y"), "unknown_dispute"),
        (CloseDispute(1), "unknown_dispute"),
    ]
    for dispute_input, reason in wrong:
        assert code(felt, boss, dispute_input) == reason, dispute_input


def test_a_dispute_goes_forward_only(felt: Hand, boss: Staff) -> None:
    """Harm: a ruling is replaced after a complaint, a closed file is changed, or a player whose claim was upheld is
    never paid."""
    for _ in range(2):
        enter(felt, boss, CLAIM)
    assert code(felt, boss, CloseDispute(1, "x")) == "not_ruled"
    assert code(felt, boss, RuleDispute(1, "maybe", "x")) == "unknown_ruling"
    enter(felt, boss, RuleDispute(1, "stands", "The camera shows the payment"))
    assert code(felt, boss, RuleDispute(1, "player", "x")) == "ruled_already"
    enter(felt, boss, CloseDispute(1))
    assert code(felt, boss, NoteDispute(1, "x", "y")) == "dispute_closed"
    enter(felt, boss, RuleDispute(2, "player", "Not paid"))
    assert code(felt, boss, CloseDispute(2)) == "no_correction"
    enter(felt, boss, CloseDispute(2, "The player has left; the amount waits at the cage"))
    assert proof_holds(felt)


def test_who_dealt_the_round_does_not_rule_on_it(felt: Hand, boss: Staff) -> None:
    """Harm: a judge in their own case."""
    enter(felt, boss, CLAIM)
    assert code(felt, felt.by, RuleDispute(1, "stands", "x")) == "not_permitted"
    felt("take_back")
    felt("bet", seat=1, amount_cents=1_000)
    Hand(felt.table, boss)("take_back")  # now the boss has entered something in round 2
    felt("bet", seat=1, amount_cents=1_000)
    enter(felt, felt.by, OpenDispute(2, "My bet was more", "Seat 1", seat=1))
    assert code(felt, boss, RuleDispute(2, "stands", "x")) == "own_round"


def test_roles_without_a_part_in_a_dispute_cannot_write_in_its_file(felt: Hand, boss: Staff) -> None:
    """Harm: people without a part in a dispute write in its file."""
    enter(felt, boss, CLAIM)
    for role in (Role.DEALER, Role.OPERATOR, Role.AUDITOR, Role.CASHIER):
        colleague = floor.staff(role, f"a.{role}")
        for dispute_input in (CLAIM, NoteDispute(1, "x", "y"), RuleDispute(1, "stands", "y"), OWED):
            assert code(felt, colleague, dispute_input) == "not_permitted", (role, dispute_input)


def test_a_round_that_goes_on_can_be_disputed_and_not_yet_corrected(felt: Hand, boss: Staff) -> None:
    """Harm: a claim that has to wait, or a ruling that pays before the round is over."""
    enter(felt, boss, OpenDispute(2, "That was my bet", "Seat 2", seat=2))
    assert code(felt, boss, RuleDispute(1, "player", "x")) == "round_open"
    assert code(felt, boss, ProposeCorrection(2, 2, 0, "x")) == "round_open"
    felt("close_bets")
    assert proof_holds(felt)


def test_the_cards_of_a_game_that_goes_on_stay_hidden() -> None:
    """Harm: a dispute is opened in order to see what a player holds."""
    dealer, boss = for_pot("pairs", seats={1: 5_000, 2: 5_000}, source="house")
    dealer("start_game")
    assert dealer.now.round is not None
    assert dealer.now.round.secret
    enter(dealer, boss.by, OpenDispute(1, "Misdeal", "Seat 1"))
    assert cases.listed(9)[0][0].dispute.record_hash is None
    body = LogEntry.objects.filter(book_id=dealer.table.book_id).latest("seq").body
    assert b"rank" not in bytes(body)
    assert proof_holds(dealer)


# --- A correction ----------------------------------------------------------------------------------------------


def test_a_seat_that_was_not_paid_is_paid_by_two(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: chips that leave a rack on one person's word. The mispay had left 20 too many there, which is booked."""
    before = rack(felt)
    enter(felt, boss, OWED)
    assert moved(felt) == []
    enter(felt, second, SignCorrection(waiting(felt)))
    assert moved(felt) == [("over", "over_short", "rack", 2_000), ("correct_pay", "rack", "players", 2_000)]
    assert rack(felt) == before
    (paper,) = correction_records.of(felt.table.book_id, 1)
    assert (paper.state, paper.by, paper.correction.recorded_cents) == ("signed", "201 Bruno", 2_000)
    assert proof_holds(felt)


def test_a_seat_that_was_paid_twice_gives_back(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: the sign the wrong way round, so that the player is paid a third time."""
    before = rack(felt)
    correct(felt, boss, second, ProposeCorrection(1, 1, 4_000, "Paid twice"))
    assert moved(felt) == [("short", "rack", "over_short", 2_000), ("correct_take", "players", "rack", 2_000)]
    assert rack(felt) == before
    assert proof_holds(felt)


def test_what_a_count_has_taken_over_is_not_booked_again(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: a difference that is booked by the count and by the correction: the next count is off by it."""
    felt("take_back")
    hand = Hand(felt.table, boss)
    floor.counted(hand, "rack", over_cents=2_000)
    before = rack(felt)
    correct(felt, boss, second, OWED)
    assert moved(felt) == [("correct_pay", "rack", "players", 2_000)]
    assert rack(felt) == before - 2_000
    assert proof_holds(felt)


def test_a_void_round_gives_back_what_was_lost(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: a void that stays a word."""
    enter(felt, boss, OpenDispute(1, "A card was exposed", "Seat 4"))
    enter(felt, boss, RuleDispute(1, "void", "The card was seen by all"))
    correct(felt, boss, second, ProposeCorrection(1, 4, -2_000, "Void", due_cents=0, dispute=1))
    assert moved(felt) == [("correct_pay", "rack", "players", 2_000)]
    enter(felt, boss, CloseDispute(1))
    assert proof_holds(felt)


def test_a_correction_follows_from_the_round(felt: Hand, boss: Staff) -> None:
    """Harm: a gift is entered as a correction."""
    wrong = [
        (ProposeCorrection(9, 1, 0, "x"), "unknown_round"),
        (ProposeCorrection(1, 3, 0, "x"), "unknown_seat"),
        (ProposeCorrection(1, 1, 0, " "), "no_words"),
        (ProposeCorrection(1, 1, 2_000, "x"), "nothing_to_correct"),
        (ProposeCorrection(1, 1, 0, "x", due_cents=5_000), "no_ruling"),
        (ProposeCorrection(1, 1, -2_001, "x"), "bad_amount"),
        (ProposeCorrection(1, 1, 0, "x", dispute=4), "unknown_dispute"),
        (ProposeCorrection(1, 1, 0, "x", earlier="correction/2026/1"), "unknown_slip"),
    ]
    for dispute_input, reason in wrong:
        assert code(felt, boss, dispute_input) == reason, dispute_input


def test_a_correction_is_signed_by_a_second_person_of_the_right_role(felt: Hand, boss: Staff) -> None:
    """Harm: one person pays out alone, or two friends of whom one has no say."""
    enter(felt, boss, OWED)
    slip = waiting(felt)
    assert code(felt, boss, SignCorrection(slip)) == "signed_already"
    for role in (Role.DEALER, Role.OPERATOR, Role.AUDITOR, Role.CASHIER, Role.SECURITY):
        assert code(felt, floor.staff(role, f"a.{role}"), SignCorrection(slip)) == "not_permitted"
    gone = floor.staff(Role.PIT_BOSS, "gone")
    gone.is_active = False
    assert code(felt, gone, SignCorrection(slip)) == "not_permitted", "a pit boss who has left keeps the role"
    enter(felt, floor.staff(Role.PIT_BOSS, "bruno"), SignCorrection(slip))
    assert proof_holds(felt)


def test_a_seat_is_not_corrected_twice_without_saying_so(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: the same claim is paid in two shifts."""
    slip = correct(felt, boss, second, ProposeCorrection(1, 1, 500, "Paid 5"))
    assert code(felt, boss, OWED) == "corrected_already"
    again = ProposeCorrection(1, 1, 1_500, "5 of the correction fell back into the rack", earlier=slip)
    correct(felt, boss, second, again)
    assert moved(felt) == [("over", "over_short", "rack", 500), ("correct_pay", "rack", "players", 500)]
    assert proof_holds(felt)


def test_a_correction_that_is_declined_keeps_its_number(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: a gap in the numbers, behind which a slip disappeared."""
    enter(felt, boss, OWED)
    slip = waiting(felt)
    enter(felt, second, DeclineCorrection(slip, "The camera shows the payment"))
    assert moved(felt) == []
    assert code(felt, second, SignCorrection(slip)) == "unknown_slip"
    enter(felt, boss, OWED)
    year = timezone.localtime().year
    assert (slip, waiting(felt)) == (f"correction/{year}/1", f"correction/{year}/2")
    assert [paper.state for paper in correction_records.of(felt.table.book_id, 1)] == ["proposed", "declined"]
    assert [str(slip) for slip in Slip.objects.filter(series="correction").order_by("number")] == [slip, waiting(felt)]
    assert proof_holds(felt)


@pytest.mark.django_db(transaction=True)
def test_of_many_signatures_at_once_one_moves_chips(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: both pit bosses of a pit propose the correction of a payout error, or a slip is signed on two screens at
    the same moment, and the player is paid twice."""
    answers = at_once(*[partial(enter, felt, by, OWED) for by in (boss, second) * 4])
    assert sorted(type(answer).__name__ for answer in answers) == ["Refused"] * 7 + ["int"]
    slip = waiting(felt)
    assert slip.endswith("/1")
    assert code(felt, second, OWED) == "waits_already"
    signers = [floor.staff(Role.PIT_BOSS, name) for name in ("olga", "otto")]
    answers = at_once(*[partial(enter, felt, by, SignCorrection(slip)) for by in signers * 4])
    assert sorted(type(answer).__name__ for answer in answers) == ["Refused"] * 7 + ["int"]
    assert Transfer.objects.filter(kind="correct_pay").count() == 1
    assert proof_holds(felt)


def test_no_chips_leave_a_rack_that_is_counted_or_closed(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: chips leave between two counts of the rack, or after it was locked, and the rack is short in the
    morning."""
    felt("take_back")
    enter(felt, boss, OWED)
    slip, hand = waiting(felt), Hand(felt.table, boss)
    chips = ((100, rack(felt) // 100),)
    floor.signs(felt.table, floor.crew("received"), BeginSlip("closer", chips))
    assert code(felt, second, SignCorrection(slip)) == "count_open"
    floor.counted(hand, "closer")
    assert code(felt, second, SignCorrection(slip)) == "table_closed"
    enter(felt, boss, CLAIM)
    assert proof_holds(felt)


def test_games_between_players_are_none_of_the_houses_corrections() -> None:
    """Harm: the house pays for what one player owes another."""
    dealer, boss = for_pot("pairs", seats={1: 5_000, 2: 5_000})
    dealer("start_game")
    assert code(dealer, boss.by, ProposeCorrection(1, 1, 0, "x")) in ("round_open", "not_banked")


# --- Forgeries -------------------------------------------------------------------------------------------------


def newest(hand: Hand, subject: str) -> dict[str, Any]:
    return LogEntry.objects.filter(book_id=hand.table.book_id, subject=subject).latest("seq").content


def forge(hand: Hand, subject: str, kind: str, content: dict[str, Any], by: str, moves: tuple[Move, ...] = ()) -> str:
    """Append an entry as the ledger does, roll it back, and return the fault that the proof finds."""
    with transaction.atomic():
        draft = Draft(subject, kind, by, content)
        seq = cage.post(log.lock(hand.table.book_id), draft, moves).seq
        fault = proofs.verify(hand.table.book).fault
        transaction.set_rollback(True)
    assert fault is not None, "the forgery was believed"
    assert fault.seq == seq
    return fault.what


BOSS, BRUNO, DORA = "bella Bella", "201 Bruno", "101 Dora"
AS_BRUNO = {"username": "bruno", "name": "Bruno", "badge": "201", "role": "pit_boss"}
AS_DORA = {"username": "dora", "name": "Dora", "badge": "101", "role": "dealer"}


def test_a_dispute_opens_on_the_evidence_that_there_is(felt: Hand, boss: Staff) -> None:
    """Harm: evidence is altered to fit, or a file is closed before it was opened."""
    enter(felt, boss, CLAIM)
    content = newest(felt, "dispute")
    forgeries: list[tuple[dict[str, Any], str]] = [
        ({"round": 7}, "Round 7 was not dealt"),
        ({"number": 5}, "number is 5, not 2"),
        ({"last_hash": "00" * 32}, "last_hash is"),
        ({"record_hash": None}, "record_hash is null"),
        ({"first_seq": 1}, "first_seq is 1"),
        ({"state": "closed"}, 'state is "closed"'),
        ({"ruling": "house"}, 'ruling is "house"'),
        ({"opened_by": BRUNO}, "opened_by is"),
    ]
    for change, sentence in forgeries:
        dispute = content["dispute"] | {"number": 2} | change
        forgery = content | {"dispute": dispute, "open": [content["dispute"], dispute], "last": dispute["number"]}
        assert sentence in forge(felt, "dispute", "opened", forgery, BOSS), change


def test_a_forged_step_of_a_dispute_is_found(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: the log is given a ruling by the dealer of the round or in another person's name, a dispute that the next
    shift does not see, or a ruling for a player that looks paid."""
    enter(felt, boss, CLAIM)
    content = newest(felt, "dispute")
    dispute = content["dispute"]
    own = dispute | {"state": "ruled", "ruling": "stands", "reason": "x", "ruled_by": DORA}
    by_dealer = content | {"dispute": own, "open": [own]} | AS_DORA
    assert "Only a pit boss rules" in forge(felt, "dispute", "ruled", by_dealer, DORA)
    with_note = dispute | {"notes": 1}
    note = content | {"dispute": with_note, "open": [with_note], "heard": "x", "text": "y"}
    assert "open is []" in forge(felt, "dispute", "noted", note | {"open": []}, BOSS)
    assert "wrote it" in forge(felt, "dispute", "noted", note, BRUNO)
    enter(felt, boss, RuleDispute(1, "player", "Not paid"))
    content = newest(felt, "dispute")
    closed = content["dispute"] | {"state": "closed"}
    content |= {"dispute": closed, "open": [], "text": "x", "corrections": ["correction/2026/8"]}
    assert "corrections is" in forge(felt, "dispute", "closed", content, BOSS)


def test_a_correction_states_the_payout_of_the_engine(felt: Hand, boss: Staff) -> None:
    """Harm: a payout is recorded that was never made, so that a gift looks like a debt."""
    enter(felt, boss, ProposeCorrection(1, 4, 0, "Nothing was taken"))
    content = newest(felt, "correction")
    cents = dict.fromkeys(("recorded_cents", "believed_cents", "due_cents"), 2_000)
    proposed = content["correction"] | cents | {"seat": 1, "slip": "correction/2026/2"}
    forgeries: list[tuple[dict[str, Any], str]] = [
        ({"recorded_cents": 9_000}, "recorded_cents is 9000, not 2000"),
        ({"believed_cents": 9_000}, "believed_cents is 9000, not 2000"),
        ({"due_cents": 9_000}, "due only by a ruling"),
        ({"seat": 3}, "Seat 3 had no bet"),
        ({"proposed_by": "nobody"}, "proposed_by is"),
        ({"dispute": 3}, "There is no dispute 3"),
    ]
    for change, sentence in forgeries:
        correction = proposed | change
        forgery = content | {"correction": correction, "open": [*content["open"], correction]}
        assert sentence in forge(felt, "correction", "proposed", forgery, BOSS), change


def pays(hand: Hand, cents: int, off: int = 2_000) -> tuple[Move, ...]:
    chart = cage.chart(hand.table.book_id)
    booked = (chart.move("over", "over_short", "rack", off),) if off else ()
    return (*booked, chart.move("correct_pay", "rack", "players", cents))


def test_a_forged_second_signature_is_found(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: a correction of 20 moves 200, is signed by its proposer or without a PIN, was never proposed, or books a
    difference of the rack twice or never."""
    enter(felt, boss, OWED)
    content = newest(felt, "correction")
    signature = content | AS_BRUNO | {"open": [], "counted": False, "off_cents": 2_000, "difference_cents": 2_000}
    alone = signature | {"username": "bella", "name": "Bella", "badge": None}
    after_count = signature | {"counted": True, "off_cents": 0}
    strange = signature | {"correction": signature["correction"] | {"slip": "correction/2026/7"}}
    honest = pays(felt, 2_000)
    forgeries = [
        (signature, BRUNO, pays(felt, 20_000), "its transfer 2 is"),
        (alone, BOSS, honest, "another person has to sign"),
        (after_count, BRUNO, pays(felt, 2_000, 0), "counted is true, not false"),
        (strange, BRUNO, honest, "waits for a signature"),
        (signature, BRUNO, honest, "not signed beside it"),
    ]
    for forgery, by, moves, sentence in forgeries:
        assert sentence in forge(felt, "correction", "signed", forgery, by, moves), sentence


def test_chips_of_a_correction_move_by_nothing_else(felt: Hand) -> None:
    """Harm: a payment that calls itself a correction in the entry of something else."""
    move = cage.chart(felt.table.book_id).move("correct_pay", "rack", "players", 2_000)
    assert "correct_pay" in forge(felt, "chips", "buy_in", {"amount_cents": 2_000}, BOSS, moves=(move,))
