"""Verification of terminal and passkey signatures before an entry is written, with the keys trusted by the site's log.

No database row decides which key is trusted: the entries about keys are few, and replayed when one is added.
"""

from __future__ import annotations

import base64
import copy
from dataclasses import replace
from functools import lru_cache
from typing import Final, TypeVar
from uuid import UUID

from django.utils import timezone
from msgspec import structs

from ledger.models import LogEntry
from ledger.proof import p256
from ledger.proof.chain import Head
from ledger.site_log import digest_of
from tables.floor.command_context import Decision
from tables.log.attestation import Attestation, PasskeyAnswer
from tables.log.catalog import read
from tables.log.entries.passkeys import AboutPasskey
from tables.log.entries.slips import SlipSigned
from tables.log.entries.terminal_keys import AboutTerminalKey
from tables.log.event import AuditFailure, Event, Unreadable
from tables.log.trusted_keys import NoPasskey, Trust, WrongPasskey
from tables.models import Passkey
from tables.refusals import Refused

E = TypeVar("E", bound=Event)
_LATER: Final = 2**62
SUBJECTS: Final = (AboutTerminalKey.subject, AboutPasskey.subject)
"""The subjects of the entries about signing keys."""


def trust() -> Trust:
    """The keys that are trusted now. Read-only, as the value is cached."""
    return _before(_LATER)


def trust_before(seq: int) -> Trust:
    """The keys trusted before an entry of the site's log. The caller may replay further entries on it."""
    # A copy, because the caller goes on with it: the cached value serves every other thread.
    return copy.deepcopy(_before(seq))


def _before(seq: int) -> Trust:
    entries = LogEntry.objects.of_site().filter(subject__in=SUBJECTS, seq__lt=seq)
    # Only the newest entry is read for each signature; its hash is the key of the cache, also after a restore.
    newest = entries.order_by("-seq").values_list("book_id", "seq", "hash").first()
    if newest is None:
        return Trust()
    book_id, last, digest = newest
    return _folded(book_id, last, bytes(digest))


@lru_cache(maxsize=8)
def _folded(book_id: int, last: int, digest: bytes) -> Trust:
    """The keys trusted after replaying the entries up to ``last``; ``digest``, its hash, makes the cache key unique.

    An invalid entry is ignored here: the verification of the site's log reports it.
    """
    folded = Trust()
    entries = LogEntry.objects.filter(book_id=book_id, subject__in=SUBJECTS, seq__lte=last)
    for seq, subject, kind, body in entries.order_by("seq").values_list("seq", "subject", "kind", "body"):
        try:
            folded.follow(read(subject, kind, body, house=True), seq)
        except (AuditFailure, Unreadable):
            continue
    return folded


def attest(decision: Decision, attested: Attestation | None, head: Head, by: str, key: UUID) -> Decision:
    """Stage `sign`: a decision with the terminal's signature in its first entry. Raises Refused where the signature is
    missing or wrong."""
    step = decision.steps[0]
    # Cards and bets have no signature: they skip the trusted keys, which cost a query under the table's lock.
    if step.event.signed_terms() is None:
        return decision
    event = _signed(step.event, attested, head, by, key)
    return (
        decision if event is step.event else replace(decision, steps=[replace(step, event=event), *decision.steps[1:]])
    )


def signed(event: E, attested: Attestation | None, head: Head, by: str) -> E:
    """An entry with its signature by terminal or passkey, for entries without an idempotency key. Raises Refused.

    Kinds of entries that take no signature are returned unchanged.
    """
    return event if event.signed_terms() is None else _signed(event, attested, head, by, None)


def _signed(event: E, attested: Attestation | None, head: Head, by: str, key: UUID | None) -> E:
    """The entry with the signature that the trusted keys accept. Raises Refused."""
    # Read after the lock was acquired: a key revoked before this entry must not sign it.
    keys = trust()
    event = structs.replace(event, attested=attested) if attested is not None else event
    try:
        keys.refuse(event, book=head.name, seq=head.seq + 1, by=by, key=key, former=False)
    except NoPasskey:
        raise _no_passkey(keys, event) from None
    except WrongPasskey as wrong:
        message = f"That passkey does not sign it: {wrong}. Use your own, which signs slips."
        raise Refused("wrong_passkey", message, 403) from None
    except AuditFailure as wrong:
        raise _refused(keys, attested, wrong) from None
    if attested is not None and attested.passkey is not None:
        _count(keys.passkeys[attested.passkey.credential].username, attested.passkey)
    return event


def public_of(cose: str) -> str:
    """The public key of a passkey in base64, from its COSE key in base64url; empty unless it is a P-256 key."""
    # Imported late: webauthn takes long to load, and every command imports this module.
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    from webauthn.helpers import base64url_to_bytes, decode_credential_public_key, decoded_public_key_to_cryptography
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        key = decoded_public_key_to_cryptography(decode_credential_public_key(base64url_to_bytes(cose)))
        der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return p256.read_public(base64.b64encode(der).decode())
    except (WebAuthnException, ValueError, LookupError, TypeError):
        return ""


def _count(username: str, answer: PasskeyAnswer) -> None:
    """Store the counter of a passkey. Raises Refused where it did not rise, as a copied passkey's would not."""
    # Locked up to the commit: two tables could otherwise accept one counter value, which a copied passkey would send.
    rows = Passkey.objects.select_for_update(of=("self",)).filter(staff__username=username, is_active=True)
    row = next((row for row in rows if digest_of(row.credential) == answer.credential), None)
    if row is None:
        raise Refused("wrong_passkey", "That passkey was withdrawn: use another one that signs slips.", 403)
    count = p256.uses_of(answer.authenticator)
    if (count or row.sign_count) and count <= row.sign_count:
        message = "That passkey counts backwards: somebody may have copied it. Withdraw it, and use another one."
        raise Refused("passkey_copied", message, 403, username=username, passkey=row.name)
    row.sign_count, row.used_at = count, timezone.now()
    row.save(update_fields=["sign_count", "used_at"])


HOW_TO_GET_ONE: Final = (
    "sign in on a terminal, register one under Your account, and let that terminal vouch for it there"
)


def _no_passkey(keys: Trust, event: Event) -> Refused:
    """The refusal of a signature without a passkey. It names no person, because the PIN was not checked yet."""
    # The PIN is verified later, so the answer must not name the holder of the badge.
    username = event.username if isinstance(event, SlipSigned) else ""
    if keys.signs(username):
        message = "This takes your passkey beside badge and PIN: unlock it when the browser asks. Load the page again."
        return Refused("passkey_due", message, 403)
    message = f"This takes a passkey beside badge and PIN, and you have none that signs slips: {HOW_TO_GET_ONE}."
    return Refused("no_passkey", message, 403)


def _refused(keys: Trust, attested: Attestation | None, wrong: AuditFailure) -> Refused:
    """The refusal of a missing or invalid terminal signature, with the remedy."""
    if attested is None:
        says = (
            "This terminal did not sign, and this house takes no signature without its terminal’s own. Load the page"
            " again; if it still says so, this browser has no key: an operator makes one under This terminal."
        )
        return Refused("not_attested", says, 403)
    key = keys.keys.get(attested.key)
    if key is not None and key.waits:
        says = f"No terminal vouches yet for the key of {key.terminal}: an operator does so at another terminal."
        return Refused("key_waits", says, 403)
    says = f"This terminal’s signature does not hold: {wrong}. Look at the form again, then sign once more."
    return Refused("not_attested", says, 403)
