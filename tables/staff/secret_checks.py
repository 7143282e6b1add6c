"""Checks of codes, resets and secrets in the log: two people issue a code, then the owner sets the secret.

Entries from before an installation's first code are accepted as they are: operators set PINs and passwords then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from ledger.models import LogEntry
from ledger.proof.chain import Entry
from ledger.raw_rows import fetch_rows
from ledger.site_log import digest_of
from tables.floor.handlers import checks
from tables.log.catalog import read
from tables.log.entries.carried_rows import PepperCarriedOver
from tables.log.entries.staff import (
    CALLED,
    CodeAsked,
    CodeConfirmed,
    CodeWithdrawn,
    PasskeyRegistered,
    PasskeyWithdrawn,
    SecretMade,
    SecretReset,
    StaffAdded,
    StaffChanged,
    confirmer_fault,
)
from tables.log.event import AuditFailure, Event, refuse_other_author
from tables.log.signatory import Signatory
from tables.models import Passkey, Staff
from tables.models.staff import PIN
from tables.roles import Role
from tables.setup import role_choices

COMMAND_LINE: Final = "the command line"


# --- Codes -----------------------------------------------------------------------------------------------------


@checks(CodeAsked)
def check_asked(event: CodeAsked, entry: Entry) -> None:
    """An operator requests a code. A request for their own is checked in `check_confirmed`: it needs to be the only
    operator's.
    """
    _refuse_signer(event.signer, event.signer_role, "tables.change_staff", entry)
    if event.secret not in CALLED:
        raise AuditFailure(f"there is no secret {event.secret}")


@checks(CodeConfirmed)
def check_confirmed(event: CodeConfirmed, entry: Entry) -> None:
    """The confirmer is neither requester nor owner, and confirms the latest code requested."""
    _refuse_signer(event.signer, event.signer_role, "tables.confirm_code", entry)
    asked = _at(entry, event.asked)
    if not isinstance(asked, CodeAsked) or (asked.username, asked.secret) != (event.username, event.secret):
        raise AuditFailure("it confirms a code that nobody asked for")
    _refuse_spent(entry, event.username, event.secret, event.asked)
    if event.alone:
        _refuse_not_alone(event, asked, entry)
    elif fault := _people_fault(event, asked, entry):
        raise AuditFailure(f"it is not of two people and a third who gets the code: {fault}")


def _people_fault(event: CodeConfirmed, asked: CodeAsked, entry: Entry) -> str:
    [confirmer], owner = event.signers(entry.by), _signatory_of(event.username, _facts_at(entry, event.username))
    by = LogEntry.objects.values_list("by", flat=True).get(book_id=entry.book_id, seq=event.asked)
    return confirmer_fault(confirmer, asked.signers(by)[0], owner)


def _refuse_not_alone(event: CodeConfirmed, asked: CodeAsked, entry: Entry) -> None:
    role = _facts_at(entry, event.username).get("role", Role.OPERATOR)
    if asked.signer != event.signer or role != Role.OPERATOR:
        raise AuditFailure("one person alone gives a code to operators only, and asks for it themselves")


@checks(CodeWithdrawn)
def check_withdrawn(event: CodeWithdrawn, entry: Entry) -> None:
    _refuse_signer(event.signer, event.signer_role, "tables.confirm_code", entry)


@checks(SecretReset)
def check_reset(event: SecretReset, entry: Entry) -> None:
    """A secret is reset only by the confirmation of a code for a new one."""
    _confirmation(entry, event.code, event.username, event.secret)


@checks(SecretMade)
def check_made(event: SecretMade, entry: Entry) -> None:
    """The owner sets it, with a confirmed and unexpired code that is used once, or with the previous secret."""
    facts = _refuse_other_author(entry, event.username)
    if event.code is None:
        if event.secret == PIN and facts and not facts.get("pin", ""):
            raise AuditFailure(f"{event.username} changes a PIN that was not there")
        return
    confirmed = _confirmation(entry, event.code, event.username, event.secret)
    if entry.at is None or entry.at >= datetime.fromisoformat(confirmed.until):
        raise AuditFailure("its code was too old")
    _refuse_spent(entry, event.username, event.secret, event.code)


def _confirmation(entry: Entry, seq: int, username: str, secret: str) -> CodeConfirmed:
    confirmed = _at(entry, seq)
    if not isinstance(confirmed, CodeConfirmed) or (confirmed.username, confirmed.secret) != (username, secret):
        raise AuditFailure("no two people confirmed a code for it")
    return confirmed


def _refuse_spent(entry: Entry, username: str, secret: str, since: int) -> None:
    """Raises AuditFailure if a code was replaced, withdrawn or used before an entry."""
    for seq, event in _about(entry, username):
        if seq > since and isinstance(event, (CodeAsked, CodeWithdrawn)) and event.secret == secret:
            raise AuditFailure("its code was replaced or withdrawn before")
        if seq > since and isinstance(event, SecretMade) and event.secret == secret and event.code is not None:
            raise AuditFailure("its code was used before")


# --- Who works here --------------------------------------------------------------------------------------------


@checks(StaffAdded)
def check_added(event: StaffAdded, entry: Entry) -> None:
    """Once codes are in use, only the command line gives a new staff member a secret: the first operator."""
    if entry.by == COMMAND_LINE or not _knows_codes(entry):
        return
    if event.new or (event.secrets or {}).get("pin"):
        raise AuditFailure(f"it gives {event.username} a secret that is not of their own making")


@checks(StaffAdded)
def check_new_roles(event: StaffAdded, entry: Entry) -> None:
    """A new staff member's roles are compatible under the separation of duties."""
    if event.further:
        role_choices.check_roles({event.role, *event.further}, entry)


