"""The keys of terminals: which of them may sign, by whose word, and since when every signature has to carry one."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from tables.log.event import Event
from tables.log.exception_categories import TERMINALS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, from_fields
from tables.log.published.form import ACCESS
from tables.log.writers import KEY_MAKER, staff_with


class Vouch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trusted terminal's signature for another key."""

    terminal: str
    key: str
    """The fingerprint of the key that signed."""
    signature: str


class AboutTerminalKey(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Something about terminals' keys."""

    subject: ClassVar[str] = "terminal_key"
    of_the_house: ClassVar[bool] = True

    through: dict[str, int]
    """How far each table's book was written then: what it says is so for the entries after that."""


class TerminalKeyMade(AboutTerminalKey, frozen=True, kw_only=True, omit_defaults=True):
    """A terminal's browser made a key, and proved that it has it."""

    kinds: ClassVar[tuple[str, ...]] = ("made",)
    record = KindRecord(writer=KEY_MAKER, moves=NOTHING, exception=TERMINALS, feed=ACCESS, alert=("terminal_root",))

    name: str
    key: str
    """The public key: SubjectPublicKeyInfo, in base64."""
    challenge: str
    proof: str
    """The key's signature under the house's challenge."""
    root: bool = False
    """Whether no terminal could vouch for it: it stands by the house's paper alone."""
    vouched: Vouch | None = None
    """The terminal's old key, where that one vouches for it."""

    def description(self) -> Message:
        if self.root:
            return Message("{name} has a key to sign with: a root, to be kept on paper", name=self.name)
        if self.vouched:
            return Message("{name} has a key to sign with", name=self.name)
        return Message("{name} has a key to sign with, for which none vouches yet", name=self.name)


class TerminalKeyVouched(AboutTerminalKey, frozen=True, kw_only=True, omit_defaults=True):
    """A trusted terminal vouched for another one's key."""

    kinds: ClassVar[tuple[str, ...]] = ("vouched",)
    record = KindRecord(
        writer=staff_with("tables.enrol_terminal"), moves=NOTHING, exception=TERMINALS, feed=ACCESS, alert=NO_ALERT
    )

    name: str
    key: str
    """Its fingerprint."""
    vouched: Vouch

    description = from_fields("{vouched.terminal} vouches for the key of {name}")


class TerminalKeyEnded(AboutTerminalKey, frozen=True, kw_only=True, omit_defaults=True):
    """A terminal's key signs nothing any more; what it signed before stays good."""

    kinds: ClassVar[tuple[str, ...]] = ("ended",)
    record = KindRecord(
        writer=staff_with("tables.enrol_terminal"), moves=NOTHING, exception=TERMINALS, feed=ACCESS, alert=NO_ALERT
    )

    name: str
    key: str
    """Its fingerprint."""
    reason: str

    description = from_fields("The key of {name} signs nothing any more: {reason}")


class SignaturesDemanded(AboutTerminalKey, frozen=True, kw_only=True, omit_defaults=True):
    """From now on every signature carries one by its terminal's key. There is no way back."""

    kinds: ClassVar[tuple[str, ...]] = ("demanded",)
    record = KindRecord(
        writer=staff_with("tables.enrol_terminal"), moves=NOTHING, exception=TERMINALS, feed=ACCESS, alert=NO_ALERT
    )

    description = from_fields("From now on every signature carries one by its terminal")
