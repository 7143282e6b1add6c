"""A roulette table in play: chips change hands unseen, and the house knows what is sold, moved by slips and counted."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

from django.db import transaction

from ledger import cage
from ledger.models import Account
from tables.floor import recorder
from tables.floor.inputs import BeginSlip, SignSlip
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tests import floor
from tests.floor import CHIPS, Hand, crew, signs
from tests.tables.cage.test_cage_desk import place_sums, someone

WHITE = CHIPS[0][0]
ROULETTE: dict[str, Any] = {
    "called": "Roulette",
    "wagers": [{"name": "Straight up", "pays": "35 to 1", "edge": "2.70 %"}, {"name": "Red or black", "pays": "evens"}],
    "hold_from_permille": 180,
    "hold_to_permille": 260,
}
POCKET_MONEY_CENTS = 400_000
"""What players keep in their pockets for other tables."""


def wheel(name: str = "Roulette 1") -> Table:
    """A closed table without rounds."""
    return floor.table(name, game="counted", options=ROULETTE, min_cents=100, max_cents=50_000)


class Wheel:
    """A table without rounds at which anything happens that may."""

    def __init__(self, chance: Random) -> None:
        self.chance, self.table = chance, wheel()
        self.boss = someone(Role.PIT_BOSS, "bert")
        self.dealer = someone(Role.DEALER, "dirk")
        self.unseen_cents = 0
        """What the rack holds more than the transfers say."""

    @property
    def rack_cents(self) -> int:
        """By the transfers."""
        return cage.balance(Account.objects.get(book_id=self.table.book_id, place="rack"))

    def step(self) -> None:
        """One deed, or one that is refused, which moves nothing."""
        hand = Hand(self.table, self.dealer)
        if not hand.now.is_open:
            self._count("opener", 0)
            return
        if hand.now.dealer is None:
            recorder.sign_in(self.table, self.dealer)
            return
        match self.chance.choice(
            ("play", "play", "sell", "sell", "undo", "change", "count", "fill", "credit", "close")
        ):
            case "play":
                self._play()
            case "sell":
                self._sell(hand)
            case "undo":
                with suppress(Refused):
                    hand("undo_sale", sale=hand.now.seq)
            case "change":
                hand("change_chips", amount_cents=self.chance.randint(1, 50) * WHITE, up=True)
            case "count":
                self.count("rack")
            case "fill":
                cage_, floor_ = ("issued", crew("issued")), ("confirmed", crew("requested"))
                self._carried("fill", cage_, ("carried", crew("carried")), ("received", self.dealer), floor_)
            case "credit":
                dealer_stage, floor_ = ("issued", self.dealer), ("confirmed", crew("requested"))
                self._carried(
                    "credit", dealer_stage, floor_, ("carried", crew("carried")), ("received", crew("issued"))
                )
            case "close" if self.chance.random() < 0.2:
                self.count("closer")

    def closes(self) -> None:
        """The table is closed for the night, and its box is taken away and counted."""
        if Hand(self.table, self.dealer).now.is_open:
            self.count("closer")
        cents = cage.balance(Account.objects.get(book_id=self.table.book_id, place="drop_box"))
        signs(self.table, someone(Role.SECURITY, "wilma"), BeginSlip("drop", box="R1"))
        slip = Hand(self.table, self.boss).now.slips[-1].name
        signs(self.table, someone(Role.SECURITY, "wim"), SignSlip(slip, "witnessed"))
        for stage, name in (("counted", "wanda"), ("recounted", "walter")):
            signs(self.table, someone(Role.COUNTER, name), SignSlip(slip, stage, ((100, cents // 100),)))

    def _play(self) -> None:
        """Players lose to the rack or win from it; nobody enters anything."""
        highest = place_sums().get("players", 0) - POCKET_MONEY_CENTS
        least = -self.rack_cents
        if least < highest:
            self.unseen_cents = self.chance.randint(least // WHITE, highest // WHITE) * WHITE

    def _sell(self, hand: Hand) -> None:
        """For as much as the dealer has in hand, whatever the transfers say."""
        in_hand = self.rack_cents + self.unseen_cents
        amount = self.chance.randint(1, 2_000) * WHITE
        if amount > in_hand:
            return
        hand("sell_chips", amount_cents=amount)
        self.unseen_cents = in_hand - amount - self.rack_cents

    def count(self, series: str) -> None:
        """Two people count what is there. More than players had, nobody can have lost."""
        self.unseen_cents = max(min(self.unseen_cents, place_sums().get("players", 0)), -self.rack_cents)
        self._count(series, self.unseen_cents)
        self.unseen_cents = 0

    def _count(self, series: str, over_cents: int) -> None:
        chips = ((WHITE, (self.rack_cents + over_cents) // WHITE),)
        signs(self.table, crew("received"), BeginSlip(series, chips))
        slip = Hand(self.table, self.boss).now.slips[-1].name
        signs(self.table, self.boss, SignSlip(slip, "recounted", chips))

    def _carried(self, series: str, *stages: tuple[str, Staff]) -> None:
        """Chips go to the cage or come from it, signed by five people; refused where the transfers do not have them."""
        with suppress(Refused), transaction.atomic():
            signs(self.table, self.boss, BeginSlip(series, ((WHITE, self.chance.randint(1, 300)),)))
            slip = Hand(self.table, self.boss).now.slips[-1].name
            for stage, somebody in stages:
                signs(self.table, somebody, SignSlip(slip, stage))
