"""A card reader in the carried days: it names cards, is wrong, is right, falls silent; the dealer takes over."""

from __future__ import annotations

from random import Random
from typing import Any

from tables.floor import recorder
from tables.models import Table
from tests import floor
from tests.floor import Hand
from tests.tables import bundles
from tests.tables.floor.test_card_readers import Device


def read(house: Any) -> Table:
    """Two rounds at a table of real cards, of which the dealer finishes each by key."""
    table = floor.table("Rocket 4", options={"decks": 2})
    boss, dealer = Hand(table, house.boss), Hand(table, house.dora)
    boss("open_table")
    recorder.sign_in(table, house.dora)
    dealer.ready_shoe()
    device = Device(table, house.olga)
    device.starts()
    _wrong(dealer, device)
    _right(house, dealer, device)
    dealer("retire_shoe")
    boss("close_table")
    return table


def _wrong(dealer: Hand, device: Device) -> None:
    """The dealer keys another card than was read, and is right; the reader goes on, and the dealer takes over."""
    dealer.bets(seat1=1_000, seat2=1_000)
    device.reads(9)
    dealer("card", rank=7)
    dealer("settle_reader", right="dealer")
    dealer("take_back")
    dealer("card", rank=7)
    dealer("give_back_reader")
    device.reads(8, 4)
    dealer("take_over_reader")
    _finish(dealer)
    dealer("give_back_reader")


def _right(house: Any, dealer: Hand, device: Device) -> None:
    """A card is read before bets are closed; the reader begins anew, and then is not heard of any more."""
    dealer("bet", seat=1, amount_cents=1_000)
    device.number += 1
    assert device.says(device.number, 9)[1]["code"] == "reader_stopped"
    dealer("settle_reader", right="reader")
    dealer("close_bets")
    device.starts()
    device.reads(9)
    house.later(minutes=1)
    dealer("card", rank=8)
    _finish(dealer)


def _finish(dealer: Hand) -> None:
    chance = Random(1)
    while dealer.now.round_open:
        bundles.step(dealer, chance)
