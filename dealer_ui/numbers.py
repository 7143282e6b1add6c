"""Numbers as addresses, headers and forms bring them: whatever stands there, reading it never fails."""

from __future__ import annotations

import re
from typing import Final

from tables.refusals import Refused

MOST: Final = 2**31 - 1
"""No seat, round, table or entry that a page is asked for has a larger number."""


def number(text: str | None) -> int | None:
    """A whole number in plain digits, at most MOST; None for anything else."""
    if not (text and text.isascii() and text.isdecimal()):
        return None
    return MOST if len(text) > len(str(MOST)) else min(int(text), MOST)


MOST_CENTS: Final = 10**14 - 1
"""No amount that is claimed, handed or missed is larger."""

_AMOUNT: Final = re.compile(r"([+-]?)(\d{1,40}|\d{1,3}(?:,\d{3}){1,12})(?:\.(\d{1,2}))?", re.ASCII)


def cents(text: str | None) -> int | None:
    """An amount as people write it: 20, 2.50, 1,000, −16; None for anything else, or beyond what can be meant."""
    amount = _read(text or "")
    return amount if amount is not None and abs(amount) <= MOST_CENTS else None


def amount_cents(typed: str, code: str = "bad_bet") -> int:
    """An amount as it is typed at the table. What is legal there, the game says, however large it is."""
    if not typed.strip():
        raise Refused(code, "Type an amount in digits first, such as 20.", 422)
    amount = _read(typed)
    if amount is None:
        raise Refused(code, f"“{typed.strip()[:20]}” is no amount: type it in digits, such as 20.", 422)
    return amount


def _read(text: str) -> int | None:
    match = _AMOUNT.fullmatch(text.strip().replace("−", "-"))
    if match is None:
        return None
    sign, whole, part = match.groups()
    amount = int(whole.replace(",", "")) * 100 + int((part or "0").ljust(2, "0"))
    return -amount if sign == "-" else amount
