"""A passkey in software: what a device would answer to a page, and what somebody would who has only half of it."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

from ledger.proof.spelling import canonical
from ledger.site_log import digest_of
from tables.log.attestation import PasskeyAnswer

ORIGIN = "http://testserver"
PRESENT, VERIFIED, NEW = 0x01, 0x04, 0x40


class Authenticator:
    """One device with one key, the same for the same number."""

    def __init__(self, number: int = 1) -> None:
        self.key = ec.derive_private_key(number + 1_000_000_007, ec.SECP256R1())
        self.id = sha256(f"credential {number}".encode()).digest()
        self.count = 0

    @property
    def public_key(self) -> bytes:
        """COSE."""
        point = self.key.public_key().public_numbers()
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")})

    def make(self, options: dict[str, Any], origin: str = ORIGIN, flags: int = PRESENT | VERIFIED) -> str:
        """Its answer to the options of a registration, as the page's script sends it."""
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + self.public_key
        data = self._data(options["rp"]["id"], flags | NEW) + attested
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._answer(
            clientDataJSON=self._client_data("webauthn.create", options, origin),
            attestationObject=attestation,
        )

    def get(
        self,
        options: dict[str, Any],
        origin: str = ORIGIN,
        flags: int = PRESENT | VERIFIED,
        *,
        kind: str = "webauthn.get",
        crosses: bool = False,
    ) -> str:
        """Its answer to the options of a sign-in."""
        self.count += 1
        data, client_data = (
            self._data(options["rpId"], flags),
            self._client_data(kind, options, origin, crosses=crosses),
        )
        algorithm = ec.ECDSA(
            hashes.SHA256(), deterministic_signing=True
        )  # a house that is kept is the same in every run
        signature = self.key.sign(data + sha256(client_data).digest(), algorithm)
        return self._answer(clientDataJSON=client_data, authenticatorData=data, signature=signature)

    def signs(self, statement: Any, origin: str = ORIGIN, site: str = "", **response_options: Any) -> PasskeyAnswer:
        """What the script of a page makes of its answer to the digest of a statement."""
        options = {"challenge": bytes_to_base64url(sha256(canonical(statement)).digest())}
        options |= {"rpId": site or urlsplit(origin).hostname or ""}
        response = json.loads(self.get(options, origin, **response_options))["response"]
        parts = (response[name] for name in ("authenticatorData", "clientDataJSON", "signature"))
        spelled = [base64.b64encode(base64url_to_bytes(part)).decode() for part in parts]
        return PasskeyAnswer(digest_of(bytes_to_base64url(self.id)), *spelled)

    def _data(self, relying_party: str, flags: int) -> bytes:
        return sha256(relying_party.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client_data(self, kind: str, options: dict[str, Any], origin: str, *, crosses: bool = False) -> bytes:
        challenge = bytes_to_base64url(base64url_to_bytes(options["challenge"]))
        return json.dumps({"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": crosses}).encode()

    def _answer(self, **response: bytes) -> str:
        name = bytes_to_base64url(self.id)
        spelled = {key: bytes_to_base64url(value) for key, value in response.items()}
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": spelled})
