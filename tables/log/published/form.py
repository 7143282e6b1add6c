"""The base of the event types of the feed: what is published of an entry.

It follows from that entry and the earlier ones of its round, and from nothing later, so it never changes. It contains
nothing that was hidden from the table or the desk when the entry was written: no cards, no choices, no orders of shoes,
and no count before its slip is complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol

import msgspec

from ledger.proof.chain import Entry
from tables.log.state import Round


class RoundHistory(Protocol):
    """The entries of a round, through the one that is published. Empty for forms that do not need it."""

    @property
    def begun_at(self) -> datetime: ...

    def event(self, seq: int) -> object | None:
        """The event of an earlier entry of the round: an ``Event``, whose records name these forms."""

    def round(self) -> Round:
        """The round after all these entries."""


class FeedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of an event. Fields are only ever added to a form; any other change makes another version of it."""

    type: ClassVar[str]
    version: ClassVar[int] = 1
    needs_past: ClassVar[bool] = False
    """Whether it follows from the other entries of the round too."""

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> FeedEvent | None:
        """The event that an entry publishes; None if it publishes none. By default, its fields are those of the entry
        with the same names."""
        return cls(**{name: getattr(event, name) for name in cls.__struct_fields__})

    @property
    def about(self) -> str | None:
        """The table that an entry in the log of the site is about, if any."""
        return None


@dataclass(frozen=True, slots=True)
class NotPublished:
    """The answer that a kind of entry has no event in the feed, and why."""

    reason: str


STEP_OF_PAYMENT = NotPublished("A step of the dealer's walk: the result is told when the round is settled.")
SHOE_CONTENTS = NotPublished("What lies in a shoe, and how it is made ready, is the table's alone.")
CHIPS_FOR_CHIPS = NotPublished("Chips for chips: nothing changes hands but pieces.")
SEAT_PAGES = NotPublished("Who may see a seat's page is between the seat and the table.")
BACK_ENTRY = NotPublished("An outage's papers tell of what has events of its own.")
SETUP = NotPublished("How the house is set up is read by the API where a program needs it.")
READER_SIGNALS = NotPublished("A reader's own affair: what it stops has an event.")
ALERT_TELLS = NotPublished("The alert tells of it.")
FIRST_SIGNATURE = NotPublished("One signature under a day closes nothing yet.")
OPERATIONS = NotPublished("Clocks, keys and copies are for the house's own operators.")
ACCESS = NotPublished("How people, programs and terminals get in is told to nobody outside.")
INVESTIGATION = NotPublished(
    "What the surveillance marks, what shoes were worth, what was refused: for those who look into it."
)
