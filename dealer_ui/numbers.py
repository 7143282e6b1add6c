"""Numbers in addresses, headers and search forms, read without an error: invalid text is None."""

from __future__ import annotations

from typing import Final

from tables.form_fields import parse_cents, parse_whole

number = parse_whole

MOST_CENTS: Final = 10**14 - 1
"""No amount that is claimed, handed or missed is larger."""


def cents(text: str | None) -> int | None:
    """An amount as people write it, such as 20, 2.50 or −16; None for any other text and beyond MOST_CENTS."""
    amount = parse_cents(text or "")
    return amount if amount is not None and abs(amount) <= MOST_CENTS else None
