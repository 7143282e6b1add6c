"""The site's policies about cash."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from ledger.proof.chips import BANK, VAULT_CASH
from tables.refusals import Refused
from tables.setup import policies

SHIFT: Final = "shift"
"""Of the values of the terms on counting: at the end of every shift."""
_COUNTED_EACH: Final = {BANK: "cage_cash_counts", VAULT_CASH: "vault_cash_counts"}


def currency() -> str:
    """The ISO 4217 code of the only currency that is taken at tables and at the cage."""
    return str(policies.in_force("currency")).upper()


def imprest_cents() -> int:
    """The cage imprest in cents, to which its cash is topped up; 0 where there is none."""
    return policies.number("imprest_cents")


def close_needs_count() -> bool:
    """Whether a day stays open until its cash was counted, once it ever was."""
    return bool(policies.in_force("close_needs_cash_count"))


def cash_counted_each(place: str, moment: datetime | None = None) -> str:
    """The period of counts of each place with cash: "shift" or "day"."""
    return str(policies.in_force(_COUNTED_EACH[place], moment))


def close_needs_shift_counts() -> bool:
    """Whether a day stays open while a count of one of its shifts is missing."""
    return bool(policies.in_force("close_needs_shift_counts"))


def vault_chips_counted_each() -> str:
    """The period of counts of the vault's chips: "day", "week", "month" or "never"."""
    return str(policies.in_force("vault_chip_counts"))


def key_grace() -> timedelta:
    """The time after the end of a shift for which a key may still be out."""
    return timedelta(minutes=policies.number("key_grace_minutes"))


def drop_grace() -> timedelta:
    """The time after its due hour at which a drop is late."""
    return timedelta(minutes=policies.number("drop_grace_minutes"))


def refuse_foreign(code: str) -> None:
    """Raises Refused for cash of another currency than the site's. An empty ``code`` means the site's own."""
    if code and code.upper() != currency():
        sentence = f"{code.upper()[:12]} is not taken here: this house takes {currency()} only."
        raise Refused("foreign_currency", f"{sentence} Hand it back: a bank changes it.", 422, currency=currency())
