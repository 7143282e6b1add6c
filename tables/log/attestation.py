"""What somebody signs on a terminal, as the terminal's own key signs it: one statement for the browser, the floor and
every proof. Pure; docs/attestation.md has vectors.

A PIN is typed, and whoever can write into the database needs none. So the browser of the terminal signs too, by a key
that nobody can read, or a passkey of whoever signs does, or both: over what is signed, by whom, on which terminal, for
which entry.
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
"""The same with the notes that a count of cash puts apart."""
CORRECTION: Final = "correction-signature/1"
DAY: Final = "day-signature/1"
COUNTER: Final = "counter-signature/1"
KEY: Final = "terminal-key/1"
VOUCH: Final = "terminal-vouch/1"
PASSKEY: Final = "passkey-vouch/1"
"""What the statements are called: a signature under one can never pass for one under another."""


class PasskeyAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a passkey signed: a challenge that is the digest of the statement."""

    credential: str
    """The SHA-256 of its id."""
    authenticator: str
    client: str
    signature: str

    def answer_to(self, public: str, statement: Mapping[str, Any]) -> p256.PasskeyAnswer | None:
        """What it signed, where that is just this statement."""
        return p256.answer_to(public, self.signature, self.authenticator, self.client, canonical(statement))


class Attestation(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is signed beside badge and PIN: by the terminal's key, by a passkey, or by both, under one statement."""

    terminal: str
    """On which terminal it was given, by its name."""
    key: str = ""
    """The fingerprint of the terminal's key; empty where it did not sign."""
    signature: str = ""
    passkey: PasskeyAnswer | None = None

    @property
    def is_by_terminal(self) -> bool:
        """Whether it says that the terminal's key signed."""
        return bool(self.key or self.signature)

    def holds(self, public: str, statement: Mapping[str, Any]) -> bool:
        """Whether the terminal's key, with this public one, signed just this statement."""
        return p256.is_signed(public, self.signature, canonical(statement))


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


def passkey_voucher(username: str, credential: str, public: str, origin: str, *, by: str) -> dict[str, Any]:
    """What a terminal and a passkey both sign, so that the passkey signs slips: whose it is, its key, and on which
    pages of the house it is used."""
    return {
        "format": PASSKEY,
        "by": by,
        "credential": credential,
        "key": public,
        "origin": origin,
        "username": username,
    }
