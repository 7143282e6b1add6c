"""What somebody signs on a terminal, as the terminal's own key signs it: one statement for the browser, the floor and
every proof. Pure; docs/attestation.md has vectors.

A PIN is typed, and whoever can write into the database needs none. So the browser of the terminal signs too, by a key
that nobody can read: over what is signed, by whom, on which terminal, for which entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import msgspec

from ledger.proof import p256
from ledger.proof.spelling import canonical

SLIP: Final = "slip-signature/1"
CORRECTION: Final = "correction-signature/1"
DAY: Final = "day-signature/1"
COUNTER: Final = "counter-signature/1"
KEY: Final = "terminal-key/1"
VOUCH: Final = "terminal-vouch/1"
"""What the statements are called: a signature under one can never pass for one under another."""


class PasskeyAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a passkey signs beside the statement's digest."""

    authenticator: str
    client: str


class Attestation(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A signature by a terminal's key, or by a passkey."""

    terminal: str
    """On which terminal it was given, by its name."""
    key: str
    """The fingerprint of the key that signed."""
    signature: str
    passkey: PasskeyAnswer | None = None
    """Where a passkey signed: what it adds. None: the terminal's key signed."""

    def holds(self, public: str, statement: Mapping[str, Any]) -> bool:
        """Whether the owner of a public key signed just this statement."""
        message = canonical(statement)
        if self.passkey is None:
            return p256.is_signed(public, self.signature, message)
        return p256.is_answered(public, self.signature, self.passkey.authenticator, self.passkey.client, message)


def statement(terms: Mapping[str, Any], *, book: str, by: str, terminal: str, key: UUID | None) -> dict[str, Any]:
    """What is signed, whole: the terms of what is signed, and in which book, by whom, where, and by which input."""
    badge = by.partition(" ")[0]
    return {**terms, "badge": badge, "book": book, "input": str(key) if key else "", "terminal": terminal}


def proof_of_key(terminal: str, public: str, challenge: str) -> dict[str, Any]:
    """What a browser signs by a key that it just made: that it has it."""
    return {"format": KEY, "challenge": challenge, "key": public, "terminal": terminal}


def voucher(terminal: str, fingerprint: str, by: str) -> dict[str, Any]:
    """What a terminal signs that vouches for the key of another, or for its own next one."""
    return {"format": VOUCH, "by": by, "key": fingerprint, "terminal": terminal}
