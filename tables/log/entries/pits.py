"""Where tables stand: the sections of the house's pits, as an operator sets them."""

from __future__ import annotations

from typing import ClassVar

from tables.log.event import Event
from tables.log.exception_categories import SETTINGS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, Parameter, counted, joined
from tables.log.published.form import SETUP
from tables.log.writers import staff_with


class PitSectionSet(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A section of a pit has these tables; the newest entry of its pit and name stands."""

    subject: ClassVar[str] = "pit"
    kinds: ClassVar[tuple[str, ...]] = ("section_set",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.add_pitsection"), moves=NOTHING, exception=SETTINGS, feed=SETUP, alert=NO_ALERT
    )

    pit: str
    section: str = ""
    """Empty where the pit is one section."""
    tables: tuple[str, ...]
    """By name; none ends the section."""
    first: tuple[str, ...] = ()
    """Those that stand first, in this order; the others follow by name."""

    def description(self) -> Message:
        place: Parameter = self.pit
        if self.section:
            place = Message("{pit}, section {section}", pit=self.pit, section=self.section)
        if not self.tables:
            return Message("{place} is no more", place=place)
        return Message("{place}: {tables}", place=place, tables=joined(self.tables))


class FloorPlanDrawn(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Where the tables of a pit stand on its drawn plan; the newest entry of the pit stands."""

    subject: ClassVar[str] = "pit"
    kinds: ClassVar[tuple[str, ...]] = ("plan_drawn",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.add_pitsection"), moves=NOTHING, exception=SETTINGS, feed=SETUP, alert=NO_ALERT
    )

    pit: str
    spots: dict[str, tuple[int, int]]
    """By table: how many steps from the left, and from the top."""

    def description(self) -> Message:
        return counted(
            "The plan of {pit} is drawn: {count} table",
            "The plan of {pit} is drawn: {count} tables",
            count=len(self.spots),
            pit=self.pit,
        )
