"""A sale of chips that was keyed wrongly and is undone: what goes back, who may, until when, and its proof."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from ledger import cage
from ledger.models import Account, LogEntry
from ledger.proof import seals
from ledger.proof.moves import undone
from tables.audit import day_seals
from tables.audit.outside import verifier
from tables.audit.outside.bundle import Wrong
from tables.floor import recorder
from tables.floor.inputs import BeginSlip, UndoSale
from tables.reports import gaming_hours
from tables.reports.figures import Figures
from tables.roles import Role
from tests import floor
from tests.clock import Clock
from tests.floor import Hand, dealt, signs
from tests.tables.at_once import at_once
from tests.tables.audit.test_log_rules import forge
from tests.tables.bundles import ONE, TWO, exported
from tests.tables.floor.acts import fault, refusal, verify
from tests.tables.reports import test_figures
from tests.tables.reports.test_figures import box
from tests.tables.reports.test_inventory import stock

CHIPS = ((100, 50),)
DEAREST = ((100, 500),)


@pytest.fixture
def hand(db: None) -> Hand:
    return dealt(options={"decks": 6})[0]


def sell(hand: Hand, chips: tuple[tuple[int, int], ...] = DEAREST) -> int:
    """The entry of a sale of these chips."""
    cents = sum(value * count for value, count in chips)
    return hand("sell_chips", amount_cents=cents, chips=chips).entry


def signature(hand: Hand) -> str:
    """How the log names who deals."""
    assert hand.now.dealer is not None
    return hand.now.dealer.signature


def line() -> Figures:
    """Today's figures of the table, but for how long it is open by now."""
    return replace(test_figures.line(), open_seconds=0)


def holdings(hand: Hand) -> dict[str, int]:
    """What lies in the table's rack, in its box and with its players."""
    accounts = Account.objects.filter(book_id=hand.table.book_id, place__in=["rack", "drop_box", "players"])
    return {account.place: cage.balance(account) for account in accounts}


def forge_undoing(hand: Hand, sale: int, **changes: Any) -> int:
    """Undo a sale by writing to the database. Return the number of the entry."""
    content = {"corrects": sale, "amount_cents": 50_000, "chips": DEAREST} | changes
    moves = undone(cage.transfers_of(hand.table.book_id, [sale]))
    return forge(hand, "chips", "undone", content, by=signature(hand), moves=moves)


def test_all_is_as_before_the_sale(hand: Hand) -> None:
    """Harm: 500 keyed for 50 counts as dropped or is expected in the next box; or chips are booked out that never left
    the rack."""
    sell(hand, ((100, 100),))
    box(hand.table, cash=((10_000, 1),))
    before = line()
    hand("undo_sale", sale=sell(hand))
    assert line() == before
    sell(hand, CHIPS)
    chips, figures_before, holding = holdings(hand), line(), stock(hand.table.name).holding
    seq = sell(hand)
    assert holdings(hand) != chips
    hand("undo_sale", sale=seq)
    assert (holdings(hand), line(), stock(hand.table.name).holding) == (chips, figures_before, holding)
    entry = LogEntry.objects.filter(book_id=hand.table.book_id).latest("seq")
    assert (entry.kind, entry.content["corrects"], entry.by) == ("undone", seq, signature(hand))
    sell(hand, CHIPS)
    assert line().drop_cents == figures_before.drop_cents + 5_000
    verify(hand.table)


def test_it_is_undone_only_before_anything_else(hand: Hand) -> None:
    """Harm: a sale is undone after its chips were played, counted, or left with the box."""
    first, second = sell(hand, CHIPS), sell(hand)
    assert refusal(hand, "undo_sale", sale=first).sentence == (
        "Something else was entered at this table since: the sale stands, and the pit corrects it."
    )
    hand("undo_sale", sale=second)
    assert refusal(hand, "undo_sale", sale=second).code == "sale_undone"
    assert refusal(hand, "undo_sale", sale=first).code == "sale_stands"
    third = sell(hand)
    hand.bets(seat1=1_000)
    assert refusal(hand, "undo_sale", sale=third).code == "sale_stands"
    fourth = sell(hand)
    signs(hand.table, floor.crew("requested"), BeginSlip("fill", ((100, 10),)))
    assert refusal(hand, "undo_sale", sale=fourth).code == "sale_stands"
    assert refusal(hand, "undo_sale", sale=hand.now.seq).code == "no_sale"


