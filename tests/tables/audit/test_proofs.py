"""`verify` proves the log, and names whatever somebody with all rights over the database changed behind it."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest
from django.core.management import call_command

from ledger.models import Alert, LogEntry, Transfer
from ledger.proof.chain import Fault
from ledger.recount import recount
from tables import tasks
from tables.audit import proofs
from tests.floor import Hand, dealt
from tests.intruder import Intruder, at_work
from tests.ready import ready_made

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@ready_made
def floor() -> Hand:
    """Three rounds with every kind of outcome, one settled round taken back and dealt on."""
    dealer, _ = dealt(options={"decks": 6})
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 8, 7, 10)  # seat 1 pairs 8s, the dealer pairs 10s: seat 4 wins
    dealer.pay()
    dealer.bets(seat2=1_000)
    dealer.cards(9, 3)  # the death card
    dealer.reopens()  # it was no 3 but an 8
    dealer.cards(8)
    dealer("choose", seat=2, choice="fold")
    dealer.bets(seat1=1_000, seat2=2_000, seat3=3_000)
    dealer.cards(5, 6, 7, 9)
    return dealer


def fault(hand: Hand) -> Fault:
    fault = proofs.verify(hand.table.book).fault
    assert fault is not None
    return fault


@pytest.fixture
def intruder(floor: Hand) -> Iterator[Intruder]:
    with at_work() as somebody:
        yield somebody


def play_entries(hand: Hand) -> list[int]:
    plays = LogEntry.objects.filter(book_id=hand.table.book_id, subject="round", kind="play")
    return list(plays.order_by("seq").values_list("seq", flat=True))


def test_an_honest_log_holds_and_the_report_counts_what_was_checked(floor: Hand) -> None:
    """A proof that finds faults in honest work would be switched off within a week."""
    report = proofs.verify(floor.table.book)
    assert report.fault is None
    assert report.entries == floor.now.seq
    # The second round was settled twice: once on the card taken back, once for good.
    assert report.rounds == 3
    assert report.transfers == Transfer.objects.filter(book_id=floor.table.book_id).count() > 8


FLIP_A_BYTE = "UPDATE ledger_logentry SET body = set_byte(body, 20, get_byte(body, 20) # 1)"


@pytest.mark.parametrize(
    ("change", "place"),
    [(FLIP_A_BYTE, "middle"), ("DELETE FROM ledger_logentry", "middle"), ("DELETE FROM ledger_logentry", "last")],
)
def test_a_row_that_was_changed_or_dropped_is_named(floor: Hand, intruder: Intruder, change: str, place: str) -> None:
    """Harm: one digit of a card is changed, or an input is removed, possibly the last one."""
    seq = play_entries(floor)[3] if place == "middle" else floor.now.seq
    intruder(f"{change} WHERE book_id = %s AND seq = %s", floor.table.book_id, seq)
    assert (fault(floor).book, fault(floor).seq) == ("Rocket 1", seq)


def test_two_swapped_rows_are_found_and_the_first_named(floor: Hand, intruder: Intruder) -> None:
    """Two cards in the other order make another round."""
    seq, next_seq = play_entries(floor)[3:5]
    for old, new in ((seq, -1), (next_seq, seq), (-1, next_seq)):
        intruder("UPDATE ledger_logentry SET seq = %s WHERE book_id = %s AND seq = %s", new, floor.table.book_id, old)
    assert fault(floor).seq == seq


@pytest.mark.parametrize(
    "change", ["amount_cents = amount_cents + 500", "source_id = target_id, target_id = source_id"]
)
def test_an_altered_payout_is_found_and_its_entry_named(floor: Hand, intruder: Intruder, change: str) -> None:
    """A payout of the ledger that is not the one of the log."""
    settled = Transfer.objects.filter(book_id=floor.table.book_id, kind="win").earliest("seq")
    intruder(f"UPDATE ledger_transfer SET {change} WHERE id = %s", settled.pk)
    assert fault(floor).seq == settled.seq


def test_a_payout_altered_in_log_and_ledger_with_every_hash_made_anew_is_found_by_the_rules(
    floor: Hand, intruder: Intruder
) -> None:
    """The whole chain fits again; but the engine does not pay that for these cards."""
    won = Transfer.objects.filter(book_id=floor.table.book_id, kind="win").earliest("seq")

    def pay_more(document: dict[str, Any]) -> None:
        for move in document["moves"]:
            if move[0] == "win":
                move[3] += 500

    intruder.rewrite(floor.table.book_id, won.seq, pay_more)
    intruder("UPDATE ledger_transfer SET amount_cents = amount_cents + 500 WHERE id = %s", won.pk)
    assert fault(floor).seq == won.seq
    assert "payouts make it" in fault(floor).what


def test_a_consistent_rewrite_of_history_is_found_by_what_an_earlier_proof_noted(
    floor: Hand, intruder: Intruder
) -> None:
    """Rules, chips and hashes all agree after the rewrite; only a past head shows that it happened."""
    assert proofs.verify_new(floor.table.book).fault is None
    floor("choose", seat=1, choice="fold")
    entry = LogEntry.objects.get(book_id=floor.table.book_id, subject="dealer", kind="signed_in")

    def elsewhere(document: dict[str, Any]) -> None:
        document["content"]["terminal"] = "Another terminal"

    intruder.rewrite(floor.table.book_id, entry.seq, elsewhere)
    assert "hashed anew" in fault(floor).what


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda content: content.update(actions=[{"do": "card", "rank": 8, "to": 4}]), "the rules do not allow it"),
        (lambda content: content.update(decided=[]), "was decided"),
        (lambda content: content.pop("actions"), "it is no round play that a house can write"),
    ],
)
def test_an_entry_that_no_table_can_write_is_named(floor: Hand, intruder: Intruder, change: Any, sentence: str) -> None:
    """Somebody who makes every hash anew still has to obey the rules of the game."""
    seq = play_entries(floor)[6]  # seat 1 is dealt its second 8
    intruder.rewrite(floor.table.book_id, seq, lambda document: change(document["content"]))
    assert fault(floor).seq == seq
    assert sentence in fault(floor).what


def test_new_entries_are_proved_from_the_last_proof_on_even_in_mid_round(floor: Hand) -> None:
    """A check every few minutes must not read the whole history, nor trip over a round that is half dealt."""
    book = floor.table.book
    assert proofs.verify_new(book).entries == floor.now.seq
    floor("choose", seat=1, choice="fold")
    floor("take_back")
    floor.cards(9)
    report = proofs.verify_new(book)
    assert (report.fault, report.entries) == (None, 3)
    assert proofs.verify_new(book).entries == 0


def test_a_settled_round_taken_back_after_a_proof_still_proves(floor: Hand) -> None:
    """The reversal's originals lie before the proof that the check starts from."""
    floor.cards(8)  # seat 1 stays in
    floor("choose", seat=2, choice="fold")
    floor("choose", seat=3, choice="fold")
    floor.cards(3)
    assert proofs.verify_new(floor.table.book).fault is None
    floor.reopens()
    assert proofs.verify_new(floor.table.book).fault is None


