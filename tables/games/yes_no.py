"""Options that are yes or no, as text."""

from __future__ import annotations

from typing import Final

_WORDS: Final = {"yes": True, "true": True, "no": False, "false": False}


def flag(text: str) -> bool | None:
    """The value of a yes/no option in either spelling and any case; None for any other text."""
    return _WORDS.get(text.strip().lower())
