"""Chips at the seats of a table with a pot, and the pages of seats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import ClassVar, Final

from msgspec import structs

from ledger.proof.chips import PLAYERS, RACK, SEAT
from ledger.proof.moves import Chart, Move
from tables.log.event import AuditFailure, Context, Event
from tables.log.exception_categories import ORDINARY
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, Money, from_fields
from tables.log.published import chips as forms
from tables.log.published.form import SEAT_PAGES
from tables.log.settlement import sold
from tables.log.slip_types import Chips, total
from tables.log.state import Stacks, TableState
from tables.log.writers import DEALER_ELSE_FLOOR, DEALER_OR_FLOOR, FOLLOWS, THE_DEALER

SEATED: Final = frozenset({"sit_down", "stand_up", "time_charge"})
"""The movements that only chips at the seats of a table with a pot make."""
PERIOD: Final = timedelta(minutes=30)
"""A seat pays the table's time charge once for each."""


class AtTheSeats(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Something about the chips at the seats, with what lies there after it."""

    subject: ClassVar[str] = "seats"

    stacks: Stacks
    """(seat, cents); seats without chips are left out."""
    charged_at: str | None
    """Until when time is paid: it runs from the first buy-in at an empty table, and ends when all have left."""

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(standing, seated=self.stacks, seated_seq=seq, charged_at=self.charged_at)

    def moved(self, context: Context) -> Sequence[Move]:
        return self.moves(context.chart, context.before.stacks)

    def moves(self, chart: Chart, before: Mapping[int, int]) -> list[Move]:
        """Its transfers, where this lay at the seats before it."""
        raise NotImplementedError

    def taken(self, before: Mapping[int, int]) -> Mapping[int, int]:
        """What it brings to each seat in cents; below zero what it takes."""
        raise NotImplementedError

    def paid_until(self, charged_at: str) -> str:
        """Until when time is paid after it, where it was paid until then before."""
        return charged_at

    def upon(self, standing: TableState, moment: str | None) -> AtTheSeats:
        """The seats and chips after it, derived from the state of the table. ``moment``: the time of the entry, from
        which time is charged if no seat was occupied before."""
        before = standing.stacks
        after = {**before}
        for seat, cents in self.taken(before).items():
            after[seat] = after.get(seat, 0) + cents
        stacks = tuple(sorted((seat, cents) for seat, cents in after.items() if cents))
        charged_at = None
        if stacks:
            charged_at = moment if standing.charged_at is None else self.paid_until(standing.charged_at)
        return structs.replace(self, stacks=stacks, charged_at=charged_at)


class BoughtIn(AtTheSeats, frozen=True, kw_only=True, omit_defaults=True):
    """A player put chips in play at a seat: bought for cash, or brought along."""

    kinds: ClassVar[tuple[str, ...]] = ("buy_in",)
    record = KindRecord(
        writer=THE_DEALER,
        moves=frozenset({"buy_in", "drop", "sit_down"}),
        exception=ORDINARY,
        feed=(forms.SeatBoughtIn,),
        alert=NO_ALERT,
    )

    seat: int
    amount_cents: int
    cash: bool
    chips: Chips = ()
    """Which were handed out for cash, as the screen named them; none in entries of before they were written."""

    def taken(self, before: Mapping[int, int]) -> Mapping[int, int]:
        if self.chips and (not self.cash or total(self.chips) != self.amount_cents):
            raise AuditFailure(f"its chips are worth {total(self.chips)}, it is about {self.amount_cents}")
        return {self.seat: self.amount_cents}

    def moves(self, chart: Chart, before: Mapping[int, int]) -> list[Move]:
        bought = sold(chart, self.amount_cents) if self.cash else []
        return [*bought, chart.move("sit_down", PLAYERS, (SEAT, self.seat), self.amount_cents)]

    def description(self) -> Message:
        amount = Money(self.amount_cents)
        if self.cash:
            return Message("Seat {seat} buys in for {amount}", seat=self.seat, amount=amount)
        return Message("Seat {seat} brings {amount}", seat=self.seat, amount=amount)


class CashedOut(AtTheSeats, frozen=True, kw_only=True, omit_defaults=True):
    """A player left with the chips that lay at the seat."""

    kinds: ClassVar[tuple[str, ...]] = ("cash_out",)
    record = KindRecord(
        writer=DEALER_ELSE_FLOOR,
        moves=frozenset({"stand_up"}),
        exception=ORDINARY,
        feed=(forms.SeatCashedOut,),
        alert=NO_ALERT,
    )

    seat: int
    amount_cents: int

    def taken(self, before: Mapping[int, int]) -> Mapping[int, int]:
        return {self.seat: -self.amount_cents}

    def moves(self, chart: Chart, before: Mapping[int, int]) -> list[Move]:
        return [chart.move("stand_up", (SEAT, self.seat), PLAYERS, self.amount_cents)]

    description = from_fields("Seat {seat} cashes out {amount_cents}")


class TimeCharged(AtTheSeats, frozen=True, kw_only=True, omit_defaults=True):
    """Every seat paid for the half hours that had passed, or what was there."""

    kinds: ClassVar[tuple[str, ...]] = ("time_charge",)
    record = KindRecord(
        writer=THE_DEALER,
        moves=frozenset({"time_charge"}),
        exception=ORDINARY,
        feed=(forms.TimeCharged,),
        alert=NO_ALERT,
    )

    periods: int
    each_cents: int

    def taken(self, before: Mapping[int, int]) -> Mapping[int, int]:
        due = self.periods * self.each_cents
        return {seat: -min(due, cents) for seat, cents in sorted(before.items()) if cents}

    def paid_until(self, charged_at: str) -> str:
        return (datetime.fromisoformat(charged_at) + self.periods * PERIOD).isoformat()

    def moves(self, chart: Chart, before: Mapping[int, int]) -> list[Move]:
        charges = self.taken(before)
        return [chart.move("time_charge", (SEAT, seat), RACK, -cents) for seat, cents in charges.items()]

    description = from_fields("Time charge: {each_cents} a seat for each of {periods} half hours")


class SeatPageIssued(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A Player page was issued for a seat. No entry contains its address, so the log does not reveal it."""

    subject: ClassVar[str] = "seat_page"
    kinds: ClassVar[tuple[str, ...]] = ("issued",)
    record = KindRecord(writer=DEALER_OR_FLOOR, moves=NOTHING, exception=ORDINARY, feed=SEAT_PAGES, alert=("issued",))

    seat: int
    again: bool
    """Whether it had one before, which ended with it."""
    page: str | None = None
    """The digest of what is kept of its address. None in entries of before it was entered."""

    def description(self) -> Message:
        if self.again:
            return Message("Seat {seat} gets a new page of its own", seat=self.seat)
        return Message("Seat {seat} gets a page of its own", seat=self.seat)


class SeatPageRevoked(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A seat's page is no longer in use."""

    subject: ClassVar[str] = "seat_page"
    kinds: ClassVar[tuple[str, ...]] = ("revoked",)
    record = KindRecord(writer=FOLLOWS, moves=NOTHING, exception=ORDINARY, feed=SEAT_PAGES, alert=NO_ALERT)

    seat: int

    description = from_fields("The page of seat {seat} is revoked")
