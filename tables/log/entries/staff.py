"""Who works here: taken on, changed, signed in and out of the house, locked out; and their certificates."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec

from tables.log.entries.settings import change
from tables.log.event import Event
from tables.log.exception_categories import LOCK_OUTS, ORDINARY, PEOPLE
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Label, Message, Parameter, from_fields, joined
from tables.log.published import people as forms
from tables.log.published.form import ACCESS
from tables.log.signatory import Signatory, same_person_fault, with_badge_from
from tables.log.writers import LEAVER, OWNER, OWNER_OR_OPERATOR, SITE, staff_with

CALLED: Final = {"pin": "PIN", "password": "password"}  # pragma: allowlist secret


def _called(secret: str) -> Label:
    return Label(CALLED[secret])


class AboutStaff(Event, frozen=True, kw_only=True, omit_defaults=True):
    """An entry about a staff member."""

    subject: ClassVar[str] = "staff"
    of_the_house: ClassVar[bool] = True

    username: str


class StaffAdded(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """A staff member was added."""

    kinds: ClassVar[tuple[str, ...]] = ("added",)
    record = KindRecord(
        writer=staff_with("tables.add_staff"), moves=NOTHING, exception=PEOPLE, feed=ACCESS, alert=NO_ALERT
    )

    name: str
    role: str
    badge: str | msgspec.UnsetType | None = msgspec.UNSET
    """Unset where the command line took on the first operator."""
    further: tuple[str, ...] = ()
    """What they may work as besides."""
    new: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """Which secrets they were given."""
    secrets: dict[str, str] | None = None
    """Digests of what is kept of the password and the PIN. None in entries of before they were entered, as below."""
    proposal: int | None = None
    """The proposal that two people stand for, where it took two."""

    description = from_fields("{name} works here now, as {role}")


class StaffChanged(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """A staff member's name, role, badge, secret or active status was changed."""

    kinds: ClassVar[tuple[str, ...]] = ("changed",)
    record = KindRecord(
        writer=staff_with("tables.change_staff"),
        moves=NOTHING,
        exception=PEOPLE,
        feed=ACCESS,
        alert=("settings_changed",),
    )

    new: tuple[str, ...]
    """Which secrets are others now."""
    secrets: dict[str, str] | None = None
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    proposal: int | None = None

    def description(self) -> Message:
        before = self.before or {}
        changes = [change(name, before.get(name), value) for name, value in (self.after or {}).items()]
        changes += [Message("new {secret}", secret=Label(name)) for name in self.new]
        if not changes:
            return Message("{username} is changed", username=self.username)
        return Message("{username} is changed: {changes}", username=self.username, changes=joined(changes))


