"""WebAuthn registration and authentication ceremonies, by the `webauthn` library. Bytes are in base64url.

The library takes as long to import as half of Django, and few processes handle a passkey: import this module inside the
function that needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

_KINDS: Final = [COSEAlgorithmIdentifier.ECDSA_SHA_256, COSEAlgorithmIdentifier.RSASSA_PKCS1_v1_5_SHA_256]
"""Signature algorithms offered to the device, in order of preference. Only ES256 keys sign slips: proofs verify no
others.
"""
_BAD: Final = (WebAuthnException, ValueError, KeyError, TypeError)


class BadAnswer(Exception):
    """A device's answer does not verify."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a ceremony as the JSON document for the browser, and the challenge inside it."""

    document: str
    challenge: str


@dataclass(frozen=True, slots=True)
class NewCredential:
    """A verified registration. ``public_key`` is in COSE."""

    credential: str
    public_key: str
    sign_count: int


def registration_options(host: str, *, user_id: bytes, username: str, name: str, credentials: Sequence[str]) -> Options:
    """Options for a new passkey, on a device that has none of the ``credentials``."""
    options = generate_registration_options(
        rp_id=host,
        rp_name="Casino tables",
        user_id=user_id,
        user_name=username,
        user_display_name=name,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
        ),
        exclude_credentials=[PublicKeyCredentialDescriptor(id=base64url_to_bytes(known)) for known in credentials],
        supported_pub_key_algs=_KINDS,
    )
    return Options(options_to_json(options), bytes_to_base64url(options.challenge))


def verified_registration(answer: str, challenge: str, *, host: str, origin: str) -> NewCredential:
    """The credential that a device registered. Raises BadAnswer."""
    try:
        verified = verify_registration_response(
            credential=answer,
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=host,
            expected_origin=origin,
            require_user_verification=True,
        )
    except _BAD as wrong:
        raise BadAnswer from wrong
    credential = bytes_to_base64url(verified.credential_id)
    return NewCredential(credential, bytes_to_base64url(verified.credential_public_key), verified.sign_count)


def sign_in_options(host: str) -> Options:
    """Options for signing in with any passkey of this host."""
    options = generate_authentication_options(rp_id=host, user_verification=UserVerificationRequirement.REQUIRED)
    return Options(options_to_json(options), bytes_to_base64url(options.challenge))


def verified_count(answer: str, challenge: str, public_key: str, *, host: str, origin: str) -> int:
    """The counter of the passkey that signed in; the caller compares it with the last. Raises BadAnswer."""
    try:
        verified = verify_authentication_response(
            credential=answer,
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=host,
            expected_origin=origin,
            credential_public_key=base64url_to_bytes(public_key),
            credential_current_sign_count=0,
            require_user_verification=True,
        )
    except _BAD as wrong:
        raise BadAnswer from wrong
    return verified.new_sign_count
