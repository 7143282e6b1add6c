"""A table opens and closes, and who deals there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from ledger.proof.moves import Move
from tables.log.event import AuditFailure, Context, Event
from tables.log.exception_categories import ORDINARY
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, from_fields
from tables.log.published import tables as forms
from tables.log.signatory import Signatory
from tables.log.slip_types import Chips
from tables.log.slip_workflow import Slip
from tables.log.state import Dealer, TableState
from tables.log.writers import COMING_DEALER, FOLLOWS, LEAVING_DEALER


class Door(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A table opened with its opener, or closed with its closer, each counted twice."""

    subject: ClassVar[str] = "table"
    follows: ClassVar[str]
    """The slip that it follows, in words."""

    slip: str
    rack_cents: int
    variance_cents: int
    chips: Chips

    @classmethod
    def after(cls, slip: Slip) -> Door:
        """As it follows from the slip that was counted."""
        return cls(
            slip=slip.name,
            rack_cents=slip.total_cents,
            variance_cents=slip.variance_cents,
            chips=slip.agreed or (),
        )

    def uncounted(self) -> AuditFailure:
        """That nothing was counted for it."""
        return AuditFailure(f"the table is {self.kind} without {self.follows}")

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        is_open = isinstance(self, TableOpened)
        return replace(standing, is_open=is_open, opened_seq=seq, opening_rack_cents=self.rack_cents, lock=None)

    def moved(self, context: Context) -> Sequence[Move]:
        slip = context.before.counted
        if slip is None or slip.series.table_effect != self.kind:
            raise self.uncounted()
        if self.after(slip) != self:
            raise AuditFailure(f"it says {self.slip}, {self.rack_cents}, the slip says {slip.total_cents}")
        return ()


class TableOpened(Door, frozen=True, kw_only=True, omit_defaults=True):
    """A table opened with what was counted in its rack."""

    kinds: ClassVar[tuple[str, ...]] = ("opened",)
    follows: ClassVar[str] = "an opener"
    record = KindRecord(writer=FOLLOWS, moves=NOTHING, exception=ORDINARY, feed=(forms.TableOpened,), alert=NO_ALERT)

    description = from_fields("The table opens, {rack_cents} in the rack")


class TableClosed(Door, frozen=True, kw_only=True, omit_defaults=True):
    """A table closed with what was counted in its rack."""

    kinds: ClassVar[tuple[str, ...]] = ("closed",)
    follows: ClassVar[str] = "a closer"
    record = KindRecord(writer=FOLLOWS, moves=NOTHING, exception=ORDINARY, feed=(forms.TableClosed,), alert=NO_ALERT)

    description = from_fields("The table closes, {rack_cents} in the rack")


DOORS: Final[Mapping[str, type[Door]]] = {door.kinds[0]: door for door in (TableOpened, TableClosed)}
"""What becomes of a table with two counts that agree, as the record of their series has it."""


class DealerSignedIn(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A dealer took the table, or relieved the one who stood there."""

    subject: ClassVar[str] = "dealer"
    kinds: ClassVar[tuple[str, ...]] = ("signed_in",)
    record = KindRecord(
        writer=COMING_DEALER, moves=NOTHING, exception=ORDINARY, feed=(forms.DealerSignedIn,), alert=NO_ALERT
    )

    username: str
    name: str
    badge: str | None
    terminal: str | None
    relieves: str | None
    """The user name of the relieved dealer."""
    confirmed_by: str | None = None
    """The person who agreed to the relief. None also in entries of releases that did not require one."""
    burns: bool = False
    """Whether a card of the shoe is burned for it before the next round, as the house's terms were then."""
    relieved: str | None = None
    """The name of the relieved dealer. None in entries of releases that did not record it."""
    agreed: str | None = None
    """The name of who agreed."""

    @property
    def signatory(self) -> Signatory:
        """The dealer, as a person who signs."""
        return Signatory(self.username, self.name, self.badge, "dealer")

    def signers(self, by: str) -> tuple[Signatory, ...]:
        """The dealer, and the person who agreed to the relief."""
        if not self.relieves or not self.confirmed_by:
            return (self.signatory,)
        return self.signatory, Signatory(self.confirmed_by, self.agreed or self.confirmed_by, None, "")

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        signature = self.signatory.signature
        return replace(standing, dealer=Dealer(self.username, self.name, seq, signature, self.burns))

    def description(self) -> Message:
        if relieved := self.relieves and (self.relieved or self.relieves):
            change = Message("{name} takes the table, relieving {relieved}", name=self.name, relieved=relieved)
        else:
            change = Message("{name} takes the table", name=self.name)
        if agreed := self.confirmed_by and (self.agreed or self.confirmed_by):
            change = Message("{change}; {agreed} agreed", change=change, agreed=agreed)
        return Message("{change}; a card is burned before the next round", change=change) if self.burns else change


class DealerSignedOut(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The dealer tapped out, or was tapped out."""

    subject: ClassVar[str] = "dealer"
    kinds: ClassVar[tuple[str, ...]] = ("signed_out",)
    record = KindRecord(
        writer=LEAVING_DEALER, moves=NOTHING, exception=ORDINARY, feed=(forms.DealerSignedOut,), alert=NO_ALERT
    )

    username: str
    name: str

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(standing, dealer=None)

    description = from_fields("{name} taps out")
