"""Signing keys of terminals: created in each terminal's browser, vouched for by another terminal, ended with the
device.

The log determines a key's state. This module requests, verifies and records keys; `tables/log/trusted_keys.py`, which
all proofs use, defines which are trusted.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.utils import timezone

from ledger import log, site_log
from ledger.alerts import raise_alert
from ledger.log import Draft
from ledger.models import HOUSE
from ledger.proof import p256
from ledger.proof.chain import Head
from ledger.raw_rows import fetch_rows
from tables.floor import signature_checks
from tables.log.entries.passkeys import AboutPasskey
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
    """The challenge that a terminal's browser signs with its new key, as proof that it has the private key."""
    return signing.dumps([terminal.pk, terminal.token_digest[:16], secrets.token_hex(16)], salt=_CHALLENGE)


def may_make(terminal: Terminal, staff: Staff | None, keys: Trust) -> bool:
    """Whether a key may be created at a terminal now.

    An operator is signed in, or the device has just been enrolled by link and the terminal has no key.
    """
    if staff is not None and staff.has_perm("tables.enrol_terminal"):
        return True
    fresh = timezone.now() - terminal.enrolled_at < timedelta(seconds=settings.ENROLMENT_LINK_SECONDS)
    return fresh and keys.of(terminal.name) is None


def make(
    terminal: Terminal, public: str, proof: str, challenge: str, *, by: Staff | None, old: str = ""
) -> TerminalKey:
    """Record the key that a terminal's browser created. Raises Refused.

    `old` is the signature of the terminal's previous key for it, if any. The key is trusted at once if the previous key
    vouches for it, or if no terminal could: it is then a root key.
    """
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
            # The site's only key is lost with its browser: it ends before the new root begins, and vouches for
            # nothing.
            head = log.append(head, Draft.of(_ended(before, "its browser lost it", through), signer.signature))
        append_if_valid(head, event, signer.signature)
        if is_root and keys.keys:
            says = f"{terminal.name} has a root key, though the house had terminals before: {p256.fingerprint(public)}"
            raise_alert(None, "terminal_root", says, {"terminal": terminal.name, "by": signer.signature})
    key = signature_checks.trust().of(terminal.name)
    assert key is not None  # noqa: S101 -- it was just written
    return key


def vouch(terminal: Terminal, name: str, fingerprint: str, signature: str, *, by: Staff) -> None:
    """Record that a trusted terminal vouches for a waiting key; its browser signed that. Raises Refused."""
    _permit(by)
    with transaction.atomic():
        through, head = everything_so_far()
        signer = signature_checks.trust().of(terminal.name)
        if signer is None or not signer.is_trusted:
            raise Refused("no_key", f"{terminal.name} has no trusted key: vouch at a terminal that has one.", 409)
        vouched = Vouch(terminal.name, signer.fingerprint, signature)
        event = TerminalKeyVouched(name=name, key=fingerprint, vouched=vouched, through=through)
        append_if_valid(head, event, by.signature)


def demand(*, by: Staff) -> None:
    """Require a terminal key's signature with every staff signature from now on. Raises Refused if no terminal could
    sign.
    """
    _permit(by)
    with transaction.atomic():
        through, head = everything_so_far()
        append_if_valid(head, SignaturesDemanded(through=through), by.signature)


def end(terminal: Terminal, reason: str, *, by: str) -> None:
    """End a terminal's key, if it has one: signatures by it are not accepted from then on."""
    if signature_checks.trust().of(terminal.name) is None:
        return
    with transaction.atomic():
        through, head = everything_so_far()
        key = signature_checks.trust().of(terminal.name)
        if key is not None:
            log.append(head, Draft.of(_ended(key, reason, through), by))


def state_of(key: TerminalKey | None) -> str:
    """A key's state as a short text, for lists of terminals."""
    if key is None:
        return "none"
    if key.waits:
        return f"waits for another terminal: {key.fingerprint}"
    return f"root: {key.fingerprint}" if key.is_root else f"vouched for by {key.vouched_by}: {key.fingerprint}"


def advice(terminal: Terminal, key: TerminalKey | None) -> str:
    """What to do about a terminal that cannot sign."""
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
    """Whether a key is the only trusted one, so that no other could vouch for a successor."""
    signers = [signer for signer in keys.keys.values() if signer.is_trusted]
    return key is not None and signers == [key]


def _refuse_challenge(terminal: Terminal, challenge: str) -> None:
    """Raises Refused for a challenge of another device, or one that has expired."""
    try:
        pk, digest, _ = signing.loads(challenge, salt=_CHALLENGE, max_age=_CHALLENGE_SECONDS)
    except (signing.BadSignature, TypeError, ValueError):
        pk, digest = 0, ""
    if (pk, digest) != (terminal.pk, terminal.token_digest[:16]):
        raise Refused("old_form", "This page was open for too long: load it again, and make the key then.", 409)


def _permit(by: Staff) -> None:
    by.require("tables.enrol_terminal", "Only an operator sees to the keys of terminals.")


def everything_so_far() -> tuple[dict[str, int], Head]:
    """The latest entry number of every table's log, and the site log's head under its lock.

    The logs remain share-locked until the commit: a signature at a table waits, and then sees the entry made here.
    """
    rows = fetch_rows("SELECT name, head_seq FROM ledger_book WHERE name <> %s ORDER BY id FOR SHARE", [HOUSE])
    return {name: seq for name, seq in rows if seq}, site_log.lock()


def append_if_valid(head: Head, event: AboutTerminalKey | AboutPasskey, by: str, code: str = "bad_key") -> None:
    """Append an entry about keys once the trust rules accept it, as every proof will. Raises Refused with the code."""
    keys = signature_checks.trust_before(head.seq + 1)
    try:
        keys.follow(event, head.seq + 1)
    except AuditFailure as wrong:
        raise Refused(code, f"This does not hold: {wrong}. Load the page again.", 409) from None
    log.append(head, Draft.of(event, by))
