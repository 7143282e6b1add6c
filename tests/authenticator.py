"""A passkey in software: what a device would answer to a page, and what somebody would who has only half of it."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

ORIGIN = "http://testserver"
PRESENT, VERIFIED, NEW = 0x01, 0x04, 0x40


class Authenticator:
    """One device with one key, the same for the same number."""

    def __init__(self, number: int = 1) -> None:
        self.key = ec.derive_private_key(number + 1_000_000_007, ec.SECP256R1())
        self.id = sha256(f"credential {number}".encode()).digest()
        self.count = 0

    def make(self, options: dict[str, Any], origin: str = ORIGIN, flags: int = PRESENT | VERIFIED) -> str:
        """Its answer to the options of a registration, as the page's script sends it."""
        point = self.key.public_key().public_numbers()
        cose = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")})
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + cose
        data = self._data(options["rp"]["id"], flags | NEW) + attested
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._answer(
            clientDataJSON=self._client_data("webauthn.create", options, origin),
            attestationObject=attestation,
        )

    def get(self, options: dict[str, Any], origin: str = ORIGIN, flags: int = PRESENT | VERIFIED) -> str:
        """Its answer to the options of a sign-in."""
        self.count += 1
        data, client_data = self._data(options["rpId"], flags), self._client_data("webauthn.get", options, origin)
        signature = self.key.sign(data + sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer(clientDataJSON=client_data, authenticatorData=data, signature=signature)

    def _data(self, relying_party: str, flags: int) -> bytes:
        return sha256(relying_party.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client_data(self, kind: str, options: dict[str, Any], origin: str) -> bytes:
        challenge = bytes_to_base64url(base64url_to_bytes(options["challenge"]))
        return json.dumps({"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": False}).encode()

    def _answer(self, **response: bytes) -> str:
        name = bytes_to_base64url(self.id)
        spelled = {key: bytes_to_base64url(value) for key, value in response.items()}
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": spelled})
