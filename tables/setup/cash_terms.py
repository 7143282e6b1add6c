"""The house's terms about cash: in one place, whoever sets them."""

from __future__ import annotations

from datetime import timedelta

from tables.refusals import Refused

CURRENCY = "USD"
IMPREST_CENTS = 5_000_000
CLOSE_NEEDS_COUNT = True
KEY_GRACE_MINUTES = 30
DROP_GRACE_MINUTES = 30


def currency() -> str:
    """The ISO 4217 code of the only currency that is taken at tables and at the cage."""
    return CURRENCY


def imprest_cents() -> int:
    """What the cage's cash is topped up to."""
    return IMPREST_CENTS


def close_needs_count() -> bool:
    """Whether a day stays open until its cash was counted, once it ever was."""
    return CLOSE_NEEDS_COUNT


def key_grace() -> timedelta:
    """How long after the end of the shift a key may be out."""
    return timedelta(minutes=KEY_GRACE_MINUTES)


def drop_grace() -> timedelta:
    """How long after its hour a drop is not yet late."""
    return timedelta(minutes=DROP_GRACE_MINUTES)


def refuse_foreign(code: str) -> None:
    """Cash of another currency than the house's is taken nowhere. ``code``: empty where nobody said it is another."""
    if code and code.upper() != currency():
        sentence = f"{code.upper()[:12]} is not taken here: this house takes {currency()} only. Hand it back; a bank or"
        raise Refused("foreign_currency", f"{sentence} an exchange office changes it.", 422, currency=currency())
