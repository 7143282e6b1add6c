"""The stages of record(): which of them refuses first, and what a refusal leaves behind."""

import uuid
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import pytest
from django.db import DatabaseError, transaction

from ledger import alerts, log
from ledger.models import Alert, LogEntry, Transfer
from tables.floor import back_entry, inputs, recorder, restored_tables, signature_checks, stages, table_lock
from tables.refusals import Refused
from tables.roles import Role
from tables.state import acknowledgement, table_state
from tests import floor
from tests.floor import Hand
from tests.tables.floor.acts import refusal, verify

pytestmark = pytest.mark.django_db

BEFORE_APPEND: Final[tuple[tuple[ModuleType, str], ...]] = (
    (table_lock, "lock"),
    (restored_tables, "check_receipt"),
    (stages, "deduplicate"),
    (stages, "in_context"),
    (stages, "check_permission"),
    (stages, "check_freshness"),
    (stages, "decide"),
    (signature_checks, "attest"),
    (back_entry, "noted"),
)


def test_of_several_faults_the_earliest_stage_answers(dealer: Hand) -> None:
    """Harm: a person who may not deal hears only that the screen is old, and the pit never reads of the attempt; or a
    table whose log was restored goes on because its screen repeats an input."""
    used, newest = uuid.uuid4(), dealer.now
    recorder.record(dealer.table, inputs.Bet(1, 1_000), by=dealer.by, key=used, expected_seq=newest.seq)
    colleague, seq = floor.staff(Role.DEALER, "ida", "102"), dealer.now.seq
    lost = acknowledgement.read(dealer.table.book_id, acknowledgement.sign(dealer.table.book_id, seq + 3, b"\1" * 32))
    faults: dict[str, Any] = {"by": dealer.by, "key": uuid.uuid4(), "expected_seq": seq}
    for argument, value, code in (
        ("expected_seq", seq, "bad_bet"),
        ("expected_seq", newest.seq, "stale_sequence"),
        ("by", colleague, "not_your_table"),
        ("key", used, "key_reused"),
        ("receipt", lost, "records_restored"),
    ):
        assert dealer.now.seq == seq
        faults[argument] = value
        assert refusal(recorder.record, dealer.table, inputs.Bet(1, 3), **faults).code == code


@pytest.mark.parametrize("stage", BEFORE_APPEND, ids=[name for _, name in BEFORE_APPEND])
def test_a_stage_that_refuses_leaves_nothing_behind(
    dealer: Hand, monkeypatch: pytest.MonkeyPatch, stage: tuple[ModuleType, str]
) -> None:
    """Harm: a card that was refused has moved chips, or its key counts as used and the next press is answered as if
    it had been recorded."""
    dealer.bets(seat1=1_000)
    dealer.cards(10, 9)
    before, key = _written(dealer), uuid.uuid4()

    def press() -> recorder.Receipt:
        return recorder.record(dealer.table, inputs.KeyCard(10), by=dealer.by, key=key, expected_seq=dealer.now.seq)

    with monkeypatch.context() as patch:
        patch.setattr(*stage, _refusing(getattr(*stage)))
        assert refusal(press).code == "stopped"
    assert _written(dealer) == before
    answer = press()
    assert not answer.again
    assert Transfer.objects.filter(book_id=dealer.table.book_id, seq=answer.seq).count() == 2
    verify(dealer.table)


def test_an_alert_that_cannot_be_raised_takes_its_entry_back(dealer: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the log has a foreign card that no alert shows; or the table goes on from a state whose entry is gone."""
    dealer.bets(seat1=1_000, seat2=1_000)
    dealer.cards(1)
    before = _written(dealer)

    def fails(*_arguments: object) -> None:
        raise DatabaseError("no more room")

    with monkeypatch.context() as patch:
        patch.setattr(alerts, "raise_event", fails)
        with pytest.raises(DatabaseError), transaction.atomic():
            dealer("card", rank=1)
    assert _written(dealer) == before
    assert refusal(dealer, "card", rank=1).code == "impossible_card"
    assert Alert.objects.count() == 1
    dealer.cards(7)
    verify(dealer.table)


def _refusing(stage: Callable[..., Any]) -> Callable[..., Any]:
    """The stage, which refuses once its work is done."""

    def refuse(*arguments: Any) -> Any:
        stage(*arguments)
        raise Refused("stopped", "This stage refuses.", 409)

    return refuse


def _written(hand: Hand) -> tuple[object, ...]:
    """The head of the table's log, what is stored with it, and the state that the next input starts from."""
    book = hand.table.book_id
    head = log.read_head(book)
    counts = [rows.objects.filter(book_id=book).count() for rows in (LogEntry, Transfer, Alert)]
    return head, table_state.at(head), *counts
