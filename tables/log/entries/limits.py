"""The notice of a minimum that is to be raised, as it is given at a table."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from tables.log.event import Event
from tables.log.exception_categories import SETTINGS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.limit_plans import limits_of
from tables.log.message import Message, timestamp
from tables.log.published import limits as forms
from tables.log.state import Announced, TableState
from tables.log.writers import ANNOUNCER


class LimitsAnnounced(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The players are told what will be raised, and from when; with nothing to be raised the notice is over."""

    subject: ClassVar[str] = "limits"
    kinds: ClassVar[tuple[str, ...]] = ("announced",)
    record = KindRecord(
        writer=ANNOUNCER, moves=NOTHING, exception=SETTINGS, feed=(forms.LimitsAnnouncedToPlayers,), alert=NO_ALERT
    )

    least: dict[str, int]
    """Limits by their names, and the least that they come to, in minor units."""
    effective: str
    """The first moment at which they may be raised; ISO 8601 in UTC."""
    why: str
    notice_minutes: int
    """The house's notice then."""
    keeps_seated: bool = False

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        if not self.least:
            return replace(standing, announced=None)
        moment = datetime.fromisoformat(self.effective)
        return replace(standing, announced=Announced(seq, self.least, moment, self.why, self.keeps_seated))

    def description(self) -> Message:
        if not self.least:
            return Message("No minimum is announced any more: {why}", why=self.why)
        announcement = Message(
            "Announced from {effective} UTC: {limits} ({why})",
            effective=timestamp(self.effective),
            limits=limits_of(self.least),
            why=self.why,
        )
        if not self.keeps_seated:
            return announcement
        return Message("{announcement}; seats that play keep the old one", announcement=announcement)
