"""What the house keeps under lock and when its boxes are due: its keys, and the schedule of drops."""

from __future__ import annotations

from typing import ClassVar, Final

from tables.log.event import Event
from tables.log.exception_categories import SETTINGS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
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

    def words(self) -> str:
        holders = "held by two" if self.dual else "held by one"
        return f"Key {self.name} ({OPENS.get(self.lock, self.lock).lower()}): {holders if self.in_use else 'retired'}"


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

    def words(self) -> str:
        if not self.weekdays:
            return f"Drops {self.name} end with {self.from_day}"
        days = " ".join(WEEKDAYS[number] for number in self.weekdays)
        tables = ", ".join(self.tables) or "all tables"
        return f"Drops {self.name} from {self.from_day}: {tables}, {days} {self.due_at}, by {self.who}"