def test_whoever_deals_next_undoes_nothing(hand: Hand) -> None:
    """Harm: cash is taken off the book of somebody who has gone home."""
    seq = sell(hand)
    boss = Hand(hand.table, floor.staff(Role.PIT_BOSS, "petra"))
    assert refusal(boss, "undo_sale", sale=seq).code == "not_your_table"
    rosa = floor.staff(Role.DEALER, "rosa", "102")
    floor.relieve(hand.table, rosa)
    assert refusal(Hand(hand.table, rosa), "undo_sale", sale=seq).code == "sale_stands"


@pytest.mark.django_db(transaction=True)
def test_two_screens_at_once_undo_it_once() -> None:
    """Harm: the same 500 leaves the box twice."""
    hand = dealt(options={"decks": 6})[0]
    before = holdings(hand)
    seq = sell(hand)

    def undo() -> recorder.Receipt:
        return recorder.record(hand.table, UndoSale(seq), by=hand.by, key=uuid4(), expected_seq=None)

    answers = at_once(undo, undo)
    assert sorted(type(answer).__name__ for answer in answers) == ["Receipt", "Refused"]
    assert holdings(hand) == before
    verify(hand.table)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"chips": [[500, 100]]}, "chips is"),
        ({"amount_cents": 5_000, "chips": [[100, 50]]}, "amount_cents is"),
        ({"corrects": 3}, "Entry 3 is no sale of chips"),
    ],
)
def test_a_forged_undoing_is_named(hand: Hand, changes: dict[str, Any], says: str) -> None:
    """Harm: somebody who writes into the database takes cash off the book, and it passes for a sale undone."""
    forgery = forge_undoing(hand, sell(hand), **changes)
    breach = fault(hand.table)
    assert breach.seq == forgery
    assert says in breach.what


def test_a_late_undoing_is_named(hand: Hand) -> None:
    """Harm: the rule holds on the screen alone."""
    sale = sell(hand)
    hand.bets(seat1=1_000)
    forgery = forge_undoing(hand, sale)
    breach = fault(hand.table)
    assert breach.seq == forgery
    assert breach.what.startswith("it could not be entered then: Something else was entered at this table since")


@pytest.mark.django_db(transaction=True)
def test_it_holds_for_an_outsider_even_over_the_days_end(tmp_path: Path, settings: Any, clock: Clock) -> None:
    """Harm: honest work is called a forgery the day after, or a forged undoing passes an auditor without the house."""
    settings.AUDIT_KEY_FILE = str(tmp_path / "audit.pem")
    seals.make_key(tmp_path / "audit.pem")
    hand = dealt(options={"decks": 6})[0]
    hand("undo_sale", sale=sell(hand))
    seq = sell(hand)
    clock.pass_until(gaming_hours.span(TWO)[0] + timedelta(hours=9))
    day_seals.seal_finished()
    hand("undo_sale", sale=seq)
    sold = sell(hand)
    sell(hand, CHIPS)
    verify(hand.table)
    forgery = forge_undoing(hand, sold)
    clock.pass_until(gaming_hours.span(TWO)[1] + timedelta(hours=1))
    day_seals.seal_finished()
    path = tmp_path / "bundle.zip"
    path.write_bytes(exported(ONE, ONE))
    verifier.verify(path, say=lambda line: None)
    for first in (ONE, TWO):
        path.write_bytes(exported(first, TWO))
        with pytest.raises(Wrong, match=f"entry {forgery}: it undoes entry {sold}, and entry {forgery - 1} is the one"):
            verifier.verify(path, say=lambda line: None)
