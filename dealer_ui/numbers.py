"""Numbers in addresses, headers and search forms, read without an error: invalid text is None."""

from __future__ import annotations

from typing import Final

from tables.form_fields import parse_cents

MOST: Final = 2**31 - 1
"""No seat, round, table or entry that a page is asked for has a larger number."""


def number(text: str | None) -> int | None:
    """A whole number in plain digits, at most MOST; None for anything else."""
    if not (text and text.isascii() and text.isdecimal()):
        return None
    return MOST if len(text) > len(str(MOST)) else min(int(text), MOST)


MOST_CENTS: Final = 10**14 - 1
"""No amount that is claimed, handed or missed is larger."""


def cents(text: str | None) -> int | None:
    """An amount as people write it, such as 20, 2.50 or −16; None for any other text and beyond MOST_CENTS."""
    amount = parse_cents(text or "")
    return amount if amount is not None and abs(amount) <= MOST_CENTS else None
