"""A card is burned at a relief, a rack is locked and unlocked, and a round is void by two, as a kept house's terms want
it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import uuid4

from tables.floor import recorder
from tables.floor.inputs import Input, LockRack, UnlockRack, VoidRound
from tables.refusals import Refused
from tables.setup import policies
from tests import floor
from tests.floor import Hand


def burn_and_lock(house: Any) -> None:
    """At a table of real cards: its dealer is relieved in mid-round, which two make void."""
    policies.change({"burn_at_relief": True, "void_second_roles": ("security",)}, by=house.olga)
    table = floor.table("Relief 1")
    boss, dealer, relief = Hand(table, house.boss), Hand(table, house.dora), Hand(table, house.dan)
    boss("open_table")
    recorder.sign_in(table, house.dora)
    dealer.ready_shoe()
    dealer.bets(seat1=1_000)
    with suppress(Refused):  # which the house notes
        _enter(dealer, VoidRound("misdeal", "a dealer may not"))
    recorder.relieve(table, house.dan, house.dora.username, confirmed_by=house.boss)
    second = floor.crew("carried").username
    _enter(boss, VoidRound("dead_hand", "the dealer fell ill", second=second))
    relief("burn")
    _enter(relief, LockRack("a chip lies under the table"))
    _enter(boss, UnlockRack("it was found", second))
    boss("close_table")
    policies.change({"burn_at_relief": False, "void_second_roles": ()}, by=house.olga)


def _enter(hand: Hand, entered: Input) -> None:
    recorder.record(hand.table, entered, by=hand.by, key=uuid4(), expected_seq=hand.now.seq)
