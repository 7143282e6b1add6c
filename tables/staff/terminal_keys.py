"""The keys that terminals sign with: made in the browser of each, vouched for by another, ended with its device.

A key is what the house's log says of it. Here it is asked for, proved and entered; what makes it trusted stands in
``tables/log/trusted_keys.py``, which every proof asks too.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.core import signing
from django.db import connection, transaction
from django.utils import timezone

from ledger import log, site_log
from ledger.alerts import raise_alert
from ledger.log import Draft
from ledger.models import HOUSE
from ledger.proof import p256
from ledger.proof.chain import Head
from tables.floor import signature_checks
from tables.log.entries.terminal_keys import (
    AboutTerminalKey,
    SignaturesDemanded,
    TerminalKeyEnded,
    TerminalKeyMade,
    TerminalKeyVouched,
    Vouch,
)
from tables.log.event import AuditFailure
from tables.log.trusted_keys import TerminalKey, Trust
from tables.models import Staff, Terminal
from tables.refusals import Refused

_CHALLENGE: Final = "tables.terminal_keys.challenge"
_CHALLENGE_SECONDS: Final = 600


def challenge_for(terminal: Terminal) -> str:
    """What the browser of a terminal signs by its new key, so that nobody enters a key that they do not have."""
    return signing.dumps([terminal.pk, terminal.token_digest[:16], secrets.token_hex(16)], salt=_CHALLENGE)


def may_make(terminal: Terminal, staff: Staff | None, keys: Trust) -> bool:
    """Whether a key may be made there now: an operator is signed in, or the device was enrolled just now by the
    operator who made its link."""
    if staff is not None and staff.has_perm("tables.enrol_terminal"):
        return True
    fresh = timezone.now() - terminal.enrolled_at < timedelta(seconds=settings.ENROLMENT_LINK_SECONDS)
    return fresh and keys.of(terminal.name) is None


def make(
    terminal: Terminal, public: str, proof: str, challenge: str, *, by: Staff | None, old: str = ""
) -> TerminalKey:
    """Enter the key that a terminal's browser made. ``old`` is the signature of its old key for it, where it has one.

    It is trusted at once where the old key vouches for it, or where no terminal could: then it is a root. Raises
    Refused."""
    _refuse_challenge(terminal, challenge)
    with transaction.atomic():
        through, head = everything_so_far()
        keys = signature_checks.trust()
        if not may_make(terminal, by, keys):
            says = "An operator signs in on this terminal and makes its key: it was enrolled some time ago."
            raise Refused("not_permitted", says, 403)
        before = keys.of(terminal.name)
        vouched = Vouch(terminal.name, before.fingerprint, old) if before and before.is_trusted and old else None
        is_root = vouched is None and not (keys.has_signers and not _is_alone(keys, before))
        event = TerminalKeyMade(
            name=terminal.name,
            key=public,
            challenge=challenge,
            proof=proof,
            root=is_root,
            vouched=vouched,
            through=through,
        )
        signer = by or terminal.enrolled_by
        if is_root and before is not None and before.until is None:
            # The last key of the house is lost with the browser that held it: it ends first, and vouches for nothing.
            head = _append(head, _ended(before, "its browser lost it", through), signer.signature)
        _write(head, event, signer.signature)
        if is_root and keys.keys:
            says = f"{terminal.name} has a root key, though the house had terminals before: {p256.fingerprint(public)}"
            raise_alert(None, "terminal_root", says, {"terminal": terminal.name, "by": signer.signature})
    key = signature_checks.trust().of(terminal.name)
    assert key is not None  # noqa: S101 -- it was just written
    return key


def vouch(terminal: Terminal, name: str, fingerprint: str, signature: str, *, by: Staff) -> None:
    """Let a trusted terminal vouch for a key that waits; its browser signed that. Raises Refused."""
    _permit(by)
    with transaction.atomic():
        through, head = everything_so_far()
        signer = signature_checks.trust().of(terminal.name)
        if signer is None or not signer.is_trusted:
            raise Refused("no_key", f"{terminal.name} has no trusted key: vouch at a terminal that has one.", 409)
        vouched = Vouch(terminal.name, signer.fingerprint, signature)
        event = TerminalKeyVouched(name=name, key=fingerprint, vouched=vouched, through=through)
        _write(head, event, by.signature)


def demand(*, by: Staff) -> None:
    """From now on every signature carries one by its terminal's key. Raises Refused where no terminal could sign."""
    _permit(by)
    with transaction.atomic():
        through, head = everything_so_far()
        _write(head, SignaturesDemanded(through=through), by.signature)