def test_the_command_prints_what_it_checked_and_exits_1_at_the_first_fault(
    floor: Hand, intruder: Intruder, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that watches the exit code must be able to trust it."""
    call_command("verify", table="Rocket 1")  # the rows and the database's shape: test_tampering_rows
    assert "3 rounds replayed" in capsys.readouterr().out
    seq = play_entries(floor)[2]
    intruder("DELETE FROM ledger_logentry WHERE book_id = %s AND seq = %s", floor.table.book_id, seq)
    with pytest.raises(SystemExit) as exit_:
        call_command("verify", table="Rocket 1")
    assert exit_.value.code == 1
    assert f"Rocket 1, entry {seq}" in capsys.readouterr().out


def test_the_nightly_proof_opens_one_alert_that_stays(floor: Hand, intruder: Intruder) -> None:
    """A fault that is reported every few minutes hides the next one; one that is not reported hides itself."""
    recount(floor.table.book_id, "test")
    intruder("UPDATE ledger_transfer SET amount_cents = amount_cents + 500 WHERE book_id = %s", floor.table.book_id)
    assert len(tasks.verify_everything()) == 1
    assert len(tasks.verify_everything()) == 1
    assert Alert.objects.filter(kind="log_broken", acknowledgement=None).count() == 1


@pytest.mark.parametrize("body", ["[1]", "{}", "[" * 5_000], ids=["a list", "no content", "too deep"])
def test_an_entry_of_no_shape_is_named_and_stops_no_other_proof(floor: Hand, intruder: Intruder, body: str) -> None:
    """One odd entry with a fitting hash must not switch the watch off."""
    seq = floor.now.seq
    previous = LogEntry.objects.get(book_id=floor.table.book_id, seq=seq - 1).hash
    digest = sha256(bytes(previous) + body.encode()).digest()
    change = "UPDATE ledger_logentry SET body = %s, hash = %s WHERE book_id = %s AND seq = %s"
    intruder(change, body.encode(), digest, floor.table.book_id, seq)
    intruder("UPDATE ledger_book SET head_hash = %s WHERE id = %s", digest, floor.table.book_id)
    assert fault(floor).seq == seq
