"""Chips for cash at tables and at the cage, chips at seats, commission."""

from __future__ import annotations

from typing import Any, ClassVar

from ledger.proof.chain import Entry
from tables.log.published.form import FeedEvent, RoundHistory


class ChipsSold(FeedEvent, frozen=True, kw_only=True):
    """A player bought chips for cash: at the table, or at the cage where there is none."""

    type: ClassVar[str] = "chips.sold"

    amount_cents: int | None


class SaleUndone(FeedEvent, frozen=True, kw_only=True):
    """A sale of chips was keyed wrongly: it does not count."""

    type: ClassVar[str] = "chips.sale_undone"

    amount_cents: int
    corrects: int
    """The entry of the sale."""


class ChipsRedeemed(FeedEvent, frozen=True, kw_only=True):
    """A player had chips redeemed for cash at the cage."""

    type: ClassVar[str] = "chips.redeemed"

    amount_cents: int | None


class SeatBoughtIn(FeedEvent, frozen=True, kw_only=True):
    """A player put chips in play at a seat: bought for cash, or brought along."""

    type: ClassVar[str] = "seat.bought_in"

    seat: int
    amount_cents: int
    cash: bool


class SeatCashedOut(FeedEvent, frozen=True, kw_only=True):
    """A player left with the chips that lay at the seat."""

    type: ClassVar[str] = "seat.cashed_out"

    seat: int
    amount_cents: int


class TimeCharged(FeedEvent, frozen=True, kw_only=True):
    """Every seat paid for the half hours that had passed."""

    type: ClassVar[str] = "seat.time_charged"

    periods: int
    each_cents: int


class CommissionSettled(FeedEvent, frozen=True, kw_only=True):
    """Commission that was marked at a seat was collected, or will not be."""

    type: ClassVar[str] = "commission.settled"

    seat: int
    amount_cents: int
    forgiven: bool

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> CommissionSettled:
        return cls(seat=event.seat, amount_cents=event.amount_cents, forgiven=event.kind == "forgiven")
