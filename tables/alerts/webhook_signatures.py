"""Signatures of webhooks: how they are made, and how a receiver checks them. Pure: reads no data."""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final

TIMESTAMP: Final = "Casino-Timestamp"
"""Header with the time of signing, in seconds since 1970."""
DELIVERY: Final = "Casino-Delivery"
"""Header with the key of the delivery, equal at every attempt: a receiver recognises repeats by it."""
SIGNATURE: Final = "Casino-Signature"
"""Header with one signature or, while a secret is changed, two with a comma between them: by the new and the old
secret."""
WEBHOOK_ID: Final = "webhook-id"
"""Header of Standard Webhooks (standardwebhooks.com) with the key of the delivery."""
WEBHOOK_TIME: Final = "webhook-timestamp"
"""Header of Standard Webhooks with the time of signing, in seconds since 1970."""
WEBHOOK_SIGNATURE: Final = "webhook-signature"
"""Header of Standard Webhooks with one signature or, while a secret is changed, two with a space between them."""
WINDOW_SECONDS: Final = 300
"""Maximum age of a signature in seconds, so that a recorded request soon becomes worthless."""
VERSION: Final = "v1"


def signature(secret: str, timestamp: int, delivery: str, body: bytes) -> str:
    """A signature as its header has it: HMAC-SHA256 over time, delivery and body."""
    signed = f"{timestamp}.{delivery}.".encode() + body
    return f"{VERSION}={hmac.new(secret.encode(), signed, sha256).hexdigest()}"


def standard_signature(secret: str, timestamp: int, delivery: str, body: bytes) -> str:
    """A signature as Standard Webhooks has it: HMAC-SHA256 over delivery, time and body, by the bytes of the secret."""
    signed = f"{delivery}.{timestamp}.".encode() + body
    return f"{VERSION},{b64encode(hmac.digest(secret.encode(), signed, 'sha256')).decode()}"


def headers(secrets: Sequence[str], timestamp: int, delivery: str, body: bytes) -> dict[str, str]:
    """Headers of a request signed with each of these secrets: our own, and those of Standard Webhooks."""
    return {
        TIMESTAMP: str(timestamp),
        DELIVERY: delivery,
        SIGNATURE: ", ".join(signature(secret, timestamp, delivery, body) for secret in secrets),
        WEBHOOK_ID: delivery,
        WEBHOOK_TIME: str(timestamp),
        WEBHOOK_SIGNATURE: " ".join(standard_signature(secret, timestamp, delivery, body) for secret in secrets),
    }


def is_ours(secret: str, received: Mapping[str, str], body: bytes, moment: float) -> bool:
    """The check of a receiver: one of the signatures is right and recent.

    It succeeds with the old or the new secret while the secret is changed.
    """
    try:
        timestamp = int(received[TIMESTAMP])
        right = signature(secret, timestamp, received[DELIVERY], body)
        signatures = [text.strip() for text in received[SIGNATURE].split(",")]
    except (KeyError, ValueError):
        return False
    is_right = any(hmac.compare_digest(right.encode(), text.encode()) for text in signatures)
    return is_right and abs(moment - timestamp) <= WINDOW_SECONDS
