"""Things go wrong at two tables of a kept house: cards leave the shoe, rounds are void, one table is abandoned."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from tables.floor import recorder
from tables.floor.inputs import AbandonTable, AcceptBet, EnterMishap, Input, VoidRound
from tables.models import ShoeSource
from tests import floor
from tests.floor import Hand


def go_wrong(house: Any) -> None:
    """At a table of real cards, and at one with a house shoe."""
    for source in (ShoeSource.KEYED, ShoeSource.HOUSE):
        _at_a_table(house, source)


def _at_a_table(house: Any, source: ShoeSource) -> None:
    table = floor.table(f"Mishap {1 if source == ShoeSource.KEYED else 2}", source=source)
    boss, dealer = Hand(table, house.boss), Hand(table, house.dora)
    boss("open_table")
    recorder.sign_in(table, house.dora)
    dealer.ready_shoe()
    keyed = source == ShoeSource.KEYED
    _enter(dealer, EnterMishap("exposed_card", act="set_aside", card="4" if keyed else ""))
    _enter(boss, AcceptBet(2, 15_000))
    dealer.bets(seat1=1_000)
    _enter(dealer, EnterMishap("boxed_card", act="set_aside", card="7" if keyed else ""))
    _enter(boss, VoidRound("misdeal", "two cards stuck together"))
    _enter(dealer, EnterMishap("burn_at_relief", act="burn"))
    dealer.bets(seat1=1_000)
    if keyed:
        _enter(dealer, EnterMishap("card_on_the_floor", act="set_aside", called="Paul", note="it cannot be found"))
    _enter(boss, AbandonTable("evacuation", "the alarm rang"))
    boss("close_table")


def _enter(hand: Hand, entered: Input) -> None:
    recorder.record(hand.table, entered, by=hand.by, key=uuid4(), expected_seq=hand.now.seq)