@checks(StaffChanged)
def check_roles(event: StaffChanged, entry: Entry) -> None:
    """Roles gained are compatible under the separation of duties. A change to another role already held gains none."""
    before, after = event.before or {}, event.after or {}
    facts = _facts_at(entry, event.username)
    gained = {after.get("role"), *(after.get("further") or ())} - {before.get("role"), *(before.get("further") or ())}
    if facts and gained - {None}:
        facts |= {"further": ()} if "further" not in facts else {}
        roles = {(facts | after)["role"], *((facts | after)["further"] or ())}
        role_choices.check_roles(roles, entry)


@checks(StaffChanged)
def check_changed(event: StaffChanged, entry: Entry) -> None:
    """Once an installation uses codes, a PIN is changed by its owner only; it can be removed with a role."""
    if not _knows_codes(entry):
        return
    pin = (event.secrets or {}).get("pin", "")
    facts = _facts_at(entry, event.username)
    if event.new or (pin and facts and pin != facts.get("pin", "")):
        raise AuditFailure(f"it gives {event.username} a secret that is not of their own making")


# --- Passkeys --------------------------------------------------------------------------------------------------


@checks(PasskeyRegistered)
def check_registered(event: PasskeyRegistered, entry: Entry) -> None:
    """The owner registers it, and the database row has the recorded key."""
    _refuse_other_author(entry, event.username)
    keys = Passkey.objects.filter(staff__username=event.username, public_key=event.public_key)
    if event.credential not in {digest_of(credential) for credential in keys.values_list("credential", flat=True)}:
        raise AuditFailure("there is no such passkey beside the log")


@checks(PasskeyWithdrawn)
def check_passkey_withdrawn(event: PasskeyWithdrawn, entry: Entry) -> None:
    """The owner or an operator withdraws a passkey that was registered."""
    role = str(_facts_at(entry, event.signer).get("role", Role.OPERATOR))
    if event.signer != event.username and role != Role.OPERATOR:
        raise AuditFailure(f"{event.signer} withdraws a passkey of {event.username}")
    registered = (passkey for _, passkey in _about(entry, event.username) if isinstance(passkey, PasskeyRegistered))
    if event.credential not in {passkey.credential for passkey in registered}:
        raise AuditFailure("it withdraws a passkey that nobody registered")


