"""Options that are yes or no, as text."""

from __future__ import annotations

from typing import Final

_WORDS: Final = {"yes": True, "true": True, "no": False, "false": False}


def flag(text: str) -> bool | None:
    """What a text says of an option that is yes or no, in either spelling and any case; None for another text."""
    return _WORDS.get(text.strip().lower())
