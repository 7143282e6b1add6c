"""What a terminal signs, by the vectors that verifiers of others go by; and what is no key and no signature."""

import json
from typing import Any

import pytest

from casino.embedded.servers import BASE_DIR
from ledger.proof import p256
from ledger.proof.spelling import canonical
from tables.log import attestation
from tests.software_terminal import SoftwareTerminal

VECTORS: list[dict[str, Any]] = json.loads((BASE_DIR / "docs" / "attestation-vectors.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["statement"]["format"])
def test_vectors_hold(vector: dict[str, Any]) -> None:
    """Harm: a verifier that somebody else wrote by the page calls an honest house a forger."""
    message = canonical(vector["statement"])
    assert message.decode() == vector["message"]
    assert p256.fingerprint(vector["key"]) == vector["fingerprint"]
    assert p256.is_signed(vector["key"], vector["signature"], message)
    assert not p256.is_signed(vector["key"], vector["signature"], message + b" ")
    if passkey := vector.get("passkey"):
        parts = (passkey[name] for name in ("signature", "authenticator", "client"))
        answer = p256.answer_to(passkey["key"], *parts, message)
        assert answer is not None
        assert answer.origin == passkey["origin"]


def test_every_format_has_a_vector() -> None:
    """Harm: a statement that nobody outside can spell."""
    names = ("SLIP", "CASH_COUNT", "CORRECTION", "DAY", "COUNTER", "KEY", "VOUCH", "PASSKEY")
    formats = {getattr(attestation, name) for name in names}
    assert {vector["statement"]["format"] for vector in VECTORS} == formats


RSA = (
    "MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit+Cq"
    "vjWYzvQwECAwEAAQ=="
)


@pytest.mark.parametrize("public", ["", "AA==", "no base64!", RSA, "A" * 3_000, SoftwareTerminal("x").public[:-4]])
def test_what_is_no_key_is_refused(public: str) -> None:
    """Harm: a key that no proof can read is entered, and each later proof stops at it."""
    with pytest.raises(p256.BadKey):
        p256.read_public(public)
    assert not p256.is_signed(public, "AA==", b"")


@pytest.mark.parametrize("signature", ["", "AA==", "no base64!", "A" * 88, "A" * 3_000, "é"])
def test_what_is_no_signature_signs_nothing(signature: str) -> None:
    """Harm: a proof that fails at what a forger wrote, and says nothing of it."""
    assert not p256.is_signed(SoftwareTerminal("x").public, signature, b"")
    assert p256.answer_to(SoftwareTerminal("x").public, signature, signature, signature, b"") is None


def test_a_fingerprint_is_read_as_people_copy_it() -> None:
    """Harm: an auditor types what stands on paper, and is told that it is none."""
    fingerprint = SoftwareTerminal("x").fingerprint
    spaced = " ".join(fingerprint[place : place + 4] for place in range(0, 32, 4)).upper()
    assert p256.read_fingerprint(f" {spaced} ") == fingerprint
    for wrong in ("", "1234", fingerprint + "0", "g" * 32):
        with pytest.raises(p256.BadKey, match="32 hexadecimal digits"):
            p256.read_fingerprint(wrong)
