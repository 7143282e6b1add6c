"""Statements that a terminal's key or a person's passkey signs, in one form for the browser, the floor and every
verifier. Pure; docs/attestation.md has test vectors.

A PIN proves nothing against an attacker who can write to the database. So the browser of the terminal also signs, with
a key that cannot be exported, with the signer's passkey, or with both. The statement names the terms, the signer, the
terminal and the entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import msgspec

from ledger.proof import p256
from ledger.proof.spelling import canonical

SLIP: Final = "slip-signature/1"
CASH_COUNT: Final = "slip-signature/2"
"""The format of a signed cash count that lists banknotes set aside as questioned."""
CORRECTION: Final = "correction-signature/1"
DAY: Final = "day-signature/1"
COUNTER: Final = "counter-signature/1"
KEY: Final = "terminal-key/1"
VOUCH: Final = "terminal-vouch/1"
PASSKEY: Final = "passkey-vouch/1"
"""The formats of statements. Each is part of the signed bytes, so a signature of one format never verifies as
another."""


class PasskeyAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The signature of a passkey over the SHA-256 of a statement."""

    credential: str
    """The SHA-256 of the credential id."""
    authenticator: str
    client: str
    signature: str

    def answer_to(self, public: str, statement: Mapping[str, Any]) -> p256.PasskeyAnswer | None:
        """The verified answer; None unless the passkey signed exactly this statement."""
        return p256.answer_to(public, self.signature, self.authenticator, self.client, canonical(statement))


class Attestation(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The signatures given in addition to badge and PIN: by the terminal's key, by a passkey, or by both, over one
    statement."""

    terminal: str
    """The name of the terminal on which it was given."""
    key: str = ""
    """The fingerprint of the terminal's key; empty if the terminal did not sign."""
    signature: str = ""
    passkey: PasskeyAnswer | None = None

    @property
    def is_by_terminal(self) -> bool:
        """Whether the attestation claims a signature by the terminal's key."""
        return bool(self.key or self.signature)

    def holds(self, public: str, statement: Mapping[str, Any]) -> bool:
        """Whether the terminal key with this public key signed exactly this statement."""
        return p256.is_signed(public, self.signature, canonical(statement))


def statement(terms: Mapping[str, Any], *, book: str, by: str, terminal: str, key: UUID | None) -> dict[str, Any]:
    """The complete statement to sign: the terms, with the log, the signer's badge, the terminal and the idempotency key
    of the input."""
    badge = by.partition(" ")[0]
    return {**terms, "badge": badge, "book": book, "input": str(key) if key else "", "terminal": terminal}


def proof_of_key(terminal: str, public: str, challenge: str) -> dict[str, Any]:
    """The statement by which a browser proves possession of a new key."""
    return {"format": KEY, "challenge": challenge, "key": public, "terminal": terminal}


def voucher(terminal: str, fingerprint: str, by: str) -> dict[str, Any]:
    """The statement by which a terminal vouches for the key of another terminal, or for its own next key."""
    return {"format": VOUCH, "by": by, "key": fingerprint, "terminal": terminal}


def passkey_voucher(username: str, credential: str, public: str, origin: str, *, by: str) -> dict[str, Any]:
    """The statement that a terminal and a passkey both sign before the passkey may sign slips: its owner, its key and
    the origin where it is used."""
    return {
        "format": PASSKEY,
        "by": by,
        "credential": credential,
        "key": public,
        "origin": origin,
        "username": username,
    }
