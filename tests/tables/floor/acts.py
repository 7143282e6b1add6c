"""Inputs at a table, refusals, and proofs of the table's log, for tests of play."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from ledger.models import LogEntry
from ledger.proof.chain import Fault
from tables.audit import proofs
from tables.floor import recorder
from tables.floor.inputs import AbandonTable, EnterMishap, Input, VoidRound
from tables.models import Table
from tables.refusals import Refused
from tables.state import table_state
from tests.floor import Hand


def enter(hand: Hand, table_input: Input) -> recorder.Receipt:
    """Record an input at the newest sequence number of the table."""
    return recorder.record(hand.table, table_input, by=hand.by, key=uuid4(), expected_seq=hand.now.seq)


def void(boss: Hand, reason: str = "misdeal", **facts: Any) -> recorder.Receipt:
    return enter(boss, VoidRound(reason, "seen by the pit", **facts))


def set_aside(dealer: Hand, card: str = "") -> recorder.Receipt:
    """Set an exposed card aside. Without a rank, the card was not seen."""
    return enter(dealer, EnterMishap("exposed_card", act="set_aside", card=card))


def burn_at_relief(dealer: Hand, card: str = "") -> recorder.Receipt:
    """Burn a card by the procedure for a relief."""
    return enter(dealer, EnterMishap("burn_at_relief", act="burn", card=card))


def abandon(boss: Hand, reason: str = "evacuation") -> recorder.Receipt:
    return enter(boss, AbandonTable(reason, "the alarm rang"))


def refusal(call: Callable[..., object], *args: Any, **facts: Any) -> Refused:
    """Make a call, and return its refusal."""
    with pytest.raises(Refused) as caught:
        call(*args, **facts)
    return caught.value


def verify(table: Table) -> None:
    """Assert that a proof of the table's log finds no fault."""
    assert _fault(table) is None, str(_fault(table))


def fault(table: Table) -> Fault:
    """The first fault that a proof of the table's log finds. Fail if it finds none."""
    first = _fault(table)
    assert first is not None, "the proof finds no fault"
    return first


def _fault(table: Table) -> Fault | None:
    table_state.cache.clear()
    return proofs.verify(table.book, with_note=False).fault


def latest_kinds(table: Table, count: int) -> list[str]:
    """Subject and kind of the newest entries of the table, the oldest first."""
    rows = LogEntry.objects.filter(book_id=table.book_id).order_by("-seq")[:count]
    return [f"{row.subject} {row.kind}" for row in reversed(rows)]
