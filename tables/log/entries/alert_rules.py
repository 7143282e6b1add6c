"""Which alerts are raised, who hears of them, and by which channels they leave the house."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from tables.log.event import Event
from tables.log.exception_categories import ALERTS, SETTINGS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Label, Message, Parameter, Timestamp, code, counted
from tables.log.published.form import SETUP
from tables.log.writers import staff_with


class AlertRuleSet(Event, frozen=True, kw_only=True, omit_defaults=True):
    """From now on alerts of a kind are raised by another rule."""

    subject: ClassVar[str] = "alert_rule"
    kinds: ClassVar[tuple[str, ...]] = ("set",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.set_alertrules"),
        moves=NOTHING,
        exception=SETTINGS,
        feed=SETUP,
        alert=("settings_changed",),
    )

    about: str
    """The kind of alert."""
    is_on: bool
    threshold: int | None
    """In the measure of its kind: cents, minutes, seconds, per cent, a count or a level."""
    level: int
    tables: tuple[str, ...]
    """At which tables; none named means all."""
    games: tuple[str, ...]
    roles: tuple[str, ...]
    """Who hears of it."""
    escalate_minutes: int
    """The minutes after which an unacknowledged alert escalates; 0 for never."""
    escalate_to: tuple[str, ...]

    def description(self) -> Message:
        about = code(self.about)
        if not self.is_on:
            return Message("Alerts of {about} are switched off", about=about)
        if self.threshold is None:
            return Message("Alerts of {about} are raised, at level {level}", about=about, level=self.level)
        return Message(
            "Alerts of {about} are raised from {threshold} on, at level {level}",
            about=about,
            threshold=self.threshold,
            level=self.level,
        )


class ChannelSet(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A channel for alerts was added or changed. An address may itself be a secret, so the entry has its digest."""

    subject: ClassVar[str] = "channel"
    kinds: ClassVar[tuple[str, ...]] = ("set",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.add_alertchannel"),
        moves=NOTHING,
        exception=SETTINGS,
        feed=SETUP,
        alert=("settings_changed",),
    )

    name: str
    version: int
    means: str
    """mail or webhook."""
    is_on: bool
    least_level: int
    about: tuple[str, ...]
    """Which kinds of alert; none named means all."""
    address_sha256: str
    secret_sha256: str
    """Of the sealed secret, as it is kept."""
    former_secret_sha256: str = ""
    """Of the one before, where messages are signed with both for a while."""
    former_until: str = ""
    """When that ends, as ISO 8601."""
    tells: str = "alerts"
    """alerts, or events: those of the feed."""
    types: tuple[str, ...] = ()
    """Of events, which; none named means all."""
    tables: tuple[str, ...] = ()
    """Of events, those about these tables; none named means all."""

    def description(self) -> Message:
        channel: dict[str, Parameter] = {"name": self.name, "means": Label(self.means), "version": self.version}
        if self.is_on:
            state = Message("The channel {name} ({means}), version {version}, is set", **channel)
        else:
            state = Message("The channel {name} ({means}), version {version}, is switched off", **channel)
        if self.tells != "alerts":
            state = Message("{state}, tells {subjects}", state=state, subjects=Label(self.tells))
        if not self.former_until:
            return state
        until = Timestamp(datetime.fromisoformat(self.former_until), "%d %b %Y %H:%M")
        return Message("{state}; its former secret signs as well until {until} UTC", state=state, until=until)


class DeadLettersResent(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Alerts that a channel could not deliver are sent again, after a person investigated the failure."""

    subject: ClassVar[str] = "channel"
    kinds: ClassVar[tuple[str, ...]] = ("resent",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.resend_deadletters"), moves=NOTHING, exception=ALERTS, feed=SETUP, alert=NO_ALERT
    )

    name: str
    deliveries: dict[str, int]
    """By the key that the receiver knows each by: after how many attempts."""

    def description(self) -> Message:
        return counted(
            "1 dead letter is sent again by the channel {name}",
            "{count} dead letters are sent again by the channel {name}",
            count=len(self.deliveries),
            name=self.name,
        )
