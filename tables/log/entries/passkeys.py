"""Passkeys that sign slips: which are allowed to, which terminal vouched for each, and when slips began to require one.

Registration of passkeys for sign-in is recorded in ``staff.py``.
"""

from __future__ import annotations

from typing import ClassVar

from tables.log.attestation import PasskeyAnswer
from tables.log.entries.terminal_keys import Vouch
from tables.log.event import Event
from tables.log.exception_categories import TERMINALS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Label, Message, code, from_fields, joined
from tables.log.published.form import ACCESS
from tables.log.slip_types import SLIPS
from tables.log.writers import OWNER, OWNER_OR_OPERATOR, staff_with


class AboutPasskey(Event, frozen=True, kw_only=True, omit_defaults=True):
    """An entry about passkeys that sign slips."""

    subject: ClassVar[str] = "passkey"
    of_the_house: ClassVar[bool] = True

    through: dict[str, int]
    """How far each table's book was written then: what it says is so for the entries after that."""


class PasskeyVouched(AboutPasskey, frozen=True, kw_only=True, omit_defaults=True):
    """A trusted terminal vouched for a passkey that was used on it. The passkey signs slips from now on."""

    kinds: ClassVar[tuple[str, ...]] = ("vouched",)
    record = KindRecord(writer=OWNER, moves=NOTHING, exception=TERMINALS, feed=ACCESS, alert=NO_ALERT)

    username: str
    name: str
    """What its owner calls it."""
    credential: str
    """The SHA-256 of its id."""
    key: str
    """Its public key: SubjectPublicKeyInfo, in base64."""
    origin: str
    """The pages of the house on which it is used."""
    vouched: Vouch
    answer: PasskeyAnswer
    """The signature of the passkey under the statement that the terminal signed."""

    description = from_fields("{vouched.terminal} vouches for the passkey {name} of {username}: it signs slips")


class PasskeyEnded(AboutPasskey, frozen=True, kw_only=True, omit_defaults=True):
    """A passkey signs no slip any more; what it signed before stays good."""

    kinds: ClassVar[tuple[str, ...]] = ("ended",)
    record = KindRecord(writer=OWNER_OR_OPERATOR, moves=NOTHING, exception=TERMINALS, feed=ACCESS, alert=NO_ALERT)

    username: str
    name: str
    credential: str

    description = from_fields("The passkey {name} of {username} signs no slip any more")


class PasskeysDemanded(AboutPasskey, frozen=True, kw_only=True, omit_defaults=True):
    """From now on these roles, and named signers of these slips, must sign by passkey. This cannot be reverted."""

    kinds: ClassVar[tuple[str, ...]] = ("demanded",)
    record = KindRecord(
        writer=staff_with("tables.enrol_terminal"), moves=NOTHING, exception=TERMINALS, feed=ACCESS, alert=NO_ALERT
    )

    roles: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()
    """Series of slips."""

    def description(self) -> Message:
        signatures = [Message("whatever a {role} signs", role=code(role)) for role in self.roles]
        slips = [Label(SLIPS[name].word, is_lower=True) if name in SLIPS else name for name in self.papers]
        signatures += [Message("each {slip}", slip=slip) for slip in slips]
        return Message("From now on a passkey signs {signatures}", signatures=joined(signatures))