# --- Reading ---------------------------------------------------------------------------------------------------


def _refuse_signer(username: str, role: str, permission: str, entry: Entry) -> None:
    signer = Staff(username=username, role=role)
    signer.as_of = entry.at
    if role not in Role.values or not signer.has_perm(permission):
        raise AuditFailure(f"{username} may not sign it as {role}")
    facts = _refuse_other_author(entry, username)
    if facts and facts["role"] != role:
        raise AuditFailure(f"{username} signs it as {role}, and is {facts['role']}")


def _refuse_other_author(entry: Entry, username: str) -> dict[str, Any]:
    """Compare the author of an entry, which names its signer by user name only, with the name and badge in the log.

    Returns the facts that the log has on that user name; empty for a person whom no entry describes, who is not
    compared.
    """
    facts = _facts_at(entry, username)
    if facts:
        refuse_other_author(_signatory_of(username, facts), entry.by)
    return facts


def _signatory_of(username: str, facts: Mapping[str, Any]) -> Signatory:
    return Signatory(username, facts.get("name", username), facts.get("badge"), facts.get("role", ""))


def _knows_codes(entry: Entry) -> bool:
    codes = LogEntry.objects.filter(book_id=entry.book_id, subject="staff", kind=CodeAsked.kinds[0])
    return codes.filter(seq__lt=entry.seq).exists()


def _at(entry: Entry, seq: int) -> Event | None:
    """An earlier entry about staff, by its number; None if there is none."""
    rows = LogEntry.objects.filter(book_id=entry.book_id, seq=seq, subject="staff")
    row = rows.values_list("kind", "body").first() if seq < entry.seq else None
    return read("staff", row[0], row[1], house=True) if row else None


_ABOUT: Final = """
    SELECT seq, subject, kind, body FROM ledger_logentry
    WHERE book_id = %s AND seq < %s AND (subject = 'staff' AND kind = ANY (%s) OR subject = 'pepper')
        AND position(%s::bytea IN body) > 0
    ORDER BY seq
"""
_KINDS: Final = [
    kind
    for event in (
        StaffAdded, StaffChanged, SecretMade, SecretReset, CodeAsked, CodeConfirmed, CodeWithdrawn, PasskeyRegistered,
    )
    for kind in event.kinds
]  # fmt: skip


def _about(entry: Entry, username: str) -> Iterator[tuple[int, Event]]:
    """Entries about a staff member before an entry, with their numbers.

    The query searches the stored bytes: a user name has no character that JSON would escape.
    """
    rows = fetch_rows(_ABOUT, [entry.book_id, entry.seq, _KINDS, f'"{username}"'.encode()])
    for seq, subject, kind, body in rows:
        event = read(subject, kind, body, house=True)
        if getattr(event, "username", username) == username:
            yield seq, event


def _facts_at(entry: Entry, username: str) -> dict[str, Any]:
    """Name, badge, role and digests of a staff member as of an entry.

    Empty if no entry describes them: they were imported with the rows of an older version.
    """
    facts: dict[str, Any] = {}
    for _, event in _about(entry, username):
        match event:
            case StaffAdded():
                badge = event.badge if isinstance(event.badge, str) else None
                facts = {"name": event.name, "role": event.role, "badge": badge} | (event.secrets or {})
                facts["further"] = list(event.further or ())
            case StaffChanged() if facts:
                facts |= (event.after or {}) | (event.secrets or {})
            case SecretMade() | SecretReset() if facts:
                facts |= event.secrets
            case PepperCarriedOver() if facts:
                facts |= event.secrets.get(username, {})
    return facts
