"""Chips for cash, at a table and at the cage; chips into circulation; and the kinds of chips that there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ledger.proof.chips import REVERSAL
from ledger.proof.moves import Move, undone
from tables.log import attestation
from tables.log.event import AuditFailure, Context, Event
from tables.log.exception_categories import ORDINARY, SETTINGS, TAKE_BACKS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Label, Message, Money, from_fields, joined
from tables.log.published import chips as forms
from tables.log.published.form import CHIPS_FOR_CHIPS, SETUP
from tables.log.settlement import at_the_counter, sold
from tables.log.slip_types import Chips, total
from tables.log.writers import FORMER, THE_DEALER, staff_with


def _refuse_other(chips: Chips, amount_cents: int) -> None:
    if chips and total(chips) != amount_cents:
        raise AuditFailure(f"its chips are worth {total(chips)}, it is about {amount_cents}")


class ChipsSold(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A player bought chips for cash at a table against the house."""

    subject: ClassVar[str] = "chips"
    kinds: ClassVar[tuple[str, ...]] = ("buy_in",)
    record = KindRecord(
        writer=THE_DEALER,
        moves=frozenset({"buy_in", "drop", "table_win"}),
        exception=ORDINARY,
        feed=(forms.ChipsSold,),
        alert=NO_ALERT,
    )

    amount_cents: int
    chips: Chips = ()
    """Which were handed out, as the screen named them to the dealer; none in entries of before they were written."""
    came_back_cents: int = 0
    """What of them can lie in the rack only because players lost it: at a table whose win is known by its counts."""

    def moved(self, context: Context) -> Sequence[Move]:
        _refuse_other(self.chips, self.amount_cents)
        if not 0 <= self.came_back_cents <= self.amount_cents:
            raise AuditFailure(f"it says that {self.came_back_cents} came back for a sale of {self.amount_cents}")
        return sold(context.chart, self.amount_cents, self.came_back_cents)

    description = from_fields("A player buys chips for {amount_cents}")


