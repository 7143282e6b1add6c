"""Commission that was marked at seats of a table against the house: collected, or forgiven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from ledger.proof.chips import PLAYERS, RACK
from ledger.proof.moves import Chart, Move
from tables.log.event import Context, Event
from tables.log.exception_categories import CORRECTIONS, ORDINARY
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import from_fields
from tables.log.published import chips as forms
from tables.log.state import Stacks, TableState
from tables.log.writers import FLOOR, THE_DEALER


class Marked(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Something about the commission that a seat owes, with what all seats owe after it."""

    subject: ClassVar[str] = "commission"

    seat: int
    amount_cents: int
    marks: Stacks
    """(seat, cents); seats that owe nothing are left out."""

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(standing, marked=self.marks, marked_seq=seq)


class CommissionCollected(Marked, frozen=True, kw_only=True, omit_defaults=True):
    """A seat paid the commission that was marked there."""

    kinds: ClassVar[tuple[str, ...]] = ("collected",)
    record = KindRecord(
        writer=THE_DEALER,
        moves=frozenset({"commission"}),
        exception=ORDINARY,
        feed=(forms.CommissionSettled,),
        alert=NO_ALERT,
    )

    def moved(self, context: Context) -> Sequence[Move]:
        return self.moves(context.chart)

    def moves(self, chart: Chart) -> list[Move]:
        """From the player into the rack."""
        return [chart.move("commission", PLAYERS, RACK, self.amount_cents)] if self.amount_cents else []

    description = from_fields("Seat {seat} pays commission of {amount_cents}")


class CommissionForgiven(Marked, frozen=True, kw_only=True, omit_defaults=True):
    """The commission that was marked at a seat will not be paid."""

    kinds: ClassVar[tuple[str, ...]] = ("forgiven",)
    record = KindRecord(
        writer=FLOOR, moves=NOTHING, exception=CORRECTIONS, feed=(forms.CommissionSettled,), alert=("forgiven",)
    )

    reason: str

    description = from_fields("Commission of {amount_cents} at seat {seat} is forgiven: {reason}")
