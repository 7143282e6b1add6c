"""Who runs which pit: the posts of those who run the floor, and the pits that they cover for a while."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from tables.log.event import Author, Event
from tables.log.exception_categories import POSTS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, from_fields, joined
from tables.log.published import people as forms
from tables.log.writers import staff_with


class Stand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section of a pit with its tables."""

    pit: str
    section: str
    tables: tuple[str, ...]


class PostSet(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A person was assigned these pits from a moment on. The newest assignment in effect counts."""

    subject: ClassVar[str] = "post"
    kinds: ClassVar[tuple[str, ...]] = ("set",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.add_post"), moves=NOTHING, exception=POSTS, feed=(forms.PostSet,), alert=NO_ALERT
    )

    username: str
    name: str
    badge: str | None
    pits: tuple[str, ...] = ()
    whole_floor: bool = False
    """Neither a pit nor the whole floor: the post ends."""
    effective: str
    """The moment from which it holds."""
    floor: tuple[Stand, ...]
    """The pit of each table at the time of the entry, so that a part of the log is enough to determine pits."""
    proposal: int | None = None
    """The proposal that two people stand for, where it took two."""

    def description(self) -> Message:
        if self.whole_floor:
            return Message("{name} runs the whole floor", name=self.name)
        if not self.pits:
            return Message("{name} has no post any more", name=self.name)
        return Message("{name} runs {pits}", name=self.name, pits=joined(self.pits))


class CoverSet(Author, frozen=True, kw_only=True, omit_defaults=True):
    """Who runs the floor takes over another pit until a moment, or gives it back; the newest of the person and the pit
    stands."""

    subject: ClassVar[str] = "post"
    kinds: ClassVar[tuple[str, ...]] = ("cover_set",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.run_floor"), moves=NOTHING, exception=POSTS, feed=(forms.PitCovered,), alert=NO_ALERT
    )

    pit: str
    until: str
    reason: str = ""
    """Empty where they give it back."""
    floor: tuple[Stand, ...]
    """As above."""

    description = from_fields(
        "{name} takes over {pit} until {until}: {reason}", otherwise=from_fields("{name} gives {pit} back")
    )
