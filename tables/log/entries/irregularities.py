"""What went wrong at a table: a mishap as it was entered, a table that was abandoned, a rack that was locked."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from tables.log import exception_categories as categories
from tables.log.event import Author
from tables.log.irregularities import ACTS, MISHAPS, REASONS
from tables.log.kind_record import NOTHING, KindRecord
from tables.log.message import Description, Label, Message, Parameter, from_fields, joined
from tables.log.published import tables as forms
from tables.log.signatory import Signatory
from tables.log.state import Lock, TableState
from tables.log.writers import ABANDON_ROLES, IRREGULARITY, RACK_LOCKER, RACK_UNLOCKER


class MishapEntered(Author, frozen=True, kw_only=True, omit_defaults=True):
    """Something went wrong, and the dealer said what; what was done about it follows in entries of its own."""

    subject: ClassVar[str] = "mishap"
    kinds: ClassVar[tuple[str, ...]] = ("entered",)
    record = KindRecord(
        writer=IRREGULARITY,
        moves=NOTHING,
        exception=categories.MISHAPS,
        feed=(forms.MishapEntered,),
        alert=("entered",),
    )

    which: str
    """A name of `mishaps.MISHAPS`."""
    act: str = ""
    """A name of `mishaps.ACTS`: what was done with the same input. Nothing where it was only noted."""
    called: str = ""
    """Who was called, and came."""
    note: str = ""

    def description(self) -> Description:
        mishap, act = MISHAPS.get(self.which), ACTS.get(self.act, "")
        title: Parameter = Label(mishap.title) if mishap else self.which
        clauses = joined(
            [title, *([Label(act, is_lower=True)] if act else []), *([self.note] if self.note else [])], "; "
        )
        return Message("{clauses} ({called} came)", clauses=clauses, called=self.called) if self.called else clauses


class TableAbandoned(Author, frozen=True, kw_only=True, omit_defaults=True):
    """A table was abandoned: its round is void, its shoe is retired, and dealing has stopped."""

    subject: ClassVar[str] = "mishap"
    kinds: ClassVar[tuple[str, ...]] = ("abandoned",)
    record = KindRecord(
        writer=ABANDON_ROLES,
        moves=NOTHING,
        exception=categories.MISHAPS,
        feed=(forms.TableAbandoned,),
        alert=("abandoned",),
    )

    reason: str
    """Of `mishaps.LEAVING`."""
    note: str

    description = from_fields(
        "The table is abandoned ({reason}): {note}",
        reason=lambda reason: Label(REASONS.get(reason, reason), is_lower=True),
    )


class RackLocked(Author, frozen=True, kw_only=True, omit_defaults=True):
    """The rack was locked: no chips move in or out, and no cards are dealt, until it is unlocked."""

    subject: ClassVar[str] = "rack"
    kinds: ClassVar[tuple[str, ...]] = ("locked",)
    record = KindRecord(
        writer=RACK_LOCKER, moves=NOTHING, exception=categories.MISHAPS, feed=(forms.RackLocked,), alert=("locked",)
    )

    note: str
    abandoned: bool = False
    """Whether it follows from the table being abandoned, in the entry before it."""

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(standing, lock=Lock(seq, self.abandoned))

    description = from_fields("The rack is locked: {note}")


class RackUnlocked(Author, frozen=True, kw_only=True, omit_defaults=True):
    """The rack was unlocked, by a pit boss and the further signers that the policies require."""

    subject: ClassVar[str] = "rack"
    kinds: ClassVar[tuple[str, ...]] = ("unlocked",)
    record = KindRecord(
        writer=RACK_UNLOCKER,
        moves=NOTHING,
        exception=categories.MISHAPS,
        feed=(forms.RackUnlocked,),
        alert=("unlocked",),
    )

    note: str
    second: Signatory | None = None

    def signers(self, by: str) -> tuple[Signatory, ...]:
        return (self.signatory, self.second) if self.second else (self.signatory,)

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(standing, lock=None)

    description = from_fields(
        "The rack is unlocked, {second.name} signed too: {note}", otherwise=from_fields("The rack is unlocked: {note}")
    )
