"""How a webhook is signed, and how whoever receives it can tell that it is ours and new. Pure; nothing is read here."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final

TIMESTAMP: Final = "Casino-Timestamp"
"""Seconds since 1970, as digits: when the request was signed."""
DELIVERY: Final = "Casino-Delivery"
"""The same at every attempt: by it a receiver knows what it had before."""
SIGNATURE: Final = "Casino-Signature"
"""One signature, or two with a comma between them while a secret is changed: by the new one, and by the one before."""
WINDOW_SECONDS: Final = 300
"""A receiver takes nothing that was signed longer ago, so a request that somebody recorded is soon worth nothing."""
VERSION: Final = "v1"


def signature(secret: str, timestamp: int, delivery: str, body: bytes) -> str:
    """What the signature's header has for a secret: HMAC-SHA256 over the time, the delivery and the body."""
    signed = f"{timestamp}.{delivery}.".encode() + body
    return f"{VERSION}={hmac.new(secret.encode(), signed, sha256).hexdigest()}"


def headers(secrets: Sequence[str], timestamp: int, delivery: str, body: bytes) -> dict[str, str]:
    """The headers of a request that is signed with each of these secrets."""
    return {
        TIMESTAMP: str(timestamp),
        DELIVERY: delivery,
        SIGNATURE: ", ".join(signature(secret, timestamp, delivery, body) for secret in secrets),
    }


def is_ours(secret: str, received: Mapping[str, str], body: bytes, moment: float) -> bool:
    """What a receiver does: one of the signatures is right, and not from another time. It does so whether it has the
    secret of before or the new one already."""
    try:
        timestamp = int(received[TIMESTAMP])
        right = signature(secret, timestamp, received[DELIVERY], body)
        signatures = [text.strip() for text in received[SIGNATURE].split(",")]
    except (KeyError, ValueError):
        return False
    is_right = any(hmac.compare_digest(right.encode(), text.encode()) for text in signatures)
    return is_right and abs(moment - timestamp) <= WINDOW_SECONDS
