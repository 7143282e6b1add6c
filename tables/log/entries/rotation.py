"""Entries about the rotation of dealers: the line-up of a string of tables, as the floor sets and pushes it."""

from __future__ import annotations

from typing import ClassVar

from tables.log.event import Author
from tables.log.exception_categories import ORDINARY
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, counted, joined
from tables.log.published import people as forms
from tables.log.writers import staff_with


class LineUpSet(Author, frozen=True, kw_only=True, omit_defaults=True):
    """The line-up of a string of tables was set or pushed, or its push was taken back. The newest one is in force."""

    subject: ClassVar[str] = "rotation"
    kinds: ClassVar[tuple[str, ...]] = ("line_up_set",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.run_floor"),
        moves=NOTHING,
        exception=ORDINARY,
        feed=(forms.LineUpSet,),
        alert=NO_ALERT,
    )

    string: str
    tables: tuple[str, ...]
    """By name, in the order in which a dealer deals them. None: the string ends."""
    dealers: tuple[str, ...] = ()
    """User names by position: one for each table, then one for each break. "" is a position without a dealer."""
    names: tuple[str, ...] = ()
    """The names of the dealers at the time, by position."""
    turn_minutes: int = 0
    """Minutes from one push to the next."""
    push_at: str = ""
    """The moment at which the next push is due."""
    ends: str = ""
    """The end of the shift, and of the line-up."""
    pushed: bool = False
    """Whether a push made it: each dealer moved on, and nothing else changed."""
    reason: str = ""
    takes_back: int = 0
    """The number of the entry whose push it takes back: each dealer returned to the position before. 0 for none."""

    def description(self) -> Message:
        if not self.tables:
            return Message("String {string} ends", string=self.string)
        if self.takes_back:
            return Message(
                "The push of string {string} in entry {entry} is taken back: {dealers}",
                string=self.string,
                entry=self.takes_back,
                dealers=joined(self._places()),
            )
        if self.pushed:
            return Message("String {string} is pushed: {dealers}", string=self.string, dealers=joined(self._places()))
        return counted(
            "String {string}: {count} minute a turn; {dealers}",
            "String {string}: {count} minutes a turn; {dealers}",
            count=self.turn_minutes,
            string=self.string,
            dealers=joined(self._places()),
        )

    def _places(self) -> list[Message]:
        dealing = zip(self.tables, self.names, strict=False)
        return [Message("{table} {dealer}", table=table, dealer=name or "–") for table, name in dealing]
