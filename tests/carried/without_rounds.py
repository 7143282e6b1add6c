"""A table without rounds in the carried days: what it won and lost is told by its counts, a dispute names a moment."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.utils import timezone

from ledger import cage
from ledger.models import Account
from tables.floor import recorder
from tables.floor.inputs import CloseDispute, DisputeInput, OpenDispute, RuleDispute
from tests import floor
from tests.floor import Hand
from tests.tables.wheel import wheel


def play(house: Any) -> None:
    """An evening at roulette."""
    table = wheel()
    boss, dealer = Hand(table, house.boss), Hand(table, house.dora)
    boss("open_table")
    recorder.sign_in(table, house.dora)
    dealer("sell_chips", amount_cents=60_000)
    for over_cents in (25_000, -15_000):
        floor.counted(boss, "rack", over_cents)
    rack_cents = cage.balance(Account.objects.get(book_id=table.book_id, place="rack"))
    for undone in (True, False):
        sold = dealer("sell_chips", amount_cents=rack_cents + 30_000)
        if undone:
            dealer("undo_sale", sale=sold.entry)
    _dispute(house, dealer)
    dealer("sign_out")
    floor.counted(boss, "closer", over_cents=rack_cents)


def _dispute(house: Any, dealer: Hand) -> None:
    """A player says that 17 was paid wrongly, and is believed."""
    moment = timezone.localtime()
    claim = OpenDispute(0, "Paid 17 to 1", "The player", seat=3, claim_cents=9_000, happened=f"{moment:%Y-%m-%dT%H:%M}")
    house.later(minutes=1)
    _enter(dealer, claim)
    boss = Hand(dealer.table, house.boss)
    _enter(boss, RuleDispute(1, "player", "The camera shows it"))
    _enter(boss, CloseDispute(1, "Paid 180 from the rack"))


def _enter(hand: Hand, entered: DisputeInput) -> None:
    recorder.record(hand.table, entered, by=hand.by, key=uuid4(), expected_seq=None)
