"""ECDSA on P-256 with SHA-256, as browsers and passkeys sign: public keys, signatures, and what a passkey signs. Pure.

A browser makes such a key so that nobody can read it, the page that uses it least of all (WebCrypto, not extractable).
"""

from __future__ import annotations

import base64
import binascii
import json
from hashlib import sha256
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key

HALF: Final = 32
"""Bytes of each of the two numbers that a signature is."""
LONGEST: Final = 2_000
"""More characters than any part of a signature or key has."""
DIGITS: Final = 32
"""Hexadecimal digits of a fingerprint: 128 bits, short enough to be compared and kept on paper."""
USER_PRESENT: Final = 1
USER_VERIFIED: Final = 4
"""What a passkey says of whoever used it: somebody touched it, and proved who they are to it."""


class BadKey(ValueError):
    """No public key of this curve."""


def fingerprint(public: str) -> str:
    """By this a public key is named, in entries and on paper. Raises BadKey."""
    return sha256(_key_bytes(public)).hexdigest()[:DIGITS]


def read_fingerprint(text: str) -> str:
    """A fingerprint as somebody copied it, with whatever stands between its digits. Raises BadKey."""
    digits = "".join(character for character in text.lower() if character not in " :-\t")
    if len(digits) != DIGITS or not set(digits) <= set("0123456789abcdef"):
        raise BadKey(f"{text[:80]!r} is no fingerprint: it has {DIGITS} hexadecimal digits.")
    return digits


def is_signed(public: str, signature: str, message: bytes) -> bool:
    """Whether this key signed just this; ``signature`` is the two numbers one after the other, in base64."""
    try:
        pair = _bytes(signature)
        if len(pair) != 2 * HALF:
            return False
        halves = int.from_bytes(pair[:HALF]), int.from_bytes(pair[HALF:])
        _read(public).verify(encode_dss_signature(*halves), message, ECDSA(SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True


class PasskeyAnswer(NamedTuple):
    """What a passkey's signature holds beside what it was asked."""

    origin: str
    """The page that asked, as the browser names it."""
    site: bytes
    """The SHA-256 of the name that the passkey belongs to."""
    uses: int
    """How often it was used; 0 where it does not count."""

    @property
    def is_of_its_site(self) -> bool:
        """Whether the page that asked is of the very name that the passkey belongs to."""
        return self.site == sha256((urlsplit(self.origin).hostname or "").encode()).digest()


def answer_to(public: str, signature: str, authenticator: str, client: str, message: bytes) -> PasskeyAnswer | None:
    """What a passkey signed, where it signed this: its challenge is the digest of the message, and its owner was there
    and proved who they are. None for anything else.

    ``client`` is what the browser says that it asked, ``authenticator`` what the passkey says of itself, each as the
    browser gave it, in base64; ``signature`` is in DER. Whether the page was the house's, the caller knows.
    """
    try:
        client_bytes, authenticator_bytes = _bytes(client), _bytes(authenticator)
        client_data = json.loads(client_bytes)
        if (
            not isinstance(client_data, dict)
            or client_data.get("type") != "webauthn.get"
            or client_data.get("crossOrigin")
        ):
            return None
        if _padded(str(client_data.get("challenge"))) != sha256(message).digest():
            return None
        # The 32 bytes that name the site, a byte of flags, and a count in four.
        flags, uses = authenticator_bytes[32], int.from_bytes(authenticator_bytes[33:37])
        if len(authenticator_bytes) < 37 or not (flags & USER_PRESENT and flags & USER_VERIFIED):
            return None
        whole = authenticator_bytes + sha256(client_bytes).digest()
        _read(public).verify(_bytes(signature), whole, ECDSA(SHA256()))
        answer = PasskeyAnswer(str(client_data.get("origin")), authenticator_bytes[:32], uses)
        return answer if answer.is_of_its_site else None
    except (InvalidSignature, ValueError, IndexError, RecursionError):
        return None


def uses_of(authenticator: str) -> int:
    """How often a passkey was used, as it says of itself in a signature that holds."""
    return int.from_bytes(_bytes(authenticator)[33:37])


def _read(public: str) -> EllipticCurvePublicKey:
    try:
        key = load_der_public_key(_key_bytes(public))
    except (ValueError, UnsupportedAlgorithm):
        raise BadKey("it is no public key") from None
    if not isinstance(key, EllipticCurvePublicKey) or not isinstance(key.curve, SECP256R1):
        raise BadKey("its key is not one for P-256")
    return key


def read_public(public: str) -> str:
    """A public key as entries keep it: SubjectPublicKeyInfo in DER, in base64. Raises BadKey for anything else."""
    _read(public)
    return public


def _key_bytes(public: str) -> bytes:
    try:
        return _bytes(public)
    except ValueError:
        raise BadKey("its key is not spelled in base64") from None


def _bytes(text: str) -> bytes:
    """What base64 spells, in its one spelling. Raises ValueError."""
    if len(text) > LONGEST:
        raise ValueError("too long")
    try:
        spelled = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    if base64.b64encode(spelled).decode() != text:
        raise ValueError("not its one spelling")
    return spelled


def _padded(text: str) -> bytes:
    """What base64 for addresses spells, as browsers leave it, without padding. Raises ValueError."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