class SaleUndone(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A sale of chips was keyed wrongly: it does not count, and what it moved goes back."""

    subject: ClassVar[str] = "chips"
    kinds: ClassVar[tuple[str, ...]] = ("undone",)
    record = KindRecord(
        writer=THE_DEALER, moves=frozenset({REVERSAL}), exception=TAKE_BACKS, feed=(forms.SaleUndone,), alert=NO_ALERT
    )

    corrects: int
    """The entry of the sale: the one before this."""
    amount_cents: int
    chips: Chips = ()
    """Which go back into the rack: those that the sale named."""

    def moved(self, context: Context) -> Sequence[Move]:
        _refuse_other(self.chips, self.amount_cents)
        if self.corrects != context.before.seq:
            raise AuditFailure(f"it undoes entry {self.corrects}, and entry {context.before.seq} is the one before it")
        posted = context.posted.get(self.corrects, ())
        if [transfer.move for transfer in posted][-2:] != sold(context.chart, self.amount_cents):
            raise AuditFailure(f"it undoes a sale of {self.amount_cents}, and entry {self.corrects} is none")
        return undone(posted)

    description = from_fields("Entry {corrects} is undone: no chips were sold for {amount_cents}")


class ChipsChanged(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A player exchanged chips for others of equal worth at a table."""

    subject: ClassVar[str] = "chips"
    kinds: ClassVar[tuple[str, ...]] = ("changed",)
    record = KindRecord(writer=THE_DEALER, moves=NOTHING, exception=ORDINARY, feed=CHIPS_FOR_CHIPS, alert=NO_ALERT)

    amount_cents: int
    up: bool
    """Coloured up, and not broken into smaller ones."""
    takes: Chips = ()
    """The chips that the player gave; empty if not recorded, as in entries of earlier releases."""
    gives: Chips = ()
    """Which the rack gave."""

    def bear_out(self, context: Context) -> None:
        _refuse_other(self.takes, self.amount_cents)
        _refuse_other(self.gives, self.amount_cents)

    def description(self) -> Message:
        amount = Money(self.amount_cents)
        if self.up:
            return Message("{amount} is coloured up", amount=amount)
        return Message("{amount} is changed for smaller chips", amount=amount)


class ChipsIssued(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Chips were put into circulation."""

    subject: ClassVar[str] = "chips"
    kinds: ClassVar[tuple[str, ...]] = ("issued",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=FORMER, moves=frozenset({"issue", "withdraw"}), exception=ORDINARY, feed=CHIPS_FOR_CHIPS, alert=NO_ALERT
    )

    description = from_fields("Chips are put into circulation")


class AtTheCounter(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Chips passed the cage's counter for cash."""

    subject: ClassVar[str] = "chips"
    of_the_house: ClassVar[bool] = True

    amount_cents: int | None = None
    """None in entries of before amounts were written: their first transfer tells it."""
    chips: Chips = ()
    """Which passed the counter; none in entries of before they were written."""
    series: str = ""
    """The series of the chips, if it was checked."""
    of_series: tuple[tuple[int, str], ...] = ()
    """(value in cents, series) of each kind that passed the counter and has one; none in entries of before it was
    written by kind."""

    def signed_terms(self) -> Mapping[str, Any] | None:
        terms = {"format": attestation.COUNTER, "stage": self.kind, "cents": self.amount_cents, "chips": self.chips}
        looked_at = {"series": self.series, "of_series": self.of_series}
        return terms | {name: series for name, series in looked_at.items() if series}

    def moved(self, context: Context) -> Sequence[Move]:
        if {value for value, _ in self.of_series} - {value for value, _ in self.chips}:
            raise AuditFailure("it names the series of chips that did not pass the counter")
        amount = self.amount_cents
        if amount is None:
            amount = context.recorded[0].amount_cents if context.recorded else 0
        _refuse_other(self.chips, amount)
        return at_the_counter(context.chart, self.kind, amount)


class SoldAtTheCage(AtTheCounter, frozen=True, kw_only=True, omit_defaults=True):
    """A player bought chips for cash at the cage."""

    kinds: ClassVar[tuple[str, ...]] = ("sold",)
    record = KindRecord(
        writer=staff_with("tables.run_cage"),
        moves=frozenset({"sale", "cash_in"}),
        exception=ORDINARY,
        feed=(forms.ChipsSold,),
        alert=NO_ALERT,
    )

    description = from_fields("Players buy chips at the cage")


class Redeemed(AtTheCounter, frozen=True, kw_only=True, omit_defaults=True):
    """A player had chips redeemed for cash."""

    kinds: ClassVar[tuple[str, ...]] = ("redeemed",)
    record = KindRecord(
        writer=staff_with("tables.run_cage"),
        moves=frozenset({"redeem", "cash_out"}),
        exception=ORDINARY,
        feed=(forms.ChipsRedeemed,),
        alert=NO_ALERT,
    )

    description = from_fields(
        "Chips for {amount_cents} are redeemed at the cage",
        otherwise=from_fields("Chips are redeemed at the cage"),
    )


class DenominationAdded(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The house has chips of another worth."""

    subject: ClassVar[str] = "chips"
    kinds: ClassVar[tuple[str, ...]] = ("added",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.add_denomination"),
        moves=NOTHING,
        exception=SETTINGS,
        feed=SETUP,
        alert=("settings_changed",),
    )

    value_cents: int
    colour: str
    face: str
    """The colour on screens, in hex."""
    proposal: int | None = None
    """The proposal that two people stand for, where it took two."""

    description = from_fields("There are {colour} chips of {value_cents}")


class DenominationChanged(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Chips of one worth look otherwise."""

    subject: ClassVar[str] = "chips"
    kinds: ClassVar[tuple[str, ...]] = ("changed",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.change_denomination"),
        moves=NOTHING,
        exception=SETTINGS,
        feed=SETUP,
        alert=("settings_changed",),
    )

    value_cents: int
    before: dict[str, Any]
    after: dict[str, Any]
    proposal: int | None = None

    def description(self) -> Message:
        looks = [
            Message("{part} {before} → {after}", part=Label(name), before=str(self.before.get(name)), after=str(value))
            for name, value in self.after.items()
        ]
        return Message("Chips of {value}: {looks}", value=Money(self.value_cents), looks=joined(looks))


class DenominationRetired(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Chips of one worth are not given out any more; those that are out are taken back as before."""

    subject: ClassVar[str] = "chips"
    kinds: ClassVar[tuple[str, ...]] = ("retired",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.change_denomination"), moves=NOTHING, exception=SETTINGS, feed=SETUP, alert=NO_ALERT
    )

    value_cents: int
    why: str

    description = from_fields("Chips of {value_cents} are retired: {why}")


class ChipSeriesAdded(Event, frozen=True, kw_only=True, omit_defaults=True):
    """There is another series of chips: what a manufacturer made at once."""

    subject: ClassVar[str] = "chip_series"
    kinds: ClassVar[tuple[str, ...]] = ("added",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.add_chipseries"), moves=NOTHING, exception=SETTINGS, feed=SETUP, alert=NO_ALERT
    )

    name: str
    manufacturer: str
    year: int
    values: tuple[int, ...]
    """What its chips are worth, in cents, the largest first."""

    description = from_fields(
        "Series {name} of chips by {manufacturer}, {year}: {values}",
        values=lambda values: joined(map(Money, values)),
    )
