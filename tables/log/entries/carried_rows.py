"""Rows kept outside the log: imported from an earlier installation, or recorded where entries would be too many."""

from __future__ import annotations

from typing import Any, ClassVar

from tables.log.event import Event
from tables.log.exception_categories import KEYS, ORDINARY, SETTINGS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Label, Message, from_fields, joined
from tables.log.published import tables as forms
from tables.log.published.form import OPERATIONS
from tables.log.writers import COMMAND, SITE, UPGRADE, staff_with


class TableAdded(Event, frozen=True, kw_only=True, omit_defaults=True):
    """There is another table; its own book says how it is set."""

    subject: ClassVar[str] = "table"
    kinds: ClassVar[tuple[str, ...]] = ("added",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.add_table"),
        moves=NOTHING,
        exception=SETTINGS,
        feed=(forms.TableAdded,),
        alert=NO_ALERT,
    )

    name: str

    description = from_fields("{name} is set up")


class PepperCarriedOver(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Secrets are sealed with another key than before."""

    subject: ClassVar[str] = "pepper"
    kinds: ClassVar[tuple[str, ...]] = ("carried_over",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(writer=COMMAND, moves=NOTHING, exception=KEYS, feed=OPERATIONS, alert=NO_ALERT)

    key: str
    """The name of the key, which is no secret."""
    secrets: dict[str, dict[str, str]]
    """By user name: the digests of what is kept of the password and the PIN."""

    description = from_fields("The secrets of {secrets} are sealed with key {key}")


class RowsNoted(Event, frozen=True, kw_only=True, omit_defaults=True):
    """What the watch did: spans of rows, with what they come to."""

    subject: ClassVar[str] = "rows"
    kinds: ClassVar[tuple[str, ...]] = ("noted",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(writer=SITE, moves=NOTHING, exception=ORDINARY, feed=OPERATIONS, alert=NO_ALERT)

    spans: dict[str, dict[str, Any]]

    def description(self) -> Message:
        spans = sorted(self.spans.items())
        counts = [Message("{count} {rows}", count=span["count"], rows=Label(name)) for name, span in spans]
        return Message("What the watch has done is noted: {counts}", counts=joined(counts))


class RowsTakenOver(Event, frozen=True, kw_only=True, omit_defaults=True):
    """What a house had in rows before such rows were entered."""

    subject: ClassVar[str] = "rows"
    kinds: ClassVar[tuple[str, ...]] = ("taken_over",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(writer=UPGRADE, moves=NOTHING, exception=ORDINARY, feed=OPERATIONS, alert=NO_ALERT)

    rows: str
    kept: dict[str, Any] | list[str] | None = None
    """Each row by its name; of tables, the names."""
    through: int | None = None
    """Where they are too many: the last row, how many there are, and what they come to."""
    count: int | None = None
    sha256: str | None = None

    description = from_fields("What was kept of {rows} before it was entered is taken over")
