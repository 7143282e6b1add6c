"""What the house keeps under lock and when its boxes are due: its keys, and the schedule of drops."""

from __future__ import annotations

from typing import ClassVar, Final

from tables.log.event import Event
from tables.log.exception_categories import SETTINGS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Label, Message, Parameter, joined
from tables.log.published.form import SETUP
from tables.log.writers import staff_with

OPENS: Final = {
    "box_release": "Box release",
    "box_contents": "Box contents",
    "vault": "Vault",
    "cage": "Cage",
    "count_room": "Count room",
    "other": "Other",
}
"""What a key opens."""
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class HouseKeySet(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A key is on the register, or is no longer; the newest entry of its name stands."""

    subject: ClassVar[str] = "house_key"
    kinds: ClassVar[tuple[str, ...]] = ("set",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.add_housekey"), moves=NOTHING, exception=SETTINGS, feed=SETUP, alert=NO_ALERT
    )

    name: str
    lock: str
    """What it opens (``OPENS``)."""
    dual: bool
    """Two persons hold it."""
    in_use: bool

    def description(self) -> Message:
        key: dict[str, Parameter] = {"name": self.name, "lock": Label(OPENS.get(self.lock, self.lock), is_lower=True)}
        if not self.in_use:
            return Message("Key {name} ({lock}): retired", **key)
        if self.dual:
            return Message("Key {name} ({lock}): held by two", **key)
        return Message("Key {name} ({lock}): held by one", **key)


class DropScheduled(Event, frozen=True, kw_only=True, omit_defaults=True):
    """From a day on, boxes are due at an hour of some weekdays; the newest entry of its name and day stands."""

    subject: ClassVar[str] = "drop_schedule"
    kinds: ClassVar[tuple[str, ...]] = ("set",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.add_dropschedule"), moves=NOTHING, exception=SETTINGS, feed=SETUP, alert=NO_ALERT
    )

    name: str
    from_day: str
    tables: tuple[str, ...]
    """By name; none stands for all."""
    weekdays: tuple[int, ...]
    """0 is Monday; none ends the schedule."""
    due_at: str
    who: str
    """Who takes them, in words."""

    def description(self) -> Message:
        if not self.weekdays:
            return Message("Drops {name} end with {day}", name=self.name, day=self.from_day)
        return Message(
            "Drops {name} from {day}: {tables}, {weekdays} {time}, by {who}",
            name=self.name,
            day=self.from_day,
            tables=joined(self.tables) if self.tables else Message("all tables"),
            weekdays=joined((Label(WEEKDAYS[number]) for number in self.weekdays), " "),
            time=self.due_at,
            who=self.who,
        )