def end(terminal: Terminal, reason: str, *, by: str) -> None:
    """The key of a terminal signs nothing any more; one that has none is left alone."""
    if signature_checks.trust().of(terminal.name) is None:
        return
    with transaction.atomic():
        through, head = everything_so_far()
        key = signature_checks.trust().of(terminal.name)
        if key is not None:
            _append(head, _ended(key, reason, through), by)


def state_of(key: TerminalKey | None) -> str:
    """What a key is worth, in a few words."""
    if key is None:
        return "none"
    if key.waits:
        return f"waits for another terminal: {key.fingerprint}"
    return f"root: {key.fingerprint}" if key.is_root else f"vouched for by {key.vouched_by}: {key.fingerprint}"


def advice(terminal: Terminal, key: TerminalKey | None) -> str:
    """What to do where a terminal cannot sign."""
    if key is None:
        return f"{terminal.name} has no key to sign with: an operator signs in here and makes one under This terminal."
    if key.waits:
        return (
            f"No terminal vouches yet for the key of {terminal.name}: an operator does so at another one, under This"
            " terminal. Until then, sign at another terminal."
        )
    return (
        f"This browser does not have the key of {terminal.name} any more: its site data was cleared. Sign at another"
        " terminal; an operator signs in here and makes a new key under This terminal."
    )


def _ended(key: TerminalKey, reason: str, through: dict[str, int]) -> TerminalKeyEnded:
    return TerminalKeyEnded(name=key.terminal, key=key.fingerprint, reason=reason, through=through)


def _is_alone(keys: Trust, key: TerminalKey | None) -> bool:
    """Whether a key is the only one that could vouch for another."""
    signers = [signer for signer in keys.keys.values() if signer.is_trusted]
    return key is not None and signers == [key]


def _refuse_challenge(terminal: Terminal, challenge: str) -> None:
    """A challenge is for the very device that it was given to, and not for long."""
    try:
        pk, digest, _ = signing.loads(challenge, salt=_CHALLENGE, max_age=_CHALLENGE_SECONDS)
    except (signing.BadSignature, TypeError, ValueError):
        pk, digest = 0, ""
    if (pk, digest) != (terminal.pk, terminal.token_digest[:16]):
        raise Refused("old_form", "This page was open for too long: load it again, and make the key then.", 409)


def _permit(by: Staff) -> None:
    if not by.has_perm("tables.enrol_terminal"):
        raise Refused("not_permitted", "Only an operator sees to the keys of terminals.", 403)


def everything_so_far() -> tuple[dict[str, int], Head]:
    """How far every table's book is written, and the house's under its lock. The books are held until the commit: what
    is signed at a table meanwhile waits, and finds what is entered here."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, head_seq FROM ledger_book WHERE name <> %s ORDER BY id FOR SHARE", [HOUSE])
        through = {name: seq for name, seq in cursor.fetchall() if seq}
    return through, site_log.lock()


def _write(head: Head, event: AboutTerminalKey, by: str) -> None:
    """An entry that every proof will take. Raises Refused."""
    keys = signature_checks.trust_before(head.seq + 1)
    try:
        keys.follow(event, head.seq + 1)
    except AuditFailure as wrong:
        raise Refused("bad_key", f"This does not hold: {wrong}. Load the page again.", 409) from None
    _append(head, event, by)


def _append(head: Head, event: AboutTerminalKey, by: str) -> Head:
    return log.append(head, Draft.of(event, by))
