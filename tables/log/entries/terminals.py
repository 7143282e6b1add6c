"""The devices that badge and PIN are taken on."""

from __future__ import annotations

from typing import Any, ClassVar

from tables.log.entries.settings import change
from tables.log.event import Event
from tables.log.exception_categories import LOCK_OUTS, TERMINALS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, from_fields, joined
from tables.log.published.form import ACCESS
from tables.log.writers import SITE, staff_with


class AboutTerminal(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Something about a terminal."""

    subject: ClassVar[str] = "terminal"
    of_the_house: ClassVar[bool] = True

    name: str


class TerminalAtTable(AboutTerminal, frozen=True, kw_only=True, omit_defaults=True):
    """An entry about a terminal, with the table that it is for."""

    table: str | None
    """None: for any."""


class TerminalDevice(TerminalAtTable, frozen=True, kw_only=True, omit_defaults=True):
    """An entry about a terminal, with its table and device."""

    device: str | None = None
    """The digest of what is kept of its token. None in entries of before it was entered."""
    enrolled_by: str | None = None


class TerminalAdded(TerminalDevice, frozen=True, kw_only=True, omit_defaults=True):
    """There is to be a terminal; no device is it yet."""

    kinds: ClassVar[tuple[str, ...]] = ("added",)
    record = KindRecord(
        writer=staff_with("tables.enrol_terminal"), moves=NOTHING, exception=TERMINALS, feed=ACCESS, alert=NO_ALERT
    )

    description = from_fields(
        "{name} is to be a terminal for {table}", otherwise=from_fields("{name} is to be a terminal")
    )


class TerminalEnrolled(TerminalDevice, frozen=True, kw_only=True, omit_defaults=True):
    """A device is a terminal from now on."""

    kinds: ClassVar[tuple[str, ...]] = ("enrolled",)
    record = KindRecord(
        writer=staff_with("tables.enrol_terminal"), moves=NOTHING, exception=TERMINALS, feed=ACCESS, alert=NO_ALERT
    )

    link: bool = False
    """Whether a link was opened on it."""

    description = from_fields("{name} is enrolled for {table}", otherwise=from_fields("{name} is enrolled"))


class TerminalLinkMade(TerminalAtTable, frozen=True, kw_only=True, omit_defaults=True):
    """There is a link that enrols the device on which it is opened first."""

    kinds: ClassVar[tuple[str, ...]] = ("link_made",)
    record = KindRecord(
        writer=staff_with("tables.enrol_terminal"), moves=NOTHING, exception=TERMINALS, feed=ACCESS, alert=NO_ALERT
    )

    description = from_fields("A link to enrol {name} is made")


class TerminalRevoked(TerminalDevice, frozen=True, kw_only=True, omit_defaults=True):
    """The device is no terminal any more."""

    kinds: ClassVar[tuple[str, ...]] = ("revoked",)
    record = KindRecord(
        writer=staff_with("tables.enrol_terminal"), moves=NOTHING, exception=TERMINALS, feed=ACCESS, alert=NO_ALERT
    )

    description = from_fields("{name} is no terminal any more")


class TerminalLockedOut(TerminalAtTable, frozen=True, kw_only=True, omit_defaults=True):
    """Too many wrong PINs were tried on it."""

    kinds: ClassVar[tuple[str, ...]] = ("locked_out",)
    record = KindRecord(
        writer=SITE, moves=NOTHING, exception=LOCK_OUTS, feed=ACCESS, alert=("lock_out", "terminal_locked")
    )

    tries: int
    of: str
    """Whose PIN, in words; empty where it was tried over many badges."""

    description = from_fields("{name} takes no PIN after too many wrong ones")


class TerminalLockOutLifted(TerminalAtTable, frozen=True, kw_only=True, omit_defaults=True):
    """It takes PINs again."""

    kinds: ClassVar[tuple[str, ...]] = ("lock_out_lifted",)
    record = KindRecord(
        writer=staff_with("tables.enrol_terminal"), moves=NOTHING, exception=LOCK_OUTS, feed=ACCESS, alert=NO_ALERT
    )

    description = from_fields("{name} takes PINs again")


class TerminalChanged(AboutTerminal, frozen=True, kw_only=True, omit_defaults=True):
    """It is for another table, or for any."""

    kinds: ClassVar[tuple[str, ...]] = ("changed",)
    record = KindRecord(
        writer=staff_with("tables.enrol_terminal"),
        moves=NOTHING,
        exception=TERMINALS,
        feed=ACCESS,
        alert=("settings_changed",),
    )

    before: dict[str, Any]
    after: dict[str, Any]

    def description(self) -> Message:
        changes = [change(name, self.before.get(name), value) for name, value in self.after.items()]
        if not changes:
            return Message("{name} is changed", name=self.name)
        return Message("{name} is changed: {changes}", name=self.name, changes=joined(changes))
