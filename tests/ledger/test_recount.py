"""Recounts, and the transfers held against the log: what was altered, added or left out is found and named."""

import pytest
from django.db import OperationalError, transaction

from ledger import cage, tasks
from ledger.inspection import inspect_book, inspect_house
from ledger.log import read_head
from ledger.models import HOUSE, Alert, Book, Recount
from ledger.recount import first_fault, prove, recount, wrong_recount
from tests.database import rollback
from tests.ledger.conftest import FLOAT_CENTS, Felt, Tamper, lay_felt


def fault(felt: Felt, since: int = 0) -> tuple[int, str]:
    breach = first_fault(felt.book.pk, since=since)
    assert breach is not None, "nothing was found"
    return breach.seq, breach.what


# --- Transfers against the log --------------------------------------------------------------------------------


def test_a_payout_altered(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm prevented: a player who was paid more than the round made, afterwards."""
    tamper("UPDATE ledger_transfer SET amount_cents = 9999 WHERE book_id = %s AND seq = 10 AND kind = 'win'",
           dealt_felt.book.pk)  # fmt: skip
    for since in (0, 8):
        seq, sentence = fault(dealt_felt, since)
        assert seq == 10
        assert sentence.startswith("its transfer 2 is ['win', 'rack#")
        assert "9999" in sentence
        assert "it recorded ['win'" in sentence


def test_a_payout_to_another_seat(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm prevented: the right amount from the wrong bet."""
    ids = dealt_felt.chart.ids
    tamper("UPDATE ledger_transfer SET source_id = %s WHERE book_id = %s AND seq = 10 AND kind = 'return'",
           ids["layout", 5], dealt_felt.book.pk)  # fmt: skip
    assert fault(dealt_felt)[0] == 10


COPY = (
    "INSERT INTO ledger_transfer (book_id, seq, leg, legs, kind, source_id, source_place, target_id, target_place,"
    " amount_cents) SELECT book_id, %s, %s, legs, kind, source_id, source_place, target_id, target_place, amount_cents"
    " FROM ledger_transfer WHERE book_id = %s AND seq = 10 AND leg = 2"
)


def test_a_transfer_dropped_or_added(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm: a loss never reaches the rack, or a bet is paid out twice, possibly hidden under the number of the first
    payout."""
    with rollback():
        tamper("DELETE FROM ledger_transfer WHERE book_id = %s AND seq = 10 AND leg = 2", dealt_felt.book.pk)
        assert fault(dealt_felt) == (10, "it recorded 3 transfers, 2 are there")
    for leg in (4, 2):
        with rollback():
            tamper(COPY, 10, leg, dealt_felt.book.pk)
            assert fault(dealt_felt) == (10, "it recorded 3 transfers, 4 are there")


def test_a_transfer_of_no_entry(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm prevented: chips that moved without a word in the log."""
    tamper(COPY, 40, 1, dealt_felt.book.pk)
    assert fault(dealt_felt) == (40, "is beyond the last entry that the book knows, 12")
    tamper("UPDATE ledger_transfer SET seq = 0 WHERE book_id = %s AND seq = 40", dealt_felt.book.pk)
    tamper("DELETE FROM ledger_transfer WHERE book_id = %s AND seq = 2", dealt_felt.book.pk)
    assert fault(dealt_felt) == (2, "it recorded 1 transfers, 0 are there")


# --- Recounts against transfers -------------------------------------------------------------------------------


def test_a_recount_altered_or_left_out(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm: a balance is raised at the recount where sums begin, below which no check looks; or an account's chips
    vanish from its balance because a recount skipped it."""
    recount(dealt_felt.book.pk, "test")
    rack = dealt_felt.chart.ids["rack", None]
    with rollback():
        raised = (
            "UPDATE ledger_recount SET balance_cents = balance_cents + 100 WHERE account_id = %s AND through_seq = 8"
        )
        tamper(raised, rack)
        assert fault(dealt_felt) == (8, "the recount through it says 9,597 in rack, the transfers make 9,596")
    tamper("DELETE FROM ledger_recount WHERE account_id = %s AND through_seq = 12", rack)
    assert fault(dealt_felt) == (12, "the recount through it says 0 in rack, the transfers make 9,516")


def test_a_recount_made_up_by_the_application(dealt_felt: Felt) -> None:
    """Harm prevented: the one thing that the application's role may add without an entry, used to raise a balance."""
    layout = dealt_felt.chart.ids["layout", 6]
    anchor = Recount.objects.filter(through_seq=8).first()
    with transaction.atomic():
        Recount.objects.create(book=dealt_felt.book, account_id=layout, through_seq=8, head_hash=anchor.head_hash,
                               balance_cents=500, at=anchor.at, by="x")  # fmt: skip
        assert fault(dealt_felt) == (8, "the recount through it says 5 in layout 6, the transfers make 0")
        breach = wrong_recount(dealt_felt.book.pk, since=0)
        assert breach
        assert breach.seq == 8
        transaction.set_rollback(True)


def test_a_recount_writes_every_account_that_was_ever_touched(felt: Felt) -> None:
    """Harm prevented: a place whose last count lies so far back that finding it means reading history."""
    rows = recount(felt.book.pk, "7 Eve")
    assert {row.account_id for row in rows} == {
        felt.chart.ids[place, None] for place in ("cage", "transit", "rack", "players")
    }
    assert recount(felt.book.pk, "7 Eve") == []
    felt.round(seat=3)
    second = recount(felt.book.pk, "7 Eve")
    assert {str(row.account): row.balance_cents for row in second} == {
        "cage": -FLOAT_CENTS, "transit": 0, "players": 48_400, "layout 3": 0, "rack": FLOAT_CENTS - 48_400,
    }  # fmt: skip
    head = read_head(felt.book.pk)
    assert {(row.through_seq, bytes(row.head_hash), row.by) for row in second} == {(head.seq, head.hash, "7 Eve")}
    assert sum(row.balance_cents for row in second) == 0


def test_an_entry_without_chips_is_no_reason_to_recount(felt: Felt) -> None:
    """Harm prevented: a row per place and five minutes on a table where nothing moves."""
    recount(felt.book.pk, "test")
    felt.write()
    assert recount(felt.book.pk, "test") == []
    felt.round()
    assert len(recount(felt.book.pk, "test")) == 5
    assert first_fault(felt.book.pk) is None


def test_a_proof_goes_on_from_a_recount_and_from_nowhere_else(dealt_felt: Felt) -> None:
    """Harm prevented: a proof of the new entries that trusts a hash nobody noted."""
    assert [proven.entry.seq for proven in prove(dealt_felt.book.pk, since=8)] == [9, 10, 11, 12]
    with pytest.raises(LookupError, match="no recount of Table 1 ends at entry 9"):
        list(prove(dealt_felt.book.pk, since=9))


# --- The regular look at the books ----------------------------------------------------------------------------


def test_the_look_at_an_honest_book_recounts_it(dealt_felt: Felt) -> None:
    """Harm prevented: recounts that stop, so that sums grow dear, or alerts that mean nothing."""
    assert inspect_book(dealt_felt.book.pk) == []
    assert inspect_book(dealt_felt.book.pk) == []
    assert inspect_house() == []
    assert Recount.objects.filter(book=dealt_felt.book, through_seq=12).count() == 6
    assert not Alert.objects.exists()


def test_what_does_not_hold_is_reported_and_not_recounted(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm prevented: a forged payout that becomes the ground for all later sums."""
    tamper("UPDATE ledger_transfer SET amount_cents = 9999 WHERE book_id = %s AND seq = 10 AND kind = 'win'",
           dealt_felt.book.pk)  # fmt: skip
    (alert,) = inspect_book(dealt_felt.book.pk)
    assert alert.kind == "log_broken"
    assert alert.message.startswith("The log does not hold: Table 1, entry 10: its transfer 2 is")
    assert alert.evidence["seq"] == 10
    assert not Recount.objects.filter(through_seq=12).exists()
    assert inspect_book(dealt_felt.book.pk) == [alert]


def test_a_wrong_recount_is_reported(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm prevented: a wrong ground for later sums that only the nightly check would find."""
    tamper("UPDATE ledger_recount SET balance_cents = 0 WHERE account_id = %s", dealt_felt.chart.ids["rack", None])
    (alert,) = inspect_book(dealt_felt.book.pk)
    assert "Table 1, entry 8: the recount through it says 0 in rack" in alert.message


def test_a_place_that_holds_less_than_nothing_is_reported(felt: Felt) -> None:
    """Harm prevented: a rack that pays out chips which it never had, unnoticed until the closer is counted."""
    felt.write(felt.chart.move("win", "rack", "players", 2 * FLOAT_CENTS))
    felt.write(felt.chart.move("loss", ("layout", 4), "rack", 500))
    rack, layout = sorted(inspect_book(felt.book.pk), key=lambda alert: alert.message, reverse=True)
    assert rack.message == "Table 1: rack holds less than nothing"
    assert rack.evidence["balance_cents"] == FLOAT_CENTS - 50_000 - 2 * FLOAT_CENTS + 500
    assert layout.message == "Table 1: layout 4 holds less than nothing"


def test_players_may_carry_chips_between_tables_but_not_make_them(felt: Felt) -> None:
    """Harm prevented: an alert for every player who changes tables; and none when chips appear from nowhere."""
    second_felt = lay_felt("Table 2")
    second_felt.write(second_felt.chart.move("stake", "players", ("layout", 1), 90_000))
    assert inspect_book(second_felt.book.pk) == []
    assert inspect_house() == []
    second_felt.write(second_felt.chart.move("stake", "players", ("layout", 1), 90_000))
    (alert,) = inspect_house()
    assert alert.message == "house: players holds less than nothing"
    assert alert.evidence["balance_cents"] == -80_000
    assert alert.book == Book.objects.get(name=HOUSE)


def test_an_empty_cage_that_fills_a_table_is_reported(felt: Felt) -> None:
    """Harm prevented: fills of chips that the cage never had."""
    felt.fill(1)
    assert [alert.message for alert in inspect_house()] == ["house: cage holds less than nothing"]


def test_chips_that_do_not_add_up_are_reported(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm prevented: a sum over all places that is not zero, by a recount nobody can explain."""
    tamper("UPDATE ledger_recount SET balance_cents = balance_cents + 700 WHERE account_id = %s",
           dealt_felt.chart.ids["rack", None])  # fmt: skip
    (alert,) = inspect_house()
    assert alert.kind == "unbalanced"
    assert alert.evidence["astray_cents"] == 700


def test_a_big_sum_does_not_break_the_count(felt: Felt) -> None:
    """Harm prevented: a recount that fails for ever because one sum left 64 bits for a moment."""
    huge = 2**62
    for _ in range(3):
        felt.write(felt.chart.move("stake", "players", ("layout", 1), huge))
        felt.write(felt.chart.move("return", ("layout", 1), "players", huge))
    assert len(recount(felt.book.pk, "test")) == 5
    assert cage.balances(felt.book.pk) == {
        account: {"players": 50_000, "rack": FLOAT_CENTS - 50_000}.get(str(account), 0)
        for account in cage.balances(felt.book.pk)
    }


def test_what_no_proof_foresaw_is_a_fault_of_that_book(open_felt: Felt) -> None:
    """Harm prevented: chips beyond all counting in one book, for which the watch over it dies with a traceback."""
    for _ in range(2):
        open_felt.fill(2**63 - 1)
    (alert,) = inspect_book(open_felt.book.pk)
    assert alert.kind == "log_broken"
    assert "the proof cannot go on from here: DataError" in alert.message


def test_a_recount_that_met_an_outage_is_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a failover of the database costs a table its recount, and nothing reports that."""
    outages = [OperationalError("the server closed the connection")] * 2
    recounted: list[int] = []

    def inspect_book(book_id: int) -> list[Alert]:
        if outages:
            raise outages.pop()
        recounted.append(book_id)
        return []

    monkeypatch.setattr(tasks, "inspect_book", inspect_book)
    tasks.recount_table.apply((7,))
    assert recounted == [7]
