"""ECDSA on P-256 with SHA-256, as browsers and passkeys sign: public keys, signatures, and the data that a passkey
signs. Pure.

The browser keeps the private key non-extractable (WebCrypto): no script can read it, not even the page that uses it.
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
"""The length in bytes of each of the two numbers of a signature."""
LONGEST: Final = 2_000
"""A length in characters that no part of a signature or key reaches."""
DIGITS: Final = 32
"""Hexadecimal digits of a fingerprint: 128 bits, short enough to compare and to keep on paper."""
USER_PRESENT: Final = 1
USER_VERIFIED: Final = 4
"""Flags of a passkey's answer: its user was present, and was verified by the passkey."""


class BadKey(ValueError):
    """An invalid public key for this curve."""


def fingerprint(public: str) -> str:
    """The short name of a public key, in entries and on paper. Raises BadKey."""
    return sha256(_key_bytes(public)).hexdigest()[:DIGITS]


def read_fingerprint(text: str) -> str:
    """A fingerprint as typed, with any separators between its digits. Raises BadKey."""
    digits = "".join(character for character in text.lower() if character not in " :-\t")
    if len(digits) != DIGITS or not set(digits) <= set("0123456789abcdef"):
        raise BadKey(f"{text[:80]!r} is no fingerprint: it has {DIGITS} hexadecimal digits.")
    return digits


def is_signed(public: str, signature: str, message: bytes) -> bool:
    """Whether this key signed exactly this message; ``signature`` is the two numbers concatenated, in base64."""
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
    """The data in a passkey's signature apart from the challenge."""

    origin: str
    """The origin of the requesting page, as the browser names it."""
    site: bytes
    """The SHA-256 of the relying party id of the passkey."""
    uses: int
    """The passkey's use counter; 0 if it has none."""

    @property
    def is_of_its_site(self) -> bool:
        """Whether the host of the requesting page is exactly the passkey's relying party id."""
        return self.site == sha256((urlsplit(self.origin).hostname or "").encode()).digest()


def answer_to(public: str, signature: str, authenticator: str, client: str, message: bytes) -> PasskeyAnswer | None:
    """The verified answer of a passkey to a challenge, the SHA-256 of ``message``; None if anything is invalid.

    It requires the flags for user presence and verification. ``client`` is the browser's client data, ``authenticator``
    the passkey's authenticator data, both in base64; ``signature`` is in DER. The caller must check that the origin is
    the site's.
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
        # The challenge binds the answer to this message: an answer to any other request is rejected.
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
    """The use counter in the authenticator data of a verified signature."""
    return int.from_bytes(_bytes(authenticator)[33:37])


def _read(public: str) -> EllipticCurvePublicKey:
    try:
        key = load_der_public_key(_key_bytes(public))
    except (ValueError, UnsupportedAlgorithm):
        raise BadKey("it is no public key") from None
    # A key of another curve or type would be verified by other rules than those documented.
    if not isinstance(key, EllipticCurvePublicKey) or not isinstance(key.curve, SECP256R1):
        raise BadKey("its key is not one for P-256")
    return key


def read_public(public: str) -> str:
    """A public key in the format of entries: SubjectPublicKeyInfo in DER, in base64. Raises BadKey otherwise."""
    _read(public)
    return public


def _key_bytes(public: str) -> bytes:
    try:
        return _bytes(public)
    except ValueError:
        raise BadKey("its key is not spelled in base64") from None


def _bytes(text: str) -> bytes:
    """The bytes of canonical base64. Raises ValueError."""
    if len(text) > LONGEST:
        raise ValueError("too long")
    try:
        spelled = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    # Entries store these texts: one encoding per key and signature keeps their hashes comparable.
    if base64.b64encode(spelled).decode() != text:
        raise ValueError("not its one spelling")
    return spelled


def _padded(text: str) -> bytes:
    """The bytes of URL-safe base64 without padding, as browsers send it. Raises ValueError."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
