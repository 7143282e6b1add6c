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


_CORRECTION: Final = re.compile(r"([+\-−]?)(\d{1,12})(?:\.(\d{1,2}))?", re.ASCII)


def cents(text: str | None) -> int | None:
    """An amount as people write it, in cents: 20, 2.50, 1,000, −16; None for anything else."""
    match = _CORRECTION.fullmatch((text or "").strip().replace(",", ""))
    if match is None:
        return None
    sign, whole, part = match.groups()
    amount = int(whole) * 100 + int((part or "0").ljust(2, "0"))
    return amount if sign in ("", "+") else -amount


_AMOUNT: Final = re.compile(r"-?(\d{1,40}|\d{1,3}(,\d{3}){1,12})(\.\d{1,2})?", re.ASCII)


def amount_cents(typed: str, code: str = "bad_bet") -> int:
    """An amount as it is typed at the table, such as 20, 12.50 or 1,000. What is legal there, the game says."""
    text = typed.strip().replace("−", "-")
    if not text:
        raise Refused(code, "Type an amount in digits first, such as 20.", 422)
    if not _AMOUNT.fullmatch(text):
        raise Refused(code, f"“{typed.strip()[:20]}” is no amount: type it in digits, such as 20.", 422)
    whole, _, part = text.lstrip("-").replace(",", "").partition(".")
    amount = int(whole) * 100 + int(part.ljust(2, "0") or 0)
    return -amount if text.startswith("-") else amount
