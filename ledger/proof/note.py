"""Signed notes of C2SP (c2sp.org/signed-note, c2sp.org/tlog-cosignature): a text, and lines of Ed25519 signatures.

Pure. Notes come from untrusted sources: their content counts only after the signature of a known key is verified.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ED25519: Final = 0x01
COSIGNATURE: Final = 0x04
"""A witness's signature that includes its time (cosignature/v1 of c2sp.org/tlog-cosignature)."""
TYPES: Final = (ED25519, COSIGNATURE)
MOST_SIGNATURES: Final = 64
_DASH: Final = "\u2014 "


class BadNote(ValueError):
    """An invalid note, key or signature; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key with its name and type: `name+id+base64`."""

    name: str
    type: int
    public: bytes

    def __post_init__(self) -> None:
        if not self.name or "+" in self.name or any(letter.isspace() for letter in self.name):
            raise BadNote(f"{self.name[:80]!r} is no name of a key: it has letters, and neither spaces nor a plus.")
        if self.type not in TYPES or len(self.public) != 32:
            raise BadNote(f"The key of {self.name} is not one for Ed25519, of type 1 or 4.")

    @property
    def id(self) -> bytes:
        """Four bytes that distinguish keys of one name."""
        return sha256(self.name.encode() + b"\n" + bytes([self.type]) + self.public).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{encoded(bytes([self.type]) + self.public)}"

    @classmethod
    def parse(cls, text: str) -> VerifierKey:
        """A key from its text form. Raises BadNote."""
        name, _, remainder = text.strip().partition("+")
        digits, _, material = remainder.partition("+")
        raw = decoded(material)
        key = cls(name, raw[0] if raw else 0, raw[1:])
        if key.id.hex() != digits:
            raise BadNote(f"{text[:80]!r} is no verifier key: its id is not the one of its name and key.")
        return key

    @classmethod
    def of(cls, name: str, type: int, key: Ed25519PrivateKey) -> VerifierKey:
        return cls(name, type, key.public_key().public_bytes_raw())


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """One signature line of a note."""

    name: str
    key_id: bytes
    content: bytes

    @property
    def line(self) -> str:
        return f"{_DASH}{self.name} {encoded(self.key_id + self.content)}\n"

    def is_by(self, key: VerifierKey) -> bool:
        return (self.name, self.key_id) == (key.name, key.id)


@dataclass(frozen=True, slots=True)
class Note:
    """A text and its signatures."""

    text: str
    signatures: tuple[NoteSignature, ...]

    def __str__(self) -> str:
        return self.text + "\n" + "".join(signature.line for signature in self.signatures)

    @classmethod
    def parse(cls, content: str) -> Note:
        """A note from its text form. Raises BadNote."""
        # Control characters could make a note look different on a screen from the signed bytes.
        if any(letter < " " and letter != "\n" for letter in content):
            raise BadNote("A signed note has no control characters but line feeds.")
        text, gap, lines = content.rpartition("\n\n")
        if not gap or not lines.endswith("\n"):
            raise BadNote("A signed note is a text, an empty line, and lines of signatures.")
        return cls(text + "\n", read_signatures(lines))

    def signers(self, keys: Sequence[VerifierKey]) -> Mapping[VerifierKey, int]:
        """The given keys that signed it, each with the POSIX time of its cosignature; 0 for a plain signature.

        Raises BadNote if a signature under the name and id of one of these keys is invalid, as the specification
        requires.
        """
        times: dict[VerifierKey, int] = {}
        for signature in self.signatures:
            for key in keys:
                # An invalid signature under a known key is an error, not an unknown signer: it may be an attempted
                # forgery.
                if signature.is_by(key):
                    times[key] = time_of(signature, key, self.text)
        return times


def read_signatures(lines: str) -> tuple[NoteSignature, ...]:
    """Signature lines without a text, as a witness returns them. Raises BadNote."""
    rows = lines.split("\n")
    if rows.pop() or not rows or len(rows) > MOST_SIGNATURES:
        raise BadNote(f"There are 1 to {MOST_SIGNATURES} lines of signatures, each with its line feed.")
    return tuple(_signature(row) for row in rows)


def _signature(row: str) -> NoteSignature:
    name, _, blob = row.removeprefix(_DASH).partition(" ")
    raw = decoded(blob)
    if not row.startswith(_DASH) or not name or "+" in name or name.split() != [name] or len(raw) < 5:
        raise BadNote(f"{row[:80]!r} is no line of a signature.")
    return NoteSignature(name, raw[:4], raw[4:])


# --- Signing and verifying --------------------------------------------------------------------------------------


def sign(key: Ed25519PrivateKey, name: str, text: str) -> NoteSignature:
    """A log's own signature of a text."""
    return NoteSignature(name, VerifierKey.of(name, ED25519, key).id, key.sign(text.encode()))


def cosign(key: Ed25519PrivateKey, name: str, text: str, seconds: int) -> NoteSignature:
    """A witness's cosignature, with the POSIX time at which it vouches for the checkpoint."""
    content = seconds.to_bytes(8, "big") + key.sign(_cosigned(text, seconds))
    return NoteSignature(name, VerifierKey.of(name, COSIGNATURE, key).id, content)


def time_of(signature: NoteSignature, key: VerifierKey, text: str) -> int:
    """The POSIX time of a cosignature; 0 for a plain signature. Raises BadNote if the key did not make it."""
    seconds, content, message = 0, signature.content, text.encode()
    if key.type == COSIGNATURE:
        seconds, content = int.from_bytes(content[:8], "big"), content[8:]
        message = _cosigned(text, seconds)
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(content, message)
    except (InvalidSignature, ValueError):
        raise BadNote(f"The signature of {key.name} is not by its key.") from None
    # Such a value does not fit a signed 64-bit time.
    if seconds >= 1 << 63:
        raise BadNote(f"The signature of {key.name} is of no time.")
    return seconds


def _cosigned(text: str, seconds: int) -> bytes:
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()


# --- Base 64 ----------------------------------------------------------------------------------------------------


def encoded(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def decoded(text: str) -> bytes:
    """The bytes of canonical standard base64. Raises BadNote."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raw = None
    # Base64 permits several encodings of equal bytes; accepting one prevents two texts for one signature.
    if raw is None or encoded(raw) != text:
        raise BadNote(f"{text[:80]!r} is not base 64.")
    return raw