class StaffSignedIn(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """A staff member signed in."""

    kinds: ClassVar[tuple[str, ...]] = ("signed_in",)
    record = KindRecord(writer=OWNER, moves=NOTHING, exception=ORDINARY, feed=(forms.StaffSignedIn,), alert=NO_ALERT)

    terminal: str | None
    address: str | None
    passkey: str | None = None
    """The digest of the passkey's name, where one was used."""

    def description(self) -> Message:
        if place := self.terminal or self.address:
            return Message("{username} signs in to the house at {place}", username=self.username, place=place)
        return Message("{username} signs in to the house", username=self.username)


class StaffSignedOut(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """A staff member signed out, or was signed out."""

    kinds: ClassVar[tuple[str, ...]] = ("signed_out",)
    record = KindRecord(writer=LEAVER, moves=NOTHING, exception=ORDINARY, feed=(forms.StaffSignedOut,), alert=NO_ALERT)

    relieved_by: str | None = None
    """The person who signed in on the same device."""
    after_tries: int | None = None
    """The number of wrong passwords at reauthentication before the session ended."""

    description = from_fields(
        "{username} is signed out of the house: {relieved_by} signs in on the same device",
        otherwise=from_fields(
            "{username} is signed out of the house after {after_tries} wrong passwords",
            otherwise=from_fields("{username} signs out of the house"),
        ),
    )


class StaffLockedOut(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """A staff member was locked out after too many wrong passwords."""

    kinds: ClassVar[tuple[str, ...]] = ("locked_out",)
    record = KindRecord(
        writer=SITE, moves=NOTHING, exception=LOCK_OUTS, feed=(forms.StaffLockedOut,), alert=("lock_out",)
    )

    place: str = msgspec.field(name="from")
    terminal: str | None
    address: str | None

    description = from_fields("{username} is locked out after too many failed sign-ins")


class StaffLockOutLifted(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """A staff member's lock-out was lifted."""

    kinds: ClassVar[tuple[str, ...]] = ("lock_out_lifted",)
    record = KindRecord(
        writer=staff_with("tables.change_staff"), moves=NOTHING, exception=LOCK_OUTS, feed=ACCESS, alert=NO_ALERT
    )

    description = from_fields("The lock-out of {username} is lifted")


class EmergencyCodeMade(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """An operator has a new emergency code."""

    kinds: ClassVar[tuple[str, ...]] = ("emergency_code_made",)
    record = KindRecord(writer=OWNER, moves=NOTHING, exception=PEOPLE, feed=ACCESS, alert=NO_ALERT)

    code: str | None = None
    """The digest of what is kept of it. None in entries of before it was entered."""

    description = from_fields("{username} makes an emergency code")


class EmergencySignIn(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """An operator came in by two emergency codes."""

    kinds: ClassVar[tuple[str, ...]] = ("emergency_sign_in",)
    record = KindRecord(writer=OWNER, moves=NOTHING, exception=PEOPLE, feed=ACCESS, alert=("emergency_sign_in",))

    other: str = msgspec.field(name="with")
    """Whose code was the second."""
    address: str | None

    description = from_fields("{username} comes in by emergency codes, with that of {other}")


class ByTwo(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """An action under dual control on another person's secret."""

    secret: str
    """``pin`` or ``password``."""
    signer: str
    """The user name of the signer."""
    signer_role: str

    def signers(self, by: str) -> tuple[Signatory, ...]:
        """The entry stores no name: name and badge are read from the heading, of which only a user name is compared.
        `secret_checks` compares them with what the log says of the person."""
        return (with_badge_from(by, self.signer, by.partition(" ")[2], self.signer_role),)


class CodeAsked(ByTwo, frozen=True, kw_only=True, omit_defaults=True):
    """An operator asked for a one-time code; what was asked for before is worthless."""

    kinds: ClassVar[tuple[str, ...]] = ("code_asked",)
    record = KindRecord(
        writer=staff_with("tables.change_staff"), moves=NOTHING, exception=PEOPLE, feed=ACCESS, alert=NO_ALERT
    )

    half: str
    """The digest of what is kept of the half that the operator saw."""

    description = from_fields("A code for a new {secret} of {username} is asked for", secret=_called)


class CodeConfirmed(ByTwo, frozen=True, kw_only=True, omit_defaults=True):
    """A second person agreed: from now on the owner may make the secret with both halves."""

    kinds: ClassVar[tuple[str, ...]] = ("code_confirmed",)
    record = KindRecord(
        writer=staff_with("tables.confirm_code"), moves=NOTHING, exception=PEOPLE, feed=ACCESS, alert=("code_of_one",)
    )

    half: str
    asked: int
    """The entry of the first half, by its number in the house's book."""
    until: str
    alone: bool = False
    """Whether the only operator acted alone, without a second person to agree."""

    def description(self) -> Message:
        code: dict[str, Parameter] = {"secret": _called(self.secret), "username": self.username, "until": self.until}
        if self.alone:
            return Message(
                "The code for a new {secret} of {username} is confirmed, by one operator alone, until {until}", **code
            )
        return Message("The code for a new {secret} of {username} is confirmed until {until}", **code)


def confirmer_fault(confirmer: Signatory, asker: Signatory, owner: Signatory) -> str:
    """Why a person may not confirm a one-time code: the person who asked for it, the person who confirms it and the
    one who gets it are three people. Empty where they are."""
    return (
        same_person_fault(confirmer, [asker], did="asked for it", to="confirm it")
        or same_person_fault(confirmer, [owner], did="gets it", to="confirm it")
        or same_person_fault(asker, [owner], did="gets it", to="ask for it")
    )


class CodeWithdrawn(ByTwo, frozen=True, kw_only=True, omit_defaults=True):
    """A code is worthless before anybody used it."""

    kinds: ClassVar[tuple[str, ...]] = ("code_withdrawn",)
    record = KindRecord(
        writer=staff_with("tables.confirm_code"), moves=NOTHING, exception=PEOPLE, feed=ACCESS, alert=NO_ALERT
    )

    description = from_fields("The code for a new {secret} of {username} is withdrawn", secret=_called)


class SecretReset(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """Two staff members reset another's PIN or password. A new PIN signs no slip that was begun before it was set."""

    kinds: ClassVar[tuple[str, ...]] = ("secret_reset",)
    record = KindRecord(
        writer=staff_with("tables.confirm_code"),
        moves=NOTHING,
        exception=PEOPLE,
        feed=ACCESS,
        alert=("pin_reset", "secret_reset"),
    )

    secret: str
    secrets: dict[str, str]
    code: int
    """The entry that confirmed it."""

    description = from_fields("The {secret} of {username} is reset", secret=_called)


class SecretMade(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """A staff member set their own PIN or password."""

    kinds: ClassVar[tuple[str, ...]] = ("secret_made",)
    record = KindRecord(writer=OWNER, moves=NOTHING, exception=PEOPLE, feed=ACCESS, alert=NO_ALERT)

    secret: str
    secrets: dict[str, str]
    code: int | None = None
    """The entry that confirmed the one-time code; None where they gave the secret of before."""
    terminal: str | None = None

    description = from_fields(
        "{username} makes a {secret} of their own at {terminal}",
        secret=_called,
        otherwise=from_fields("{username} makes a {secret} of their own", secret=_called),
    )


class PasskeyRegistered(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """A staff member registered a passkey for signing in."""

    kinds: ClassVar[tuple[str, ...]] = ("passkey_registered",)
    record = KindRecord(writer=OWNER, moves=NOTHING, exception=PEOPLE, feed=ACCESS, alert=NO_ALERT)

    name: str
    credential: str
    """The SHA-256 of the credential's id."""
    public_key: str
    """COSE, in base64url: what verifies its signatures."""

    description = from_fields("{username} registers the passkey {name}")


class PasskeyWithdrawn(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """A passkey opens nothing any more."""

    kinds: ClassVar[tuple[str, ...]] = ("passkey_withdrawn",)
    record = KindRecord(writer=OWNER_OR_OPERATOR, moves=NOTHING, exception=PEOPLE, feed=ACCESS, alert=NO_ALERT)

    name: str
    credential: str
    signer: str

    description = from_fields("The passkey {name} of {username} is withdrawn")


class AccessReviewed(AboutStaff, frozen=True, kw_only=True, omit_defaults=True):
    """An auditor has looked at who may do what."""

    kinds: ClassVar[tuple[str, ...]] = ("access_reviewed",)
    record = KindRecord(
        writer=staff_with("tables.review_access"), moves=NOTHING, exception=ORDINARY, feed=ACCESS, alert=NO_ALERT
    )

    people: int
    sha256: str
    """Over the list that was looked at."""
    note: str = ""

    description = from_fields(
        "{username} reviews the access of {people} people: {note}",
        otherwise=from_fields("{username} reviews the access of {people} people"),
    )


class CertificateIssued(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A dealer qualified to deal a game, signed by a floor supervisor."""

    subject: ClassVar[str] = "certificate"
    kinds: ClassVar[tuple[str, ...]] = ("issued",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.run_floor"), moves=NOTHING, exception=ORDINARY, feed=ACCESS, alert=NO_ALERT
    )

    number: int
    username: str
    game: str
    rules_version: str
    answers_right: int
    answers_asked: int
    signed_by: str
    on_day: str
    valid_through: str
    course: dict[str, Any]
    answers_sha256: str

    description = from_fields("Certificate {number}: {username} can deal {game}, through {valid_through}")
