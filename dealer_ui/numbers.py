"""Numbers as addresses, headers and forms bring them: whatever stands there, reading it never fails."""

from __future__ import annotations

from typing import Final

MOST: Final = 2**31 - 1
"""No seat, round, table or entry that a page is asked for has a larger number."""


def number(text: str | None) -> int | None:
    """A whole number in plain digits, at most MOST; None for anything else."""
    if not (text and text.isascii() and text.isdecimal()):
        return None
    return MOST if len(text) > len(str(MOST)) else min(int(text), MOST)
