"""The terms that the house works by: which of them hold otherwise, and from which moment on."""

from __future__ import annotations

from typing import Any, ClassVar

from tables.log.event import Event
from tables.log.exception_categories import SETTINGS
from tables.log.kind_record import NOTHING, KindRecord
from tables.log.message import Label, Message, joined, timestamp
from tables.log.policies import described, title_of
from tables.log.published.form import SETUP
from tables.log.writers import staff_with


class TermsChanged(Event, frozen=True, kw_only=True, omit_defaults=True):
    """From a moment on some of the house's terms are others."""

    subject: ClassVar[str] = "house"
    kinds: ClassVar[tuple[str, ...]] = ("terms_changed",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.add_houseterms"),
        moves=NOTHING,
        exception=SETTINGS,
        feed=SETUP,
        alert=("settings_changed",),
    )

    effective: str
    """The moment from which they hold, in UTC."""
    before: dict[str, Any]
    """What would have held then."""
    after: dict[str, Any]
    proposal: int | None = None
    """The proposal that two people stand for, where it takes two."""
    profile: str | None = None
    """The profile that was adopted by it."""

    def description(self) -> Message:
        changes = [
            Message(
                "{term} {before} → {after}",
                term=Label(title_of(name)),
                before=described(name, self.before.get(name)),
                after=described(name, value),
            )
            for name, value in self.after.items()
        ]
        return Message(
            "From {effective} UTC: {changes}", effective=timestamp(self.effective), changes=joined(changes, "; ")
        )
