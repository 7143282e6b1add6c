"""Refused inputs that are recorded for review."""

from __future__ import annotations

from typing import ClassVar

from tables.log.event import Event
from tables.log.exception_categories import REFUSED
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, code
from tables.log.published.form import INVESTIGATION
from tables.log.writers import SITE


class InputRefused(Event, frozen=True, kw_only=True, omit_defaults=True):
    """An input was refused for lack of permission, by a table's limits or for a wrong PIN. It had no effect.

    The entry is queued for the site's log, so no dealer waits for it. The table's log does not record the refusal.
    """

    subject: ClassVar[str] = "refusal"
    kinds: ClassVar[tuple[str, ...]] = ("noted",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(writer=SITE, moves=NOTHING, exception=REFUSED, feed=INVESTIGATION, alert=NO_ALERT)

    entered: str
    """What was entered, as inputs are called: "void_round", "signature"."""
    code: str
    says: str
    """What was answered."""
    table: str = ""
    terminal: str = ""
    more: int = 0
    """The number of identical refusals in this process since the previous entry, which were not recorded."""

    def description(self) -> Message:
        place, entered = self.table or self.terminal, code(self.entered)
        if place:
            refusal = Message("Refused at {place}, {input}: {says}", place=place, input=entered, says=self.says)
        else:
            refusal = Message("Refused, {input}: {says}", input=entered, says=self.says)
        if not self.more:
            return refusal
        return Message("{refusal}; {count} more since the last that was noted", refusal=refusal, count=self.more)
